# Running one layer of tests with ctest, keeping time against its budget, and adding up what ran.

# Seconds on a new machine with two cores. A layer that takes more than twice its budget fails.
declare -A layer_budget=([setup]=1800 [tidy]=60 [unit]=180 [sim]=240 [integration]=300 [fuzz]=120 [e2e]=480)
test_layers=(tidy unit sim integration fuzz e2e)

tests_passed=0
tests_failed=0
layer_report=()

# over_budget NAME SECONDS
over_budget() { [ "$2" -gt $((2 * layer_budget[$1])) ]; }

report_layer() { layer_report+=("$(printf '%-24s %-10s %s' "$1" "$2" "$3")"); }

# Where the seeds of the simulations begin (tests/sim/seeds.h): elsewhere with each commit, so that every run of the
# tests looks at new ones, and the same for all that look at one commit. DENSELET_SIM_FROM in the environment goes before.
sim_from() {
  local commit
  commit=$(git rev-parse HEAD 2>/dev/null) || commit=0000001
  echo "${DENSELET_SIM_FROM:-$((16#${commit:0:7}))}"
}

# ctest_run PRESET CTEST_ARGS...: runs, shows, and adds to the totals. Fails when a test failed.
ctest_run() {
  local preset=$1 log=build/ctest.log status=0
  shift
  DENSELET_SIM_FROM=$(sim_from) ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(jobs)" "$@" 2>&1 | tee "$log" || status=$?
  local summary failed total
  summary=$(grep -E 'tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -1 || true)
  failed=$(sed -E 's/.*passed, ([0-9]+) tests failed.*/\1/' <<<"$summary")
  total=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$summary")
  tests_failed=$((tests_failed + ${failed:-0}))
  tests_passed=$((tests_passed + ${total:-0} - ${failed:-0}))
  return "$status"
}

layer_size() { ctest --test-dir "build/$1" -N -L "^$2\$" 2>/dev/null | sed -nE 's/^Total Tests: ([0-9]+)/\1/p'; }

# run_layer PRESET LAYER
run_layer() {
  local preset=$1 layer=$2 begun=$SECONDS status=passed took
  if [ "$(layer_size "$preset" "$layer")" = 0 ]; then
    report_layer "$layer ($preset)" "not run" "this tree has no tests in it yet"
    return 0
  fi
  say "Layer $layer ($preset)"
  ctest_run "$preset" -L "^$layer\$" || status=FAILED
  took=$((SECONDS - begun))
  if over_budget "$layer" "$took"; then
    status="FAILED"
    tests_failed=$((tests_failed + 1))
    report_layer "$layer ($preset)" "$status" "${took}s: more than twice its budget of ${layer_budget[$layer]}s"
  else
    report_layer "$layer ($preset)" "$status" "${took}s of ${layer_budget[$layer]}s"
  fi
  [ "$status" = passed ]
}

# The last lines of every test run: what ran and for how long, what did not and why, and ctest's own summary line over
# all of it.
finish_report() {
  local total=$((tests_passed + tests_failed)) percent=0
  say "Layers"
  local line
  for line in "${layer_report[@]}"; do note "$line"; done
  [ "$tests_failed" = 0 ] || note "simulated seeds began at $(sim_from): DENSELET_SIM_FROM=$(sim_from) ./dev test sim has the same again"
  [ "$total" -gt 0 ] && percent=$((100 * tests_passed / total))
  printf '\n%d%% tests passed, %d tests failed out of %d\n' "$percent" "$tests_failed" "$total"
  [ "$tests_failed" = 0 ] && [ "$total" -gt 0 ]
}
