#!/usr/bin/env bash
# containerd_pods_test.sh DENSELET: a node that stands alone runs static pods on containerd and runc: a server with a sidecar and
# an init container, a job, one that fails again and again. The agent and containerd are killed; containers go on. Run by
# containerd.sh run.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mkdir "$work/manifests"
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
staticPodPath: $work/manifests
podLogsDir: $work/logs
cgroupDriver: cgroupfs
cgroupsPerQOS: false
cgroupRoot: $DENSELET_CGROUP
enforceNodeAllocatable: []
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
CONFIG
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
soon 20 "the job" log_says job main 0 "done"
soon 40 "a second try of the loop" log_of loop main 1
[ -z "$(log_of job main 1)" ] || fail "the job ran twice"

soon 90 "a third try of the loop" log_of loop main 2
kept_logs() { [ "$(ls "$work/logs/default_loop-alone_"*/main | wc -l)" -le 2 ] && [ -z "$(log_of loop main 0)" ]; }
soon 10 "the end of the loop's oldest log" kept_logs

server_pids() { pgrep -f '^sleep 10007' | sort; }
before=$(server_pids)
[ "$(wc -l <<<"$before")" -eq 2 ] || fail "the server's processes: $before"
kill -9 "$agent"
wait "$agent" || true
start_agent alone --config "$work/config" --container-runtime-endpoint "$CONTAINER_RUNTIME_ENDPOINT"
soon 20 "the pods after a restart" logged '"Pod source is ready"'
let_it_run 3
[ "$(server_pids)" = "$before" ] || fail "a restart of the agent changed the server's containers"
[ -z "$(log_of server main 1)" ] || fail "a restart of the agent started the server again"

containerd.sh kill
containerd.sh start
manifest late "  containers:
  - {name: main, $image, command: [sh, -c, 'echo late; exec sleep 10008']}"
soon 30 "a pod after the runtime's restart" log_says late main 0 late
[ "$(server_pids)" = "$before" ] || fail "a restart of containerd changed the server's containers"

find "$work/manifests" -name '*.yaml' -delete
soon 60 "the end of all containers" bash -c '[ -z "$(ctr containers list -q)" ]'
soon 10 "no logs" bash -c "[ -z \"\$(ls -A '$work/logs')\" ]"
soon 10 "no directories" bash -c "[ -z \"\$(ls -A '$work/alone/pods')\" ]"
stop_agent
