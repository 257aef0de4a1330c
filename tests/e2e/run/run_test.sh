#!/usr/bin/env bash
# run_test.sh PROGRAMS FORM: what ./dev run starts, in one of its forms (containerd, sim, cluster), does what it says, shows it,
# and leaves nothing when it is ended: by SIGTERM, Ctrl-C, the end of its time, or the end of its terminal.
set -euo pipefail
programs=$1 form=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
node_script=$here/../../../scripts/run/node.sh
# shellcheck source=/dev/null
. "$here/../agent/lib.sh"
folder=$work/run
ctl() { "$folder/ctl" "$@"; }
has() { grep -qE -- "$1" <<<"$(ctl pods)"; } # PATTERN
printed() { grep -qE -- "$1" "$work/output.log"; } # PATTERN

# begin ARGS...: in a group of its own and with SIGINT as a terminal's programs have it; sets run.
begin() {
  setsid env --default-signal=INT "$node_script" --programs "$programs" --folder "$folder" "$@" >"$work/output.log" 2>&1 </dev/null &
  run=$!
  agents+=("$run")
}

# who_is_in NAMESPACE: the processes in it; its brackets are no pattern. One that has ended and whom its parent, the
# machine's first process, has not asked for yet, is in none.
who_is_in() {
  local pid
  for pid in $(find /proc -maxdepth 3 -path '/proc/[0-9]*/ns/*' -lname "${1//[/\\[}" 2>/dev/null | cut -d/ -f3); do
    if grep -qs '^State:.*[^Z] (' "/proc/$pid/status"; then echo "$pid"; fi
  done
}
cgroups_now() { [ -z "$cgroup" ] || find /sys/fs/cgroup -maxdepth 3 -name "$cgroup"; }

# remember: the namespaces and cgroups of the run, to look for them when it is over.
namespaces=() cgroup=
remember() {
  [ -e "$folder/containerd/run/init.pid" ] || return 0
  local init name held
  init=$(cat "$folder/containerd/run/init.pid")
  for name in mnt net pid; do
    namespaces+=("$(readlink "/proc/$init/ns/$name")")
    exec {held}<"/proc/$init/ns/$name" # or its number may be given to another one
    [ -n "$(who_is_in "${namespaces[-1]}")" ] || fail "nobody is in ${namespaces[-1]}, not even its first process"
  done
  cgroup=$(sed -n 's|^cgroup=/||p' "$folder/containerd/settings")
  [ -n "$(cgroups_now)" ] || fail "there is no cgroup $cgroup"
}

nothing_runs() { (expect_nothing_runs) 2>/dev/null; }
expect_nothing_runs() {
  local name
  if pgrep -f "$folder/" >/dev/null; then fail "processes are left: $(pgrep -fa "$folder/")"; fi
  if grep -q "$folder" /proc/mounts; then fail "mounts are left: $(grep "$folder" /proc/mounts)"; fi
  for name in "${namespaces[@]}"; do
    [ -z "$(who_is_in "$name")" ] || fail "the namespace $name is left, with $(who_is_in "$name" | xargs ps -fp)"
  done
  [ -z "$(cgroups_now)" ] || fail "cgroups are left: $(cgroups_now)"
}
expect_nothing_left() {
  local name
  expect_nothing_runs
  name=$(ls "$folder" | grep -vx -e lock -e agent.log || true)
  [ -z "$name" ] || fail "files are left: $name"
}

# end SIGNAL STATUS: to the group, as a terminal sends it.
end() {
  local status=0
  remember
  kill "-$1" -- -"$run"
  timeout 30 tail --pid="$run" -s 0.1 -f /dev/null || fail "it did not end in time after SIG$1"
  wait "$run" || status=$?
  [ "$status" = "$2" ] || fail "it ended with $status after SIG$1"
  expect_nothing_left
}

test_containerd() {
  begin
  soon 20 "the server" has '^default +server-run +1/1 +Running '
  soon 20 "init container, sidecar, main container" has '^default +sidecar-run +2/2 +Running '
  soon 20 "the end of the job" has '^default +job-run +0/1 +Completed '
  soon 20 "the crash loop" has '^default +crash-run +0/1 +CrashLoopBackOff +[1-9]'
  soon 10 "the table" printed 'default +crash-run +0/1 +CrashLoopBackOff'
  printed 'Ctrl-C ends all' || fail "it does not say what to try"
  grep -q RUNNING <<<"$("$folder/ctr" tasks ls)" || fail "containerd has no running container"
  # One at a time in a folder.
  if "$node_script" --programs "$programs" --folder "$folder" >"$work/second" 2>&1; then fail "a second run was started"; fi
  grep -q "a run is under way in $folder already" "$work/second" || fail "a second run says: $(cat "$work/second")"
  end INT 130
  # Killed, it ends nothing itself; but nothing outlives it, and the next one goes on from there.
  begin
  soon 20 "the server" has '^default +server-run +1/1 +Running '
  remember
  kill -9 "$run"
  wait "$run" || true
  soon 20 "the end of all that it had" nothing_runs
  begin --for 1s
  wait "$run" || fail "the next one ended with $?"
  expect_nothing_left
}

test_sim() {
  begin --sim 200
  soon 30 "pods that run" has '^default +server-199-run +1/1 +Running '
  soon 30 "jobs that have ended" has '^default +job-111-run +0/1 +Completed '
  end TERM 143
  # The end of its time; in a folder with a name that is too long for sockets.
  local status=0
  folder=$work/$(printf 'long%.0s' {1..25})
  mkdir "$work/t"
  TMPDIR=$work/t begin --sim 5 --for 2s
  timeout 40 tail --pid="$run" -s 0.1 -f /dev/null || fail "--for 2s takes longer"
  wait "$run" || status=$?
  [ "$status" = 0 ] || fail "it ended with $status after its time"
  expect_nothing_left
  [ -z "$(ls -A "$work/t")" ] || fail "a folder with sockets is left"
  folder=$work/run
  test_terminal
  # Nobody's files are removed.
  mkdir "$work/other" && touch "$work/other/mine"
  if "$node_script" --programs "$programs" --folder "$work/other" --sim 1 >"$work/second" 2>&1; then fail "it took somebody's folder"; fi
  [ -e "$work/other/mine" ] || fail "it removed somebody's file"
  # An agent that ends is told.
  begin --sim 5
  soon 20 "the table" printed 'on node run'
  agent_pid() { pgrep -f "$programs/src/app/denselet --hostname-override run --root-dir $folder/"; }
  soon 20 "an agent" agent_pid
  kill -9 "$(agent_pid | head -1)"
  timeout 30 tail --pid="$run" -s 0.1 -f /dev/null || fail "it goes on without its agent"
  if wait "$run"; then fail "it calls the death of its agent a success"; fi
  printed 'the agent has ended' || fail "it does not say that the agent has ended"
  expect_nothing_left
}

# On a terminal the table is drawn again and again; the terminal goes away.
test_terminal() {
  script -qfec "stty rows 40 cols 120; exec $node_script --programs $programs --folder $folder --sim 5" "$work/output.log" >/dev/null 2>&1 </dev/null &
  run=$!
  agents+=("$run")
  soon 20 "the table on a terminal" printed $'\x1b\\[H.*denselet .* on node run'
  soon 10 "pods in it" printed '1/1 +Running'
  printed 'To try, in another terminal' || fail "it does not say what to try"
  kill -9 "$run"
  no_process() { ! pgrep -f "$folder/"; }
  soon 20 "its end with the terminal" no_process
  unlocked() { flock -n "$folder/lock" true; }
  soon 10 "the end of the script" unlocked
  expect_nothing_left
}

test_cluster() {
  begin --cluster
  soon 60 "the start" printed 'To try, in another terminal'
  # As somebody outside, who was told a KUBECONFIG.
  KUBECONFIG=$(sed -n 's/.*export KUBECONFIG=\([^ ]*\).*/\1/p' "$work/output.log")
  export KUBECONFIG PATH="$DENSELET_PEERS:$PATH"
  kubectl run one --image=localhost/busybox:1 -- sleep 1000 >/dev/null
  kubectl create deployment more --image=localhost/busybox:1 --replicas=3 -- sleep 1000 >/dev/null
  kubectl create job once --image=localhost/busybox:1 -- echo done >/dev/null
  kubectl wait --for=condition=Ready node/run --timeout=30s >/dev/null
  kubectl wait --for=condition=Ready pod/one --timeout=60s >/dev/null
  kubectl wait --for=condition=Available deployment/more deployment/web --timeout=60s >/dev/null
  kubectl wait --for=condition=Complete job/once job/work --timeout=60s >/dev/null
  has '^default +one +1/1 +Running ' || fail "denseletctl does not show the pod"
  [ "$(kubectl get pods --field-selector=spec.nodeName=run --no-headers | wc -l)" = 8 ] || fail "$(kubectl get pods -o wide)"
  kubectl delete pod one --grace-period=1 --timeout=30s >/dev/null
  end HUP 129
}

"test_$form"
