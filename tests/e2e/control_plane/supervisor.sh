#!/usr/bin/env bash
# supervisor.sh FOLDER OWNER MINUTES: the parent of one control plane's processes. It starts and stops them as lines in
# FOLDER/control say ("start kube-apiserver"), and ends with all of them when it is told to (TERM), when process OWNER is
# gone, or when the time is over (0: never). If it is killed itself, the kernel kills them. What gives up by itself is
# started again: controllers do when the API server goes away while they begin.
set -euo pipefail
folder=$1 owner=$2 minutes=$3
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/components.sh"
load_ports
stop_seconds_max=3
declare -A pids

write_pid() { # NAME TEXT; at once, so that nobody reads half of it
  echo "$2" >"$folder/run/$1.new"
  mv "$folder/run/$1.new" "$folder/run/$1.pid"
}

running() { [ -n "${pids[$1]:-}" ] && kill -0 "${pids[$1]}" 2>/dev/null; }

start() { # NAME
  if ! running "$1"; then
    component_command "$1"
    setpriv --pdeathsig KILL -- "${command[@]}" >>"$folder/log/$1.log" 2>&1 </dev/null 3>&- &
    pids[$1]=$!
  fi
  write_pid "$1" "${pids[$1]}"
}

stop() { # NAME
  if running "$1"; then
    kill "${pids[$1]}" 2>/dev/null || true
    timeout "$stop_seconds_max" tail --pid="${pids[$1]}" -s 0.1 -f /dev/null || kill -9 "${pids[$1]}" 2>/dev/null || true
    wait "${pids[$1]}" 2>/dev/null || true
  fi
  pids[$1]=
}

# Those whom a kubelet would start again; tests kill the others to see them gone.
restart_what_gave_up() {
  local name
  for name in kube-controller-manager kube-scheduler; do
    if [ -n "${pids[$name]:-}" ] && ! running "$name"; then
      echo "$name gave up and is started again"
      start "$name"
    fi
  done
}

# Nothing of theirs is kept, so nobody has to wait for their good-byes.
end() {
  local name
  for name in "${!pids[@]}"; do
    if running "$name"; then kill -9 "${pids[$name]}" 2>/dev/null || true; fi
  done
  wait
  rm -f "$folder"/run/*.pid
  if [ -e "$folder/temporary" ]; then rm -rf "$folder"; fi
}
trap end EXIT
trap 'exit 0' TERM INT

exec 3<>"$folder/control"
write_pid supervisor $$ # from here on lines are read
while kill -0 "$owner" 2>/dev/null && { [ "$minutes" = 0 ] || [ "$SECONDS" -lt $((minutes * 60)) ]; }; do
  if ! read -r -t 0.5 verb name <&3; then
    restart_what_gave_up
    continue
  fi
  case $verb in
    start) start "$name" ;;
    stop) stop "$name" && write_pid "$name" "" ;;
    restart) stop "$name" && start "$name" ;;
  esac
done
echo "Ended: owner $owner is gone or $minutes minutes are over"
