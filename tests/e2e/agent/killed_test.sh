#!/usr/bin/env bash
# killed_test.sh DENSELET CRI_SIM: while pods come and go, the agent is killed at random, again and again (10 times; 50 in the long
# form). No container is restarted or made twice, no pod is lost, no pod that runs is told of as not ready. Run by
# control_plane.sh use.
set -euo pipefail
denselet=$1 cri_sim=$2
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-killed ns=agent-killed kills=${DENSELET_LONG:+50}
RANDOM=${DENSELET_SEED:=$(($$ % 32768))}
echo "DENSELET_SEED=$DENSELET_SEED"
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
write_config 'nodeStatusUpdateFrequency: 1s'
# Calls take a while, so that the agent dies in the middle of them.
start_cri_sim --random-order \
  --latency 'RunPodSandbox=uniform 1ms 300ms' --latency 'CreateContainer=uniform 1ms 200ms' \
  --latency 'StartContainer=uniform 1ms 200ms' --latency 'StopContainer=uniform 1ms 200ms'
own_namespace $ns
start() { start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"; }
start
is_ready() { [ "$(condition $node status)" = True ]; }
soon 40 "a node that is ready" is_ready

# manifest NAME SPEC
manifest() {
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s}\nspec: {%s, %s}\n' "$1" "$ns" \
    'tolerations: [{operator: Exists}], automountServiceAccountToken: false, terminationGracePeriodSeconds: 1' "$2"
}
make() { manifest "$1" "nodeName: $node, $2" | kubectl create -f - >/dev/null; } # NAME SPEC
image='image: example.org/main:1'
forever="command: [sh, -c, sleep inf]"
server="containers: [{name: main, $image, $forever}, {name: second, $image, $forever}]"
job="restartPolicy: Never, containers: [{name: main, $image, command: [sh, -c, sleep 1; exit 0]}]"

# What a watcher sees, a line for each change: name, ready, restarts, and when it is to go.
see='{.metadata.name} {.status.conditions[?(@.type=="Ready")].status} [{.status.initContainerStatuses[*].restartCount} '
see+='{.status.containerStatuses[*].restartCount}] {.metadata.deletionTimestamp}{"\n"}'
kubectl get pods -n $ns --watch -o "jsonpath=$see" >"$work/seen" 2>"$work/watch.log" &
agents+=($!)

for i in 1 2 3; do make stays-$i "$server"; done
make stays-with-sidecar "initContainers: [{name: first, $image, command: [sh, -c, exit 0]},
  {name: side, $image, restartPolicy: Always, $forever}], $server"
manifest static "$server" >"$work/manifests/static.yaml"
stays=(stays-1 stays-2 stays-3 stays-with-sidecar static-$node)
ready() { [ "$(kubectl get pod -n $ns "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; } # POD
for name in "${stays[@]}"; do soon 30 "$name" ready "$name"; done
ids() { # of the containers that run, of pods that stay
  ask '{"do":"pods"}' | tr '{' '\n' |
    awk -F'"' '/"pod":/ { pod = $8 } /CONTAINER_RUNNING/ && pod ~ /(stays|static)-/ { print pod, $4 }' | sort
}
before=$(ids)
[ "$(wc -l <<<"$before")" = 11 ] || fail "containers of the pods that stay: $before"

# Pods come and go: of each four a job, a server that stays, two that go again.
: >"$work/churning"
churn() {
  local i=0
  while [ -e "$work/churning" ]; do
    case $((++i % 4)) in
      0) make job-$i "$job" ;;
      1) make late-$i "$server" ;;
      *) make gone-$i "$server" ;;
    esac
    if [ $i -gt 4 ] && [ $(((i - 4) % 4)) -ge 2 ]; then kubectl delete pod -n $ns gone-$((i - 4)) --wait=false >/dev/null; fi
  done
  echo $i >"$work/churned"
}
churn 2>"$work/churn.log" &
churner=$!
agents+=($churner)
for ((kill = 1; kill <= ${kills:-10}; ++kill)); do
  let_it_run "$((RANDOM % 3)).$((RANDOM % 1000 + 1000))"
  kill -9 "$agent"
  wait "$agent" 2>/dev/null || true
  start
done
rm "$work/churning"
wait "$churner" || fail "the churn ended early"
churned=$(cat "$work/churned")
echo "The agent was killed ${kills:-10} times while $churned pods were made"
[ "$churned" -ge 10 ] || fail "there was no churn"

# No pod is lost, and none stays that was to go.
phase() { kubectl get pod -n $ns "$1" -o 'jsonpath={.status.phase}'; } # POD
is_over() { [ "$(phase "$1")" = Succeeded ]; } # POD
is_gone() { ! kubectl get pod -n $ns "$1"; } # POD
for ((i = 1; i <= churned; ++i)); do
  case $((i % 4)) in
    0) soon 30 "the end of job-$i" is_over job-$i ;;
    1) soon 30 "late-$i" ready late-$i ;;
    *) if [ $i -le $((churned - 4)) ]; then soon 30 "the end of gone-$i" is_gone gone-$i; else soon 30 "gone-$i" ready gone-$i; fi ;;
  esac
done
[ "$(ids)" = "$before" ] || fail "containers of pods that stay changed: from $before to $(ids)"
pods=$(ask '{"do":"pods"}')
! grep -oE '"attempt":[1-9][0-9]*' <<<"$pods" || fail "something was made a second time: $pods"
in_runtime() { ask '{"do":"pods"}' | grep -o "\"pod\":\"$ns/[^\"]*\"" | sort -u | wc -l; }
wanted=$(kubectl get pods -n $ns -o name | grep -vc /job-)
no_leftovers() { [ "$(ask '{"do":"pods"}' | grep -o "\"pod\":\"$ns/[^\"]*\"" | grep -vc /job-)" = "$wanted" ]; }
soon 30 "a runtime with the pods that are wished, once each ($wanted; $(in_runtime) with jobs)" no_leftovers

# Nobody was told of a restart, or that a pod that runs is not ready.
! grep -E '\[[0-9 ]*[1-9][0-9 ]*\]' "$work/seen" || fail "a restart was told"
flips=$(awk '$1 ~ /^(stays|static|late)/ && $NF !~ /T.*Z$/ { if (was[$1] == "True" && $2 != "True") print; was[$1] = $2 }' "$work/seen")
[ -z "$flips" ] || fail "readiness flipped: $flips"
grep -q '^stays-1 True' "$work/seen" || fail "the watch saw nothing"
violations=$(ask '{"do":"violations"}')
grep -q '"total":0' <<<"$violations" || fail "the runtime saw: $violations"
expect_nothing_denied $node
stop_agent
