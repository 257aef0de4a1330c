# What the tests of the program share: starting agents, looking at them, stopping them. Sourced by them; each has a folder
# of its own ($work) and ends what it started. $denselet is the program.
work=$(mktemp -d)
agents=()
clean_up() {
  local status=$? pid log
  for pid in "${agents[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  if [ "$status" != 0 ]; then
    [ -n "$failure" ] || failure="a command of the test ended with $status"
    for log in "$work"/*.log; do
      [ -s "$log" ] || continue
      printf -- '--- the last lines of %s\n' "${log##*/}"
      tail -60 "$log"
    done >&2
    echo "FAILED: $failure" >&2 # again, where it is seen
  fi
  local root
  for root in "$work"/*/; do umount --recursive "$root" 2>/dev/null || true; done # an agent mounts its root onto itself
  rm -rf "$work"
}
trap clean_up EXIT

failure=
fail() {
  failure=$*
  echo "FAILED: $failure" >&2
  exit 1
}

# within SECONDS COMMAND...: until the command succeeds; fails when it does not. A machine that does much else gets three times
# as long.
within() {
  local end=$((SECONDS + 3 * $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}
# soon SECONDS WHAT COMMAND...: the same, for what has to happen.
soon() {
  local seconds=$1 what=$2
  shift 2
  within "$seconds" "$@" || fail "$what did not happen in time: $*"
}

# write_config [LINES]: $work/config of a node that follows $work/manifests, with further fields.
write_config() {
  mkdir -p "$work/manifests"
  cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
staticPodPath: $work/manifests
podLogsDir: $work/logs
${1:-}
CONFIG
}
# Fields of a node without an API server.
stands_alone='authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}'

ask() { "$cri_sim" --ask "$work/control.sock" "$1"; } # COMMAND
# start_cri_sim FLAGS...: the simulated runtime where start_agent looks for one.
start_cri_sim() {
  "$cri_sim" --socket "$work/runtime.sock" --control "$work/control.sock" --image-folder "$work" "$@" >"$work/cri_sim.log" 2>&1 &
  agents+=($!)
  soon 20 "the runtime" ask '{"do":"state"}'
}

# Which loop the agents run on: CMakeLists.txt runs some tests on each.
reactor=${DENSELET_TEST_REACTOR:-auto}

# start_agent NODE FLAGS...: sets agent, its process, and log, its file. Kept apart from this machine's own kubelet and
# container runtime, if any.
start_agent() {
  local node=$1
  shift
  log=$work/$node.log
  "$denselet" --hostname-override "$node" --root-dir "$work/$node" --cert-dir "$work/$node/pki" -v 3 \
    --denselet-container-logs-dir "$work/links" --denselet-reactor "$reactor" \
    --container-runtime-endpoint "unix://$work/runtime.sock" "$@" >>"$log" 2>&1 &
  agent=$!
  agents+=("$agent")
}

# stop_agent [SECONDS]: by SIGTERM; it has to end well, and in time.
stop_agent() {
  local status=0
  kill -TERM "$agent"
  timeout "${1:-10}" tail --pid="$agent" -s 0.1 -f /dev/null || fail "the agent did not stop in time"
  wait "$agent" || status=$?
  [ "$status" = 0 ] || fail "the agent ended with $status after SIGTERM"
}

# let_it_run SECONDS: time goes by, and the agent must be there at its end.
let_it_run() {
  if timeout "$1" tail --pid="$agent" -s 0.1 -f /dev/null; then fail "the agent ended"; fi
}

logged() { grep -q -- "$1" "$log"; } # PATTERN
condition() { # NODE FIELD
  kubectl get node "$1" -o jsonpath="{.status.conditions[?(@.type==\"Ready\")].$2}"
}
is_not_ready() { [ "$(condition "$1" status)" = False ]; } # NODE
renewed() { kubectl get lease -n kube-node-lease "$1" -o jsonpath='{.spec.renewTime}'; } # NODE
renewed_since() { [[ $(renewed "$1") > $2 ]]; } # NODE TIME
cpu_ticks() { awk '{print $14 + $15}' "/proc/$agent/stat"; } # hundredths of a second
# asked NODE: how many requests of it the API server has answered, watches included.
asked() { grep -c "\"username\":\"system:node:$1\"" "$DENSELET_CONTROL_PLANE/node-audit.jsonl" || true; }
# denied NODE: those that it was not allowed.
denied() {
  grep "\"username\":\"system:node:$1\"" "$DENSELET_CONTROL_PLANE/node-audit.jsonl" | grep -E '"code":(401|403)' || true
}
expect_nothing_denied() { # NODE
  [ "$(asked "$1")" -gt 0 ] || fail "nothing of $1 in the audit log"
  [ -z "$(denied "$1")" ] || fail "the API server denied: $(denied "$1")"
}

# pod NODE NAMESPACE NAME: makes a pod that is bound to the node.
pod() {
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Pod, metadata: {name: $3, namespace: $2}, spec: {nodeName: $1,
    tolerations: [{operator: Exists}], automountServiceAccountToken: false, containers: [{name: c, image: none}]}}"
}
own_namespace() { # NAMESPACE; a pod needs its service account, which a controller makes where there is one
  kubectl get namespace "$1" >/dev/null 2>&1 || kubectl create namespace "$1" >/dev/null
  kubectl create serviceaccount -n "$1" default >/dev/null 2>&1 || kubectl get serviceaccount -n "$1" default >/dev/null
}
