# One instance: its folder, its supervisor, and a command that runs beside it. Sourced by control_plane.sh.

poll_seconds=0.1
ready_seconds_max=120 # on a machine that builds beside it; else a few

pid_of() { cat "$folder/run/$1.pid" 2>/dev/null || true; } # NAME

# living NAME: whether the process of that name runs, and not another one that came to its number later.
living() {
  local pid
  pid=$(pid_of "$1")
  [ -n "$pid" ] || return 1
  tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$1"
}

# A folder that may be emptied: new, or an instance's.
check_folder() {
  [ ! -e "$folder" ] || [ -p "$folder/control" ] || [ -z "$(ls -A "$folder")" ] || die "$folder holds something else"
}

show_logs() {
  local log
  for log in "$folder"/log/*.log; do
    [ -s "$log" ] || continue
    printf -- '--- the last lines of %s\n' "${log##*/}"
    tail -20 "$log"
  done >&2
}

# fail_with_logs TEXT
fail_with_logs() {
  echo "control_plane.sh: $1" >&2
  show_logs
  exit 1
}

# ask_supervisor VERB NAME: it takes its time; wait_until_ready or wait_until_gone follows.
declare -A pid_before
ask_supervisor() {
  [[ " ${component_names[*]} " == *" $2 "* ]] || die "there is no process '$2': ${component_names[*]}"
  living supervisor || fail_with_logs "the control plane in $folder does not run"
  # Others may wait for one that is started only, so its file stays.
  [ "$1" = start ] || rm -f "$folder/run/$2.pid"
  pid_before[$2]=$(pid_of "$2")
  echo "$1 $2" 1<>"$folder/control"
}

wait_until_ready() { # NAME
  local begun=$SECONDS pid
  load_ports
  while [ $((SECONDS - begun)) -lt "$ready_seconds_max" ]; do
    if living "$1" && component_ready "$1"; then return; fi
    pid=$(pid_of "$1")
    if [[ $1 = etcd || $1 = kube-apiserver ]] && # the supervisor starts the others again
      [ -n "$pid" ] && [ "$pid" != "${pid_before[$1]}" ] && ! kill -0 "$pid" 2>/dev/null; then
      fail_with_logs "$1 ended"
    fi
    living supervisor || fail_with_logs "the supervisor ended"
    sleep "$poll_seconds"
  done
  fail_with_logs "$1 was not ready in time"
}

# The supervisor writes an empty file of the pid when it has stopped the process.
wait_until_gone() { # NAME
  while living supervisor && ! [ -e "$folder/run/$1.pid" ]; do sleep "$poll_seconds"; done
}

# bring_up [temporary]: in a folder that goes when the instance ends, whoever ends it.
bring_up() {
  local name temporary=${1:-}
  : "${DENSELET_PEERS:?run this through ./dev test e2e}"
  check_folder
  if living supervisor; then
    die "a control plane runs in $folder already; 'control_plane.sh down $folder' stops it"
  fi
  rm -rf "$folder"
  mkdir -p "$folder/log" "$folder/run"
  mkfifo "$folder/control"
  if [ -n "$temporary" ]; then : >"$folder/temporary"; fi
  make_pki
  choose_ports >"$folder/ports"
  load_ports
  for name in admin controller-manager scheduler; do certificate_kubeconfig "$name" >"$folder/$name.kubeconfig"; done
  # A session of its own: neither Ctrl-C nor the end of the caller's group ends it before its processes are stopped.
  setsid "$here/control_plane/supervisor.sh" "$folder" "$owner" "$minutes" >"$folder/log/supervisor.log" 2>&1 </dev/null &
  local supervisor=$!
  while kill -0 "$supervisor" 2>/dev/null && ! living supervisor; do sleep "$poll_seconds"; done
  for name in etcd kube-apiserver; do
    ask_supervisor start "$name"
    wait_until_ready "$name"
  done
}

# enter_instance: its environment for what is run from here, and the processes that --with asks for.
enter_instance() {
  local name
  living supervisor || fail_with_logs "the control plane in $folder does not run"
  load_ports
  export KUBECONFIG=$folder/admin.kubeconfig DENSELET_KUBECONFIG=$folder/admin.kubeconfig
  export DENSELET_APISERVER=127.0.0.1:$apiserver_port DENSELET_PKI=$folder/pki DENSELET_CONTROL_PLANE=$folder
  export PATH=${DENSELET_PEERS:?run this through ./dev test e2e}:$here:$PATH
  for name in "${with[@]}"; do ask_supervisor start "kube-$name"; done
  for name in "${with[@]}"; do wait_until_ready "kube-$name"; done
}

# run_inside: runs "${rest[@]}" in a session of its own, so that all of it can be ended, also when this script is killed.
run_inside() {
  local status=0
  [ ${#rest[@]} -gt 0 ] || die "which command?"
  setpriv --pdeathsig KILL -- setsid -- "${rest[@]}" <&0 &
  command_pid=$!
  wait "$command_pid" || status=$?
  [ "$status" = 0 ] || show_logs
  return "$status"
}

command_pid=
end_command() {
  [ -z "$command_pid" ] || kill -- -"$command_pid" 2>/dev/null || true
}

end_supervisor() {
  local pid
  living supervisor || return 0
  pid=$(pid_of supervisor)
  kill "$pid" 2>/dev/null || return 0
  timeout 30 tail --pid="$pid" -s "$poll_seconds" -f /dev/null || die "the supervisor $pid does not end"
}
