# ./dev test and ./dev e2e.

peers_pid=

# Starts building the peers beside the C++ build; wait_for_peers joins.
start_peers() {
  if peers_ready; then return; fi
  say "Building test peers in the background (log: build/peers.log)"
  mkdir -p build
  # A group of its own, so that all of it can be ended; out of Ctrl-C's reach, so the trap does it.
  DENSELET_CACHE=$cache_dir setsid nice -n 10 bash -c 'set -euo pipefail; . scripts/common.sh; . scripts/peers.sh; ensure_peers' \
    >build/peers.log 2>&1 </dev/null &
  peers_pid=$!
  trap stop_peers EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

stop_peers() {
  [ -n "$peers_pid" ] || return 0
  kill -- -"$peers_pid" 2>/dev/null || true
  rm -rf "$(peers_dir)".part.*
}

# Fails when they could not be built.
wait_for_peers() {
  [ -n "$peers_pid" ] || return 0
  local begun=$SECONDS
  while kill -0 "$peers_pid" 2>/dev/null; do
    printf '    waiting for the test peers (%ds): %s\n' "$((SECONDS - begun))" "$(tail -1 build/peers.log)"
    timeout 30 tail --pid="$peers_pid" -f /dev/null || true
  done
  local status=0
  wait "$peers_pid" || status=1
  peers_pid=
  trap - EXIT INT TERM
  [ "$status" = 0 ] || tail -20 build/peers.log >&2
  return "$status"
}

# Runs layer e2e, or says why this machine cannot.
run_e2e() {
  local why
  if why=$(go_unusable); then
    report_layer "e2e (release)" "not run" "the test peers cannot be built: Go $why"
    return 0
  fi
  if ! wait_for_peers || ! (ensure_peers && ensure_older_runtime); then
    tests_failed=$((tests_failed + 1))
    report_layer "e2e (release)" FAILED "the test peers could not be had (build/peers.log)"
    return 1
  fi
  DENSELET_PEERS=$(peers_dir) run_layer release e2e
}

test_everything() {
  local begun=$SECONDS status=0 layer builds=0
  ensure_packages
  go_unusable >/dev/null || start_peers
  build_preset release
  builds=$((SECONDS - begun))
  for layer in tidy unit sim integration; do run_layer release "$layer" || status=1; done
  begun=$SECONDS
  build_preset asan
  builds=$((builds + SECONDS - begun))
  for layer in unit sim integration fuzz; do run_layer asan "$layer" || status=1; done
  begun=$SECONDS
  local peers_built=yes
  wait_for_peers || peers_built=
  builds=$((builds + SECONDS - begun))
  if [ -n "$peers_built" ]; then
    run_e2e || status=1
  else
    status=1
    tests_failed=$((tests_failed + 1))
    report_layer "e2e (release)" FAILED "the test peers could not be built (build/peers.log)"
  fi
  report_layer "set-up and builds" "$(over_budget setup "$builds" && echo FAILED || echo done)" "${builds}s of ${layer_budget[setup]}s"
  over_budget setup "$builds" && tests_failed=$((tests_failed + 1))
  finish_report && [ "$status" = 0 ]
}

test_selected() {
  local preset=$1 selection=$2
  ensure_packages
  if [ "$selection" = e2e ]; then
    go_unusable >/dev/null || start_peers
  fi
  local status=0 word=passed
  build_preset "$preset"
  if [ "$selection" = e2e ]; then
    run_e2e || status=1
  elif [[ " ${test_layers[*]} " == *" $selection "* ]]; then
    run_layer "$preset" "$selection" || status=1
  else
    DENSELET_PEERS=$(peers_dir 2>/dev/null) ctest_run "$preset" -R "$selection" || status=1
    [ "$status" = 0 ] || word=FAILED
    report_layer "tests like '$selection'" "$word" "($preset)"
  fi
  finish_report && [ "$status" = 0 ]
}

# Tests look at DENSELET_LONG; the end-to-end layer has most of them.
take_the_long_form() {
  export DENSELET_LONG=1
  layer_budget[e2e]=$((2 * layer_budget[e2e]))
}

dev_test() {
  local preset= selection=
  while [ $# -gt 0 ]; do
    case $1 in
      --preset)
        [ $# -ge 2 ] || die "./dev test: --preset needs a name"
        preset=$2
        shift
        ;;
      --long) take_the_long_form ;;
      -*) die "./dev test: unknown option '$1'" ;;
      *) [ -z "$selection" ] || die "./dev test takes one layer or regex"; selection=$1 ;;
    esac
    shift
  done
  if [ -z "$selection" ]; then
    [ -z "$preset" ] || die "./dev test --preset needs a layer or a regex"
    test_everything
  else
    [ "$selection" = fuzz ] && preset=${preset:-asan}
    [ "$selection" != e2e ] || [ "${preset:-release}" = release ] || die "./dev test: layer e2e runs on the release build"
    test_selected "${preset:-release}" "$selection"
  fi
}

# record_upstream: runs the table of scenarios against the upstream kubelet and keeps what a watcher saw; then pods whose
# containers are looked at from within.
record_upstream() {
  local runs=${DENSELET_PEER_RUNS:-4} golden=tests/e2e/scenarios/upstream.json inside=tests/e2e/inside/upstream.txt
  ensure_packages
  ensure_peers
  say "Building the watcher"
  tests/e2e/scenarios/build.sh build/e2e/podtrace
  say "The scenarios, $runs times, on the upstream kubelet $(kubernetes_version)"
  DENSELET_PEERS=$(peers_dir) tests/e2e/scenarios/record.sh "$PWD/build/e2e/podtrace" "$(peers_dir)/kubelet" "$PWD/$golden" "$runs"
  say "What containers see, on the upstream kubelet $(kubernetes_version)"
  DENSELET_PEERS=$(peers_dir) tests/e2e/inside/record.sh "$(peers_dir)/kubelet" "$PWD/$inside" "$(kubernetes_version)"
  note "$golden and $inside say what upstream shows; git diff says what is new"
}

dev_e2e() {
  while [ $# -gt 0 ]; do
    case $1 in
      --long) take_the_long_form ;;
      --peer)
        [ $# = 1 ] || die "./dev e2e --peer stands alone"
        record_upstream
        return
        ;;
      *) die "./dev e2e: unknown option '$1'" ;;
    esac
    shift
  done
  test_selected release e2e
}
