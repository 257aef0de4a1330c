#!/usr/bin/env bash
# runtime_test.sh DENSELET CRI_SIM: a node's status follows its container runtime, which comes late, is not ready, goes away
# and comes back. Run by control_plane.sh use.
set -euo pipefail
denselet=$1 cri_sim=$2
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-runtime-$reactor
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false  # the test machine has no unified hierarchy; harmless where there is one
nodeStatusUpdateFrequency: 5m  # whatever this waits for is told when it is found
CONFIG

start_runtime() {
  "$cri_sim" --socket "$work/runtime.sock" --control "$work/control.sock" --image-folder "$work" >>"$work/cri_sim.log" 2>&1 &
  runtime=$!
  disown # its end is no news
  agents+=("$runtime")
}
stop_runtime() {
  kill -9 "$runtime"
  timeout 10 tail --pid="$runtime" -s 0.02 -f /dev/null
  rm -f "$work/control.sock" # a second one would find it in its way
}
set_runtime() { ask "{\"do\":\"set\",\"settings\":$1}" >/dev/null; } # SETTINGS
info() { kubectl get node $node -o jsonpath="{.status.$1}"; } # FIELD
says() { [[ $(condition $node message) == *"$1"* ]]; } # TEXT
runtime_is_fine() { [ "$(condition $node status)" = True ]; }
has_runtime() { [[ $(info nodeInfo.containerRuntimeVersion) == "containerd://"* ]]; }

# It begins without one.
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
soon 30 "registration" is_not_ready $node
soon 20 "the reason" says "nobody serves on unix://$work/runtime.sock"
! has_runtime || fail "a runtime that nobody has seen: $(info nodeInfo.containerRuntimeVersion)"

start_runtime
soon 30 "a node with its runtime" runtime_is_fine
soon 10 "its version" has_runtime
[ -n "$(info runtimeHandlers)" ] || fail "no runtime handlers"
[ -n "$(info features.supplementalGroupsPolicy)" ] || fail "no features of the runtime"
[[ $(kubectl get node $node -o wide --no-headers) == *containerd://* ]] || fail "kubectl get nodes -o wide does not show it"

set_runtime '{"networkReady":false}'
# Each is found at most five seconds later.
soon 8 "a network that is not ready" says "container runtime network not ready"
set_runtime '{"networkReady":true,"runtimeReady":false}'
soon 8 "a runtime that is not ready" says "container runtime not ready: RuntimeReady=false"
set_runtime '{"runtimeReady":true}'
soon 8 "both ready again" runtime_is_fine

# A restart is over before anybody is told; a runtime that stays away is missed.
stop_runtime
start_runtime
let_it_run 8
runtime_is_fine || fail "a restart was noticed: $(condition $node message)"
stop_runtime
soon 60 "a runtime that is missed" says "container runtime is down"
says "nobody serves on unix://$work/runtime.sock" || fail "message: $(condition $node message)"
start_runtime
soon 30 "the runtime that came back" runtime_is_fine

[[ $(ask '{"do":"violations"}') == *'"total":0'* ]] || fail "the protocol was not kept: $(ask '{"do":"violations"}')"
[ "$(grep -c "Container runtime can be used" "$log")" = 1 ] || fail "the check ran again"
stop_agent 10
expect_nothing_denied $node
kubectl delete node $node >/dev/null
