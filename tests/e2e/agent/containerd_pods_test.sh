#!/usr/bin/env bash
# containerd_pods_test.sh DENSELET: a node that stands alone runs static pods on containerd and runc: a server with a sidecar and
# an init container, a job, one that fails again and again. The agent is killed, and containerd while pods come and go; containers
# go on. Run by containerd.sh run.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
write_config "cgroupDriver: cgroupfs
cgroupsPerQOS: false
cgroupRoot: $DENSELET_CGROUP
enforceNodeAllocatable: []
$stands_alone"
manifest() { # NAME SPEC
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\nspec:\n  terminationGracePeriodSeconds: 2\n%s\n' \
    "$1" "$2" >"$work/manifests/$1.yaml"
}
image="image: $DENSELET_IMAGE, imagePullPolicy: Never"
forever='exec sleep 10007'
manifest server "  initContainers:
  - {name: init, $image, command: [sh, -c, 'echo prepared']}
  - {name: side, $image, restartPolicy: Always, command: [sh, -c, 'echo beside; $forever']}
  containers:
  - name: main
    image: $DENSELET_IMAGE
    imagePullPolicy: Never
    command: [sh, -c, 'echo hello \$(WHO); $forever']
    env: [{name: WHO, value: world}]
    lifecycle: {postStart: {exec: {command: [sh, -c, 'echo > /tmp/begun']}}}"
manifest job "  restartPolicy: OnFailure
  containers:
  - {name: main, $image, command: [sh, -c, 'echo done']}"
manifest loop "  containers:
  - {name: main, $image, command: [sh, -c, 'echo again; exit 3']}"
manifest broken "  containers:
  - {name: main, image: 'localhost/absent:1', imagePullPolicy: Never}"

log_of() { compgen -G "$work/logs/default_$1-alone_*/$2/$3.log"; } # POD CONTAINER ATTEMPT
log_says() { grep -q " stdout F $4\$" "$(log_of "$1" "$2" "$3")"; } # POD CONTAINER ATTEMPT TEXT
server_runs() { log_says server init 0 prepared && log_says server side 0 beside && log_says server main 0 'hello world'; }

start_agent alone --config "$work/config" --container-runtime-endpoint "$CONTAINER_RUNTIME_ENDPOINT"
soon 60 "the server" server_runs
# Who collects logs finds them by their links, and reads pod, namespace, container and id from the names.
links_of() { compgen -G "$work/links/$1-alone_default_$2-*.log"; } # POD CONTAINER
linked() { [ "$(readlink "$(links_of "$1" "$2")")" = "$(log_of "$1" "$2" 0)" ]; } # POD CONTAINER
for container in init side main; do soon 10 "the link to the log of $container" linked server $container; done
ctr containers list -q | grep -qxF "$(links_of server main | sed 's/.*-//; s/\.log$//')" || fail "the link does not name its container"
soon 20 "the job" log_says job main 0 "done"
soon 40 "a second try of the loop" log_of loop main 1
[ -z "$(log_of job main 1)" ] || fail "the job ran twice"

soon 90 "a third try of the loop" log_of loop main 2
kept_logs() { [ "$(ls "$work/logs/default_loop-alone_"*/main | wc -l)" -le 2 ] && [ -z "$(log_of loop main 0)" ]; }
soon 10 "the end of the loop's oldest log" kept_logs
kept_links() { [ "$(links_of loop main | wc -l)" -le 2 ]; }
soon 10 "the end of the link to it" kept_links

server_pids() { pgrep -f '^sleep 10007' | sort; }
before=$(server_pids)
[ "$(wc -l <<<"$before")" -eq 2 ] || fail "the server's processes: $before"
kill -9 "$agent"
wait "$agent" || true
ln -s "$work/logs/default_gone_1/main/0.log" "$work/links/gone_default_main-0123456789abcdef.log" # as a killed one leaves it
start_agent alone --config "$work/config" --container-runtime-endpoint "$CONTAINER_RUNTIME_ENDPOINT"
soon 20 "the pods after a restart" logged '"Pod source is ready"'
let_it_run 3
[ "$(server_pids)" = "$before" ] || fail "a restart of the agent changed the server's containers"
[ -z "$(log_of server main 1)" ] || fail "a restart of the agent started the server again"
soon 20 "the end of a link that leads nowhere" bash -c "! [ -L '$work/links/gone_default_main-0123456789abcdef.log' ]"
linked server main || fail "the link to a log that is there is gone"

# Pods come and go while containerd is killed, again and again: what runs goes on, and its events are heard again.
short() { manifest "churn-$1" "  containers:
  - {name: main, $image, command: [sh, -c, 'echo churn $1; exec sleep 10009']}"; } # NUMBER
churn() {
  local i=0
  while [ -e "$work/churning" ]; do
    short $((++i))
    rm -f "$work/manifests/churn-$((i - 3)).yaml"
    sleep 0.5
  done
  echo $i >"$work/churned"
}
evented() { grep -c '"PLEG changed its mode" mode="events"' "$log" || true; }
evented_again() { [ "$(evented)" -gt "$events_before" ]; }
: >"$work/churning"
churn &
churner=$!
agents+=($churner)
soonest=999999
for _ in 1 2 3; do
  let_it_run 2
  events_before=$(evented)
  containerd.sh kill
  let_it_run 1
  containerd.sh start
  begun=$(date +%s%N)
  [ "$DENSELET_CONTAINERD_VERSION" != 1.6 ] || continue # it has none
  soon 10 "events after containerd's return" evented_again
  took=$((($(date +%s%N) - begun) / 1000000))
  soonest=$((took < soonest ? took : soonest))
  echo "Events were heard again $took ms after containerd's return"
done
# Other tests of the machine may delay one of them.
[ "$DENSELET_CONTAINERD_VERSION" = 1.6 ] || [ "$soonest" -le 2000 ] || fail "events come back $soonest ms after containerd at the soonest"
rm "$work/churning"
wait $churner
churned=$(cat "$work/churned")
# cut_off NUMBER: containerd died while it was started, so that its next instance may have to take its place.
cut_off() { grep -q "object=\"default/churn-$1-alone\".* reason=\"Failed\"" "$log"; }
churn_runs() { # the last three, and no other
  local i
  for ((i = churned - 2; i <= churned; ++i)); do
    log_says "churn-$i" main 0 "churn $i" || { cut_off "$i" && log_says "churn-$i" main 1 "churn $i"; } || return 1
  done
  [ "$(pgrep -fc '^sleep 10009')" = 3 ]
}
soon 60 "the last three of $churned pods, and no other" churn_runs
for ((i = churned - 2; i <= churned; ++i)); do
  [ -z "$(log_of "churn-$i" main 1)" ] || cut_off "$i" || fail "a pod was started twice"
done
[ "$(server_pids)" = "$before" ] || fail "restarts of containerd changed the server's containers"
manifest late "  containers:
  - {name: main, $image, command: [sh, -c, 'echo late; exec sleep 10008']}"
soon 30 "a pod after the runtime's restart" log_says late main 0 late
[ "$(server_pids)" = "$before" ] || fail "a restart of containerd changed the server's containers"

find "$work/manifests" -name '*.yaml' -delete
# containerd that died between a task's creation and its start keeps that task, takes its container for ended and refuses to
# remove it ("cannot delete running task") until it is started again. The task is runc's, before any process of the container.
all_gone() { [ -z "$(ctr containers list -q)" ]; }
if ! within 20 all_gone && ctr tasks list | grep -q CREATED; then
  containerd.sh kill
  containerd.sh start
fi
soon 60 "the end of all containers" all_gone
soon 10 "no logs" bash -c "[ -z \"\$(ls -A '$work/logs')\" ]"
soon 10 "no links" bash -c "[ -z \"\$(ls -A '$work/links')\" ]"
soon 10 "no directories" bash -c "[ -z \"\$(ls -A '$work/alone/pods')\" ]"
stop_agent
