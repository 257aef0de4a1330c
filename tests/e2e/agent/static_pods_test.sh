#!/usr/bin/env bash
# static_pods_test.sh DENSELET CRI_SIM: a node that stands alone runs a hundred static pods on the simulated runtime. Containers
# that end are started again; the agent is killed and disturbs nothing; the runtime is killed and all goes on; manifests go
# and nothing is left. The runtime must not have seen anything that the protocol forbids. In a network of its own.
set -euo pipefail
denselet=$1 cri_sim=$2 pods=100
if [ -z "${DENSELET_INSIDE:-}" ]; then
  DENSELET_INSIDE=1 exec unshare --net "$0" "$@"
fi
ip link set lo up
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
write_config "$stands_alone"
manifest() { # NUMBER
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: pod-$1, namespace: default}
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
  - {name: init, image: example.org/init:1, command: [sh, -c, echo prepared; exit 0]}
  - {name: sidecar, image: example.org/side:1, restartPolicy: Always}
  containers:
  - {name: main, image: example.org/main:1, command: [sh, -c, echo hello; sleep inf]}
YAML
}
for ((i = 0; i < pods; ++i)); do manifest "$i" >"$work/manifests/pod-$i.yaml"; done

state_has() { ask '{"do":"state"}' | grep -q "\"$1\":$2,"; } # NAME NUMBER
all_run() { state_has sandboxesReady $pods && state_has containersRunning $((2 * pods)); }
# The running containers; those that ended may be removed at any time.
running_ids() { ask '{"do":"pods"}' | grep -oE '"id":"[^"]*","[^}]*"state":"CONTAINER_RUNNING"' | sort; }

start_cri_sim --random-order
start_agent alone --config "$work/config"
soon 60 "$pods running pods" all_run
soon 10 "events" logged '"PLEG changed its mode" mode="events"'
ls "$work"/logs/default_pod-*/main/0.log | wc -l | grep -qx $pods || fail "not a log of each pod"

# A container that ends is back at once; the second time it has to wait.
ask '{"do":"exit","pod":"default/pod-7-alone","container":"main","code":1}' | grep -q '"ok":true' || fail "no such container"
restarted() { compgen -G "$work/logs/default_pod-7-alone_*/main/1.log"; }
soon 10 "a restarted container" restarted
soon 10 "all again" all_run

before=$(running_ids)
for _ in 1 2 3; do
  kill -9 "$agent"
  wait "$agent" || true
  start_agent alone --config "$work/config"
  let_it_run 2
  [ "$(running_ids)" = "$before" ] || fail "a restart of the agent changed containers"
done

ask '{"do":"crash","downtime":"500ms","keepState":true}' | grep -q '"ok":true' || fail "no crash"
soon 20 "all after the runtime's restart" all_run
[ "$(running_ids)" = "$before" ] || fail "a restart of the runtime changed containers"

find "$work/manifests" -name '*.yaml' -delete
soon 60 "the end of all pods" state_has sandboxesReady 0
soon 30 "nothing left in the runtime" state_has containers 0
soon 10 "no directories" bash -c "[ -z \"\$(ls -A '$work/alone/pods')\" ]"
violations=$(ask '{"do":"violations"}')
grep -q '"total":0' <<<"$violations" || fail "the runtime saw: $violations"
stop_agent
