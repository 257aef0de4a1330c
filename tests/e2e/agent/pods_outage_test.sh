#!/usr/bin/env bash
# pods_outage_test.sh DENSELET CRI_SIM: the API server is away for a while. Pods go on: one that ends is started again, a job
# ends, a manifest that comes is run, the agent may even be killed. When the server is back it is told how things are, each once.
# Run by control_plane.sh run: others would miss the server.
set -euo pipefail
denselet=$1 cri_sim=$2
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-alone ns=agent-alone
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
write_config 'nodeStatusUpdateFrequency: 1s'
start_cri_sim
own_namespace $ns
start() { start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"; }
start
is_ready() { [ "$(condition $node status)" = True ]; }
soon 40 "a node that is ready" is_ready

make() { # NAME SPEC
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: $ns}, spec: {nodeName: $node,
    tolerations: [{operator: Exists}], automountServiceAccountToken: false, $2}}"
}
container='image: example.org/main:1, command: [sh, -c, sleep inf]'
static() { # NAME
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s}\nspec: {containers: [{name: main, %s}]}\n' \
    "$1" "$ns" "$container" >"$work/manifests/$1.yaml"
}
of() { kubectl get pod -n $ns "$1" -o jsonpath="{$2}"; } # POD PATH
is() { [ "$(of "$1" "$2")" = "$3" ]; } # POD PATH VALUE
ready='.status.conditions[?(@.type=="Ready")].status'
patches() { # POD: how many of its status were taken
  grep "\"username\":\"system:node:$node\"" "$DENSELET_CONTROL_PLANE/node-audit.jsonl" | grep '"verb":"patch"' |
    grep "\"name\":\"$1\"" | grep '"subresource":"status"' | grep -c '"code":200' || true
}
make stays "containers: [{name: main, $container}]"
make restarts "containers: [{name: main, $container}]"
make job "restartPolicy: Never, containers: [{name: main, $container}]"
static early
pods=(stays restarts job early-$node)
for name in "${pods[@]}"; do soon 30 "$name" is "$name" "$ready" True; done
settled() { # nothing was sent for a second
  before=$(sent)
  let_it_run 1
  [ "$(sent)" = "$before" ]
}
sent() { for name in "${pods[@]}"; do patches "$name"; done; }
soon 20 "statuses that do not change" settled
sent_until=$before

pid=$(cat "$DENSELET_CONTROL_PLANE/run/kube-apiserver.pid")
kill -9 "$pid"
timeout 10 tail --pid="$pid" -s 0.1 -f /dev/null || fail "the API server outlived SIGKILL"

# Nobody is there to tell, and all goes on.
end() { ask "{\"do\":\"exit\",\"pod\":\"$ns/$1\",\"container\":\"main\",\"code\":$2}" | grep -q '"containers":1'; } # POD CODE
end restarts 1 || fail "nothing to end"
end job 0 || fail "no job to end"
state_of() { ask '{"do":"pods"}' | tr '{' '\n' | awk -v pod="\"pod\":\"$ns/$1\"" '/"pod":/ { mine = index($0, pod) } mine && /"name":"main"/'; } # POD
runs_again() { state_of restarts | grep '"attempt":1' | grep CONTAINER_RUNNING; }
soon 20 "a container that is started again" runs_again
static late
runs() { state_of "$1" | grep CONTAINER_RUNNING; } # POD
soon 20 "a static pod that came meanwhile" runs late-$node
kill -9 "$agent"
wait "$agent" 2>/dev/null || true
start
let_it_run 5
for name in stays restarts early-$node late-$node; do runs "$name" >/dev/null || fail "$name does not run any more"; done
[ "$(state_of stays | grep -c .)" = 1 ] || fail "a pod that runs was made again: $(state_of stays)"

control_plane.sh start kube-apiserver
back_at=$SECONDS
soon 20 "the end of the job" is job .status.phase Succeeded
soon 10 "the restart" is restarts '.status.containerStatuses[0].restartCount' 1
soon 10 "its readiness" is restarts "$ready" True
soon 10 "the mirror of the static pod" is late-$node "$ready" True
is stays "$ready" True || fail "a pod that ran all the time is not ready"
is early-$node "$ready" True || fail "a static pod that ran all the time is not ready"
echo "All was told within $((SECONDS - back_at)) s of the server's return"
soon 20 "statuses that do not change" settled
paste <(printf '%s\n' "${pods[@]}") <(echo "$sent_until") <(echo "$before") | while read -r name was now; do
  case $name in
    stays | early-*) wanted=0 ;;
    *) wanted=1 ;;
  esac
  # What ended without a server may be told in two: that it ended, and that all of it has stopped.
  [ $((now - was)) -le $((wanted * 2)) ] || fail "$((now - was)) statuses of $name after the return"
  echo "$name: $((now - was)) statuses after the return"
done
violations=$(ask '{"do":"violations"}')
grep -q '"total":0' <<<"$violations" || fail "the runtime saw: $violations"
expect_nothing_denied $node
stop_agent
