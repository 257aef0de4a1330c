#!/usr/bin/env bash
# A node for people: denselet on sample pods, with a live table. Ctrl-C, SIGTERM, or the end of the terminal ends it, and
# nothing is left: no process, mount, namespace or cgroup. Called by ./dev run, which builds what it needs.
#
#   node.sh --programs FOLDER --folder FOLDER [--for TIME]               static pods on a containerd of its own; needs root
#   node.sh --programs FOLDER --folder FOLDER [--for TIME] --sim N       N static pods on the simulated runtime
#   node.sh --programs FOLDER --folder FOLDER [--for TIME] --cluster     pods of a real control plane; DENSELET_PEERS
#                                                                        names its programs; needs root
#
# --programs is a build folder, --folder one that this run may make and empty: agent.log stays in it until the next one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
e2e=$root/tests/e2e
export PATH=$e2e:$PATH
node=run
ready_seconds_max=60

die() {
  echo "error: $*" >&2
  exit 1
}

form=containerd pods=0 for= programs= folder=
while [ $# -gt 0 ]; do
  case $1 in
    --programs) programs=$2 ;;
    --folder) folder=$(realpath -m -- "$2") ;;
    --for) for=$2 ;;
    --sim) form=sim pods=$2 ;;
    --cluster)
      form=cluster
      shift
      continue
      ;;
    *) die "node.sh: unknown argument '$1'" ;;
  esac
  shift 2
done
[[ -z $for || $for =~ ^[0-9]+(s|m)$ ]] || die "--for wants a time such as 30s or 5m, not '$for'"
[[ $form != sim || $pods =~ ^[1-9][0-9]{0,4}$ ]] || die "--sim wants a number of pods, 1 to 99999, not '$pods'"
[ "$form" = sim ] || [ "$(id -u)" = 0 ] || die "a container runtime needs root; './dev run --sim 100' does without"
denselet=$programs/src/app/denselet ctl=$programs/src/app/ctl/denseletctl
cri_sim=$programs/bench/cri_sim/cri_sim bridge=$programs/tests/e2e/port_bridge
for part in form_sim form_containerd form_cluster; do
  # shellcheck source=/dev/null
  . "$here/$part.sh"
done

# One at a time in a folder. The lock is this process's alone: no child inherits it.
[ ! -e "$folder" ] || [ -e "$folder/lock" ] || [ -z "$(ls -A "$folder")" ] || die "$folder holds something else"
mkdir -p "$folder"
exec 9>"$folder/lock"
flock -n 9 || die "a run is under way in $folder already"

children=()
# start NAME COMMAND...: beside this script, and never longer than it; its output goes to NAME.log.
start() {
  local name=$1
  shift
  setpriv --pdeathsig KILL -- "$@" >"$folder/$name.log" 2>&1 </dev/null 9>&- &
  children+=($!)
  pid=$!
}

# The agent mounts its root onto itself where mounts would not propagate otherwise.
leave_root() { umount --recursive "$folder/agent" 2>/dev/null || true; }

ending=
clean_up() {
  local status=$? child
  set +e # a terminal that is gone fails every word, and all the rest must happen
  trap '' INT TERM HUP PIPE
  [ -z "$ending" ] || return "$status"
  ending=yes
  [ ! -t 1 ] || echo
  echo "Stopping"
  for child in "${children[@]}"; do kill -TERM "$child" 2>/dev/null || true; done
  # What does not end by itself at once is ended.
  for child in "${children[@]}"; do
    timeout 5 tail --pid="$child" -s 0.05 -f /dev/null || kill -9 "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  done
  "end_$form"
  leave_root
  find "$folder" -mindepth 1 -maxdepth 1 ! -name lock ! -name agent.log -exec rm -rf {} +
  [ -z "$short" ] || rm -rf "$short"
  if [ "$status" != 0 ] && [ "$status" -lt 128 ]; then
    [ ! -s "$folder/agent.log" ] || { echo "--- the last lines of $folder/agent.log" && tail -n 20 "$folder/agent.log"; } >&2
  fi
  exit "$status"
}
short=
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 141' PIPE
# One that was killed may still be ending.
[ ! -p "$folder/containerd/control" ] || containerd.sh down "$folder/containerd"
leave_root
find "$folder" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +
mkdir "$folder/manifests"

# Paths of sockets have to be short.
sockets=$folder
if [ ${#folder} -gt 80 ]; then
  short=$(mktemp -d "${TMPDIR:-/tmp}/denselet-XXXXXX")
  sockets=$short
fi
socket=$sockets/denselet.sock

# soon WHAT PID COMMAND...: until the command succeeds; fails when process PID ends before.
soon() {
  local what=$1 of=$2 end=$((SECONDS + ready_seconds_max))
  shift 2
  until "$@" >/dev/null 2>&1; do
    kill -0 "$of" 2>/dev/null || die "$what: it ended"
    [ "$SECONDS" -lt "$end" ] || die "$what took longer than $ready_seconds_max s"
    sleep 0.1
  done
}

# write_config LINES...: the kubelet's configuration, for each form the same but for these.
write_config() {
  cat >"$folder/config.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
podLogsDir: $folder/logs
enforceNodeAllocatable: []
CONFIG
  printf '%s\n' "$@" >>"$folder/config.yaml"
}
alone=("authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}" "authorization: {mode: AlwaysAllow}"
  "staticPodPath: $folder/manifests")
agent_command=("$denselet" --hostname-override "$node" --root-dir "$folder/agent" --cert-dir "$folder/agent/pki"
  --config "$folder/config.yaml" --denselet-socket "$socket" --denselet-container-logs-dir "$folder/links")

# program NAME TEXT: a small program in the folder, for people to call.
program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
  chmod 755 "$folder/$1"
}
shown=$folder
[[ $folder != "$PWD"/* ]] || shown=${folder#"$PWD"/}

"begin_$form"
program ctl "DENSELET_SOCKET=$socket exec $ctl \"\$@\""
soon "the start of the agent" "$agent" "$ctl" --socket "$socket" agent
hints=$("hints_$form")
top=("$ctl" --socket "$socket" top)
[ -z "$for" ] || top+=(--for "$for")
if [ -t 1 ]; then
  top+=(--note "$hints")
  clear 2>/dev/null || true
else
  echo "$hints"
fi
setpriv --pdeathsig TERM -- "${top[@]}" </dev/null 9>&- &
top_pid=$!
children+=("$top_pid")
status=0
wait -n "$top_pid" "$agent" || status=$?
kill -0 "$agent" 2>/dev/null || die "the agent has ended"
exit "$status"
