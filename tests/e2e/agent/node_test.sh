#!/usr/bin/env bash
# node_test.sh DENSELET: the program as a node of a real cluster, and alone. Run by control_plane.sh use.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-node-$reactor
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
own_namespace $node
mkdir "$work/manifests"
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false  # the test machine has no unified hierarchy; harmless where there is one
staticPodPath: $work/manifests
nodeLeaseDurationSeconds: 4
CONFIG
cat >"$work/manifests/static.yaml" <<MANIFEST
apiVersion: v1
kind: Pod
metadata: {name: static}
spec: {containers: [{name: c, image: none}]}
MANIFEST

# More shards than the machine may have CPUs: they share them.
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig" --node-labels=tier=e2e --denselet-shards=3
soon 30 "registration" is_not_ready $node
soon 2 "the first lease" renewed $node
[ "$(cat "/proc/$agent/task"/*/comm | grep -c '^shard-[0-2]$')" = 3 ] || fail "not three shards: $(cat "/proc/$agent/task"/*/comm)"
logged "Joined the API server" || fail "it does not say that it joined"
[ "$(condition $node reason)" = KubeletNotReady ] || fail "reason: $(condition $node reason)"
[[ $(condition $node message) == *"container runtime"* ]] || fail "message: $(condition $node message)"
[[ $(kubectl get nodes --no-headers) == *"$node "*NotReady* ]] || fail "kubectl get nodes does not show it"
[ "$(kubectl get node $node -o jsonpath='{.metadata.labels.tier}')" = e2e ] || fail "no label of --node-labels"
[ "$(kubectl get node $node -o jsonpath='{.status.capacity.cpu}')" = "$(nproc --all)" ] || fail "capacity"
# Only what is true: pressure is measured, nobody listens, and no feature is there that pods could need.
for type in Memory Disk PID; do
  [[ $(kubectl get node $node -o jsonpath="{.status.conditions[?(@.type==\"${type}Pressure\")].status}") =~ ^(True|False)$ ]] ||
    fail "$type pressure was not measured"
done
[ "$(kubectl get node $node -o jsonpath='{.status.daemonEndpoints.kubeletEndpoint.Port}')" = 0 ] || fail "a port without a listener"
[ -z "$(kubectl get node $node -o jsonpath='{.status.declaredFeatures}')" ] || fail "features that are not there"

first=$(renewed $node)
soon 20 "the renewal of the lease" renewed_since $node "$first"
starting() {
  kubectl get events --field-selector "involvedObject.name=$node,reason=Starting" -o jsonpath='{.items[*].message}' | grep -q "Starting kubelet."
}
soon 20 "the event of the start" starting

soon 20 "the static pod" logged "Changed desired pod.*op=\"ADD\".*pod=\"default/static-$node\".*source=\"file\""
pod $node $node bound
soon 20 "the pod of the API server" logged "Changed desired pod.*op=\"ADD\".*pod=\"$node/bound\".*source=\"api\""
kubectl delete pod -n $node bound --grace-period=0 --force >/dev/null 2>&1
soon 20 "its end" logged "Changed desired pod.*op=\"REMOVE\".*pod=\"$node/bound\""

# A node that is at rest asks for its lease, and rarely for more.
asked_before=$(asked $node) ticks_before=$(cpu_ticks)
let_it_run 10
[ $(($(asked $node) - asked_before)) -le 30 ] || fail "$(($(asked $node) - asked_before)) requests in ten seconds at rest"
[ $(($(cpu_ticks) - ticks_before)) -le 50 ] || fail "$(($(cpu_ticks) - ticks_before)) hundredths of a second of CPU in ten seconds at rest"
stop_agent 10
expect_nothing_denied $node

# The next start finds its node.
uid=$(kubectl get node $node -o jsonpath='{.metadata.uid}')
last=$(renewed $node)
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
soon 20 "the renewal after a restart" renewed_since $node "$last"
[ "$(kubectl get node $node -o jsonpath='{.metadata.uid}')" = "$uid" ] || fail "another node after a restart"
stop_agent 10
# In the middle of its start.
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
has_begun() { [ "$(grep -c '"Starting" version' "$log")" = 3 ]; }
soon 10 "the third start" has_begun
stop_agent 10
expect_nothing_denied $node

# Whoever deletes the node means it: the agent does not make it again, but its next start does.
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig" --eviction-hard='memory.available<99.9%'
pressed() { [ "$(kubectl get node $node -o jsonpath='{.status.conditions[?(@.type=="MemoryPressure")].status}')" = True ]; }
soon 20 "the pressure on a node that wants more memory than there is" pressed
kubectl delete node $node >/dev/null
soon 30 "the word that the node is gone" logged "Node is not known to the API server"
! kubectl get node $node >/dev/null 2>&1 || fail "a deleted node came back"
stop_agent 10
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
soon 20 "the registration by the next start" is_not_ready $node
stop_agent 10
expect_nothing_denied $node

# A second agent, alone.
start_agent alone --config "$work/config" --authentication-token-webhook=false --authorization-mode=AlwaysAllow
soon 20 "the static pod of a node that stands alone" logged 'pod="default/static-alone".*source="file"'
logged "Standalone mode, no API client" || fail "it does not say that it stands alone"
stop_agent 10

# What cannot be used is told in one line, the last, and nothing runs.
refuses() { # WHAT PATTERN FLAGS...
  local what=$1 pattern=$2 status=0
  shift 2
  timeout 20 "$denselet" --hostname-override refused --root-dir "$work/refused" --cert-dir "$work/refused/pki" --fail-cgroupv1=false \
    --container-runtime-endpoint "unix://$work/runtime.sock" "$@" >"$work/refused.log" 2>&1 || status=$?
  [ "$status" = 1 ] || fail "$what: ended with $status"
  [ "$(grep -c '"Failed to run the agent"' "$work/refused.log")" = 1 ] || fail "$what: not one line: $(cat "$work/refused.log")"
  tail -1 "$work/refused.log" | grep '"Failed to run the agent"' | grep -qE "$pattern" || fail "$what: $(cat "$work/refused.log")"
}
echo "clusters: [" >"$work/broken"
refuses "no kubeconfig" "err=.*$work/none.*there is no such file" --kubeconfig "$work/none"
sed "s|server: https://|server: http://|" "$work/kubeconfig" >"$work/plain"
refuses "a server without TLS" "err=.*$work/plain.*http://" --kubeconfig "$work/plain"
refuses "a broken kubeconfig" "err=.*$work/broken" --kubeconfig "$work/broken"
sed 's|client-key-data: .*|client-key: /nonexistent/key|' "$work/kubeconfig" >"$work/keyless"
refuses "a kubeconfig whose key is not there" "err=.*keyless.*/nonexistent/key" --kubeconfig "$work/keyless"
refuses "a root that cannot be made" "err=.*/proc/nowhere" --root-dir /proc/nowhere --kubeconfig "$work/kubeconfig"

# A fault of the configuration is told before there is a log, and before anything is touched.
status=0
timeout 20 "$denselet" --hostname-override refused --root-dir "$work/untouched" --fail-cgroupv1=false \
  --container-runtime-endpoint tcp://h:1 >"$work/refused.log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "an endpoint that is no socket: ended with $status"
[ "$(grep -c '^Error: ' "$work/refused.log")" = 1 ] || fail "an endpoint that is no socket: not one error: $(cat "$work/refused.log")"
tail -1 "$work/refused.log" | grep -q '^Error: --container-runtime-endpoint: containerRuntimeEndpoint: found "tcp://h:1", wanted a unix socket' ||
  fail "an endpoint that is no socket: $(cat "$work/refused.log")"
[ ! -e "$work/untouched" ] || fail "a configuration that is refused left files in $work/untouched"
kubectl delete node $node >/dev/null
kubectl delete namespace $node --wait=false >/dev/null
