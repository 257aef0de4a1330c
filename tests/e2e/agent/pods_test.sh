#!/usr/bin/env bash
# pods_test.sh DENSELET CRI_SIM: pods of a real API server run on the simulated runtime, and their statuses are true: a server,
# a job that succeeds, one that fails, a crash loop, one that does not fit, a deletion with grace, a static pod with its
# mirror; the agent is killed and disturbs nothing; what is dead or nobody's is tidied up. Run by control_plane.sh use.
set -euo pipefail
denselet=$1 cri_sim=$2
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-pods ns=agent-pods
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
write_config 'nodeStatusUpdateFrequency: 1s'
start_cri_sim
own_namespace $ns
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
is_ready() { [ "$(condition $node status)" = True ]; }
soon 40 "a node that is ready" is_ready

make() { # NAME SPEC: a pod that is bound to the node
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: $ns}, spec: {nodeName: $node,
    tolerations: [{operator: Exists}], automountServiceAccountToken: false, $2}}"
}
of() { kubectl get pod -n $ns "$1" -o jsonpath="{$2}"; } # POD PATH
is() { [ "$(of "$1" "$2")" = "$3" ]; } # POD PATH VALUE
ready='.status.conditions[?(@.type=="Ready")].status'
gone() { ! kubectl get pod -n $ns "$1"; } # POD
patches() { # POD: how many of its status the node has sent
  grep "\"username\":\"system:node:$node\"" "$DENSELET_CONTROL_PLANE/node-audit.jsonl" | grep '"verb":"patch"' |
    grep "\"name\":\"$1\"" | grep -c '"subresource":"status"' || true
}

server='containers: [{name: main, image: example.org/main:1, command: [sh, -c, sleep inf]}], terminationGracePeriodSeconds: 2'
make server "$server"
soon 20 "a running pod" is server .status.phase Running
soon 5 "a ready pod" is server "$ready" True
[ -n "$(of server .status.podIP)" ] || fail "no address"
[ -n "$(of server .status.startTime)" ] || fail "no start time"
is server .status.qosClass BestEffort || fail "another class: $(of server .status.qosClass)"
[[ $(of server '.status.containerStatuses[0].containerID') == containerd://* ]] || fail "no id: $(of server '.status.containerStatuses[0]')"
# The scheduler learns which images are here, soon after a pull.
has_image() { [[ $(kubectl get node $node -o jsonpath='{.status.images[*].names}') == *example.org/main:1* ]]; }
soon 40 "the image in the node's status" has_image
# A network that is not ready is waited for, and people are told.
ask '{"do":"set","settings":{"networkReady":false}}' >/dev/null
is_not_ready_yet() { [ "$(condition $node status)" = False ]; }
soon 20 "a node without a network" is_not_ready_yet
make waiting "$server"
warned() { kubectl get events -n $ns -o jsonpath='{.items[?(@.reason=="NetworkNotReady")].message}' | grep -q "network is not ready: container runtime network not ready"; }
soon 20 "a word about the network" warned
is waiting .status.phase Pending || fail "a pod was started without a network"
ask '{"do":"set","settings":{"networkReady":true}}' >/dev/null
soon 20 "a pod when the network is back" is waiting .status.phase Running
soon 20 "a node that is ready again" is_ready
kubectl delete pod -n $ns waiting --wait=false >/dev/null
# A pod that starts without delay costs one patch. A machine that does much else may delay some, but not every one.
cheap=$(patches server)
for name in quick-{1..5}; do
  [ "$cheap" != 1 ] || break
  make $name "$server"
  soon 20 "a pod that starts" is $name "$ready" True
  cheap=$(patches $name)
  kubectl delete pod -n $ns $name --wait=false >/dev/null
done
[ "$cheap" = 1 ] || fail "$cheap patches for a pod that started without delay"

make job 'restartPolicy: Never, containers: [{name: main, image: example.org/main:1, command: [sh, -c, exit 0]}]'
soon 20 "a job that succeeded" is job .status.phase Succeeded
make bad 'restartPolicy: Never, containers: [{name: main, image: example.org/main:1, command: [sh, -c, exit 3]}]'
soon 20 "a job that failed" is bad .status.phase Failed
is bad '.status.containerStatuses[0].state.terminated.exitCode' 3 || fail "another end: $(of bad .status.containerStatuses)"
make crash 'containers: [{name: main, image: example.org/main:1, command: [sh, -c, exit 1]}]'
soon 30 "a crash loop" is crash '.status.containerStatuses[0].state.waiting.reason' CrashLoopBackOff
make huge 'containers: [{name: main, image: example.org/main:1, resources: {requests: {cpu: "5000"}}}]'
soon 20 "a rejection" is huge .status.phase Failed
is huge .status.reason OutOfcpu || fail "rejected for $(of huge .status.reason)"
[ "$(patches huge)" = 1 ] || fail "$(patches huge) patches for a rejection"
soon 10 "its event" bash -c "kubectl get events -n $ns --field-selector involvedObject.name=huge -o name | grep -q ."

# What people are told.
told() { kubectl get events -n $ns --field-selector "involvedObject.name=$1,reason=$2" -o jsonpath='{.items[*].message}'; } # POD REASON
has_told() { [[ $(told "$1" "$2") == *"$3"* ]]; } # POD REASON MESSAGE
soon 10 "an image" has_told server Pulled 'image "example.org/main:1"'
soon 10 "a container" has_told server Created "Container created"
soon 10 "its start" has_told server Started "Container started"
make volume 'containers: [{name: main, image: example.org/main:1, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, persistentVolumeClaim: {claimName: none}}]'
soon 10 "why a pod with a claim waits" has_told volume FailedMount "persistentVolumeClaim volumes are not supported yet"
is volume .status.phase Pending || fail "a pod whose volumes are not there is $(of volume .status.phase)"
kubectl delete pod -n $ns volume --wait=false >/dev/null
soon 20 "its end" gone volume
soon 10 "the crash loop" has_told crash BackOff "Back-off restarting failed container main in pod crash_${ns}("

# A static pod and its mirror.
cat >"$work/manifests/static.yaml" <<YAML
apiVersion: v1
kind: Pod
metadata: {name: static, namespace: $ns}
spec: {containers: [{name: main, image: example.org/main:1, command: [sh, -c, sleep inf]}]}
YAML
soon 20 "a mirror" is static-$node .status.phase Running
mirror=$(of static-$node .metadata.uid)
kubectl delete pod -n $ns static-$node --grace-period=0 --force >/dev/null 2>&1
soon 20 "another mirror" bash -c "[ \"\$(kubectl get pod -n $ns static-$node -o jsonpath='{.metadata.uid}')\" != '$mirror' ]"
soon 5 "its status" is static-$node .status.phase Running

# Killed and back: nothing restarts, no status is sent that did not change.
running_ids() { ask '{"do":"pods"}' | grep -oE '"id":"[^"]*","[^}]*"state":"CONTAINER_RUNNING"' | sort; }
versions() { # of the pods that do not change by themselves
  kubectl get pods -n $ns server job bad huge static-$node -o jsonpath='{range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}'
}
settled() { # nothing was sent for a second
  versions=$(versions)
  let_it_run 1
  [ "$(versions)" = "$versions" ]
}
soon 20 "statuses that do not change" settled
before=$(running_ids)
for _ in 1 2 3; do
  kill -9 "$agent"
  wait "$agent" || true
  start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
  let_it_run 3
done
[ "$(running_ids)" = "$before" ] || fail "a restart of the agent changed containers"
[ "$(versions)" = "$versions" ] || fail "a restart of the agent changed statuses: $versions to $(versions)"

# Of a container that fails again and again one dead instance is kept, and one log.
dead_of() { # POD: how many of its containers are dead
  ask '{"do":"pods"}' | tr '{' '\n' |
    awk -v pod="\"pod\":\"$ns/$1\"" '/"pod":/ { mine = index($0, pod) } mine && /CONTAINER_EXITED/ { n++ } END { print n + 0 }'
}
one_is_kept() { [ "$(dead_of crash)" = 1 ] && [ "$(ls "$work/logs/${ns}_crash_"*/main | wc -l)" = 1 ]; }
restarted() { [ "$(of crash '.status.containerStatuses[0].restartCount')" -ge 2 ]; }
soon 60 "two restarts" restarted
soon 10 "one dead container and its log" one_is_kept
[ "$(of crash '.status.containerStatuses[0].lastState.terminated.exitCode')" = 1 ] || fail "its last state: $(of crash .status.containerStatuses)"

# What somebody left on the disk goes when the agent has heard all sources; what is called otherwise stays.
kill -9 "$agent"
wait "$agent" || true
mkdir -p "$work/$node/pods/left-1/volumes/plugin/v" "$work/$node/pods/left-1/containers/main" "$work/logs/${ns}_left_left-1/main" \
  "$work/logs/${ns}_left_left-2/main" "$work/logs/somebody-elses"
touch "$work/$node/pods/left-1/containers/main/0a1b" "$work/logs/${ns}_left_left-1/main/0.log"
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
nothing_left_over() { ! compgen -G "$work/logs/${ns}_left_*" && [ ! -e "$work/$node/pods/left-1" ]; }
soon 20 "the end of what was left" nothing_left_over
[ -d "$work/logs/somebody-elses" ] || fail "a directory that is not ours was removed"
rmdir "$work/logs/somebody-elses"
compgen -G "$work/logs/${ns}_server_*" >/dev/null || fail "the logs of a pod that lives were removed"
[ "$(running_ids)" = "$before" ] || fail "tidying up changed containers"

# The server goes in order; what has ended, at once.
kubectl delete pod -n $ns server --wait=false >/dev/null
soon 20 "the end of the server" gone server
soon 10 "its end" has_told server Killing "Stopping container main"
no_trace() { ! compgen -G "$work/logs/${ns}_$1_*" && ! ask '{"do":"pods"}' | grep "\"$ns/$1\""; } # POD
soon 10 "the end of its logs and its sandbox" no_trace server
kubectl delete pod -n $ns job bad crash huge --wait=false >/dev/null
for name in job bad crash huge; do soon 20 "the end of $name" gone $name; done
rm "$work/manifests/static.yaml"
soon 20 "the end of the mirror" gone static-$node
state_has() { ask '{"do":"state"}' | grep -q "\"$1\":$2,"; } # NAME NUMBER
soon 20 "nothing left in the runtime" state_has containers 0
soon 20 "no sandbox left in the runtime" state_has sandboxes 0
nothing_on_disk() { [ -z "$(ls -A "$work/logs")" ] && [ -z "$(ls -A "$work/$node/pods")" ]; }
soon 10 "nothing left on the disk" nothing_on_disk
violations=$(ask '{"do":"violations"}')
grep -q '"total":0' <<<"$violations" || fail "the runtime saw: $violations"
expect_nothing_denied $node
stop_agent
