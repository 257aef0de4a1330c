#!/usr/bin/env bash
# outage_test.sh DENSELET: the API server is killed and comes back; lease and watch follow within seconds, what changed
# meanwhile is not lost, and nobody spins. Run by control_plane.sh run: others would miss the server.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-outage
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
own_namespace $node
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false  # the test machine has no unified hierarchy; harmless where there is one
nodeLeaseDurationSeconds: 4
nodeStatusUpdateFrequency: 2s
CONFIG
kill_server() {
  local pid
  pid=$(cat "$DENSELET_CONTROL_PLANE/run/kube-apiserver.pid")
  kill -9 "$pid"
  timeout 10 tail --pid="$pid" -s 0.1 -f /dev/null || fail "the API server outlived SIGKILL"
}
changed() { logged "Changed desired pod.*op=\"$1\".*pod=\"$node/$2\""; } # OP POD

start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
soon 30 "registration" is_not_ready $node
for name in stays goes; do
  pod $node $node $name
  soon 20 "pod $name" changed ADD $name
done

kill_server
ticks_before=$(cpu_ticks) lines_before=$(wc -l <"$log")
let_it_run 20
ticks=$(($(cpu_ticks) - ticks_before)) lines=$(($(wc -l <"$log") - lines_before))
echo "Twenty seconds without a server: $ticks hundredths of a second of CPU, $lines lines in the log"
[ "$ticks" -le 75 ] || fail "a busy loop"
[ "$lines" -le 300 ] || fail "a busy log"
[ "$(grep -c "Could not connect to the API server" "$log")" -le 3 ] || fail "one outage was told again and again"
logged "Could not connect to the API server.*kubeconfig=\"$work/kubeconfig\"" || fail "the outage was not told"
gone_at=$(date -u +%Y-%m-%dT%H:%M:%S)
control_plane.sh start kube-apiserver
# From here on the server is ready. What pauses must not sleep on; the rest is for a machine that is busy.
back_at=$SECONDS
pod $node $node later
soon 6 "the lease's renewal after the return" renewed_since $node "$gone_at"
soon $((back_at + 6 - SECONDS)) "a pod after the return" changed ADD later
echo "Lease and watch were back within $((SECONDS - back_at)) s of the server"
logged "Connected to the API server.*away=" || fail "the end of the outage was not told"
if changed REMOVE stays || changed REMOVE goes; then fail "a pod was taken for gone while the server was away"; fi

# It sleeps while pods change, then the server is killed: the watch that would have told them is gone.
kill -STOP "$agent"
pod $node $node unseen
kubectl delete pod -n $node goes --grace-period=0 --force >/dev/null 2>&1
kubectl label pod -n $node stays seen=no >/dev/null
kill_server
control_plane.sh start kube-apiserver
kill -CONT "$agent"
soon 8 "a pod that came unseen" changed ADD unseen
soon 3 "the end of one that went unseen" changed REMOVE goes
soon 3 "a change that nobody saw" changed UPDATE stays

# What follows is peace.
soon 60 "the watch of the node" logged "Watch of the node goes on"
asked_before=$(asked $node)
let_it_run 20
asked=$(($(asked $node) - asked_before))
echo "Twenty seconds after the return: $asked requests"
[ "$asked" -le 80 ] || fail "$asked requests in twenty seconds"
expect_nothing_denied $node

# It stops without a server, too.
kill_server
stop_agent 10
