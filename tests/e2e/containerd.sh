#!/usr/bin/env bash
# A private container runtime for tests: containerd with CNI and two images made here, in namespaces of its own (mounts,
# network, processes), so that nothing of it is seen outside and all of it ends at once. Needs root; ready in a second.
#
#   containerd.sh up FOLDER [--version V] [--owner PID] [--minutes N]   starts one in FOLDER, returns when it is ready
#   containerd.sh use FOLDER COMMAND...                                 runs the command in its namespaces
#   containerd.sh down FOLDER                                           ends it with all its containers, removes FOLDER
#   containerd.sh run [--version V] [--minutes N] COMMAND...            the three in one, in a folder nobody else has
#
# V is 1.7 (the installed one: with CRI's events) or 1.6 (Debian 12's, unpacked beside it: without).
# An instance ends by itself when its owner (up: the caller) is gone, or after N minutes (15; 0: never).
#
# A command that it runs is root on a network with nothing but the loopback and its pods, and sees
#   CONTAINER_RUNTIME_ENDPOINT   unix:///run/containerd/containerd.sock; /run is the instance's own
#   CONTAINERD_NAMESPACE         k8s.io, for ctr, which is in the PATH in the runtime's own version
#   DENSELET_CONTAINERD          FOLDER: log/containerd.log, run/containerd.pid (as seen inside)
#   DENSELET_CONTAINERD_VERSION  1.7 or 1.6
#   DENSELET_CGROUP              /denselet-...: cgroups below it are removed when the instance ends
#   DENSELET_IMAGE               localhost/busybox:1, which is there already; DENSELET_IMAGE_ARCHIVE: as an OCI archive
# and may call
#   containerd.sh start|stop|kill|restart   of containerd alone; its containers go on. start and restart return when it
#                                           answers, kill is SIGKILL
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
poll_seconds=0.05
ready_seconds_max=60 # on a machine that builds beside it; else one
cache=${DENSELET_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/denselet}

die() {
  echo "containerd.sh: $*" >&2
  exit 1
}

show_logs() {
  local log
  for log in "$folder"/log/*.log; do
    [ -s "$log" ] || continue
    printf -- '--- the last lines of %s\n' "${log##*/}"
    tail -n 30 "$log"
  done >&2
}

fail_with_logs() { # TEXT
  echo "containerd.sh: $1" >&2
  show_logs
  exit 1
}

# take_options ARGS...: sets version, owner and minutes, and rest to what is left.
take_options() {
  version=1.7 owner=$PPID minutes=15
  while [ $# -gt 0 ]; do
    case $1 in
      --version) version=${2:?} ;;
      --owner) owner=${2:?} ;;
      --minutes) minutes=${2:?} ;;
      *) break ;;
    esac
    shift 2
  done
  rest=("$@")
}

# choose_runtime: sets bin to the folder of containerd, its shim and ctr.
choose_runtime() {
  case $version in
    1.7) bin=/usr/bin ;;
    1.6) bin=$("$here/containerd/older_runtime.sh" "$cache") || exit $? ;;
    *) die "there is no version '$version': 1.7 or 1.6" ;;
  esac
  [ -x "$bin/containerd" ] || die "there is no $bin/containerd; ./dev setup brings it"
}

# A folder that may be emptied: new, or an instance's.
check_folder() {
  [ ! -e "$folder" ] || [ -p "$folder/control" ] || [ -z "$(ls -A "$folder")" ] || die "$folder holds something else"
}

living() { [ -n "$1" ] && grep -qsz containerd/supervisor.sh "/proc/$1/cmdline"; } # PID of a supervisor
supervisor_pid() { cat "$folder/run/supervisor.pid" 2>/dev/null || true; }

bring_up() { # [temporary]
  [ "$(id -u)" = 0 ] || die "a container runtime needs root"
  choose_runtime
  check_folder
  if living "$(supervisor_pid)"; then die "a runtime runs in $folder already; 'containerd.sh down $folder' ends it"; fi
  rm -rf "$folder"
  mkdir -p "$folder/log" "$folder/run" "$folder/cni" "$folder/images"
  mkfifo "$folder/control"
  [ -z "${1:-}" ] || : >"$folder/temporary"
  printf 'version=%s\nbin=%s\ncgroup=/denselet-%s\n' "$version" "$bin" "$(basename "$(mktemp -u XXXXXXXX)")" >"$folder/settings"
  "$here/containerd/images.sh" "$folder/images"
  "$here/containerd/config.sh" "$folder" >"$folder/config.toml"
  setsid "$here/containerd/supervisor.sh" "$folder" "$owner" "$minutes" >"$folder/log/supervisor.log" 2>&1 </dev/null &
  local supervisor=$!
  while kill -0 "$supervisor" 2>/dev/null && [ ! -s "$folder/run/init.pid" ]; do sleep "$poll_seconds"; done
  [ -s "$folder/run/init.pid" ] || fail_with_logs "its namespaces could not be made"
  enter containerd.sh start >/dev/null
  enter "$here/containerd/import.sh" "$folder/images" >>"$folder/log/import.log" 2>&1 ||
    fail_with_logs "the images could not be imported"
}

# enter COMMAND...: in the instance's namespaces and environment. The command ends when this script does.
enter() {
  # shellcheck source=/dev/null
  . "$folder/settings"
  local init
  init=$(cat "$folder/run/init.pid" 2>/dev/null) || fail_with_logs "no runtime runs in $folder"
  env PATH="$bin:$here:$PATH" DENSELET_CONTAINERD="$folder" DENSELET_CONTAINERD_VERSION="$version" \
    DENSELET_CGROUP="$cgroup" DENSELET_IMAGE=localhost/busybox:1 \
    DENSELET_IMAGE_ARCHIVE="$folder/images/busybox.tar" CONTAINERD_NAMESPACE=k8s.io \
    CONTAINER_RUNTIME_ENDPOINT=unix:///run/containerd/containerd.sock \
    setpriv --pdeathsig KILL -- nsenter --target "$init" --mount --net --pid --wd="$PWD" -- \
    setpriv --pdeathsig KILL -- "$@"
}

run_inside() {
  local status=0
  [ ${#rest[@]} -gt 0 ] || die "which command?"
  enter "${rest[@]}" <&0 &
  command_pid=$!
  wait "$command_pid" || status=$?
  [ "$status" = 0 ] || show_logs
  return "$status"
}

command_pid=
end_command() { [ -z "$command_pid" ] || kill "$command_pid" 2>/dev/null || true; }

end_supervisor() {
  local pid
  pid=$(supervisor_pid)
  living "$pid" || return 0
  kill "$pid" 2>/dev/null || return 0
  timeout 30 tail --pid="$pid" -s "$poll_seconds" -f /dev/null || die "the supervisor $pid does not end"
}

# tell VERB: to the first process of the instance, which has counted it when it is done.
tell() {
  local before begun=$SECONDS
  before=$(cat "$folder/run/told")
  echo "$1" 1<>"$folder/control"
  while [ "$(cat "$folder/run/told")" = "$before" ]; do
    [ $((SECONDS - begun)) -lt "$ready_seconds_max" ] || fail_with_logs "containerd did not $1 in time"
    sleep "$poll_seconds"
  done
}

wait_until_ready() {
  local begun=$SECONDS
  until timeout 5 ctr version >/dev/null 2>&1; do
    [ $((SECONDS - begun)) -lt "$ready_seconds_max" ] || fail_with_logs "containerd was not ready in time"
    kill -0 "$(cat "$folder/run/containerd.pid")" 2>/dev/null || fail_with_logs "containerd ended"
    sleep "$poll_seconds"
  done
}

trap 'exit 130' INT
trap 'exit 143' TERM
verb=${1:-help}
[ $# -gt 0 ] && shift
case $verb in
  up)
    folder=$(realpath -m -- "${1:?which folder?}")
    take_options "${@:2}"
    trap end_supervisor EXIT # when it does not become ready
    bring_up
    trap - EXIT
    ;;
  use)
    folder=$(realpath -m -- "${1:?which folder?}") rest=("${@:2}")
    trap end_command EXIT
    run_inside
    ;;
  down)
    folder=$(realpath -m -- "${1:?which folder?}")
    check_folder
    end_supervisor
    rm -rf "$folder"
    ;;
  run)
    take_options "$@"
    owner=$$ folder=$(mktemp -d)
    trap 'end_command; end_supervisor; rm -rf "$folder"' EXIT
    bring_up temporary
    run_inside
    ;;
  start | stop | kill | restart)
    folder=${DENSELET_CONTAINERD:?run this inside of an instance}
    case $verb in
      start) tell start && wait_until_ready ;;
      stop | kill) tell "$verb" ;;
      restart) tell stop && tell start && wait_until_ready ;;
    esac
    ;;
  help | -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" ;;
  *) die "unknown verb '$verb' (containerd.sh help)" ;;
esac
