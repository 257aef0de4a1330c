#!/usr/bin/env bash
# init.sh FOLDER: the first process in the namespaces of one runtime. It takes the folders that containerd, runc and CNI
# share with everybody else out of sight, and starts and stops containerd as lines in FOLDER/control say.
set -euo pipefail
folder=$1
# shellcheck source=/dev/null
. "$folder/settings"
stop_seconds_max=10

mkdir -p /var/lib/cni
mount -t tmpfs denselet-run /run
mount -t tmpfs denselet-cni /var/lib/cni
mkdir -p /run/containerd /run/lock
# A link into /run, where nothing is any more.
if [ -L /etc/resolv.conf ] && [ ! -e /etc/resolv.conf ]; then
  target=$(realpath -m /etc/resolv.conf)
  mkdir -p "$(dirname "$target")"
  echo "nameserver 127.0.0.1" >"$target"
fi
ip link set lo up

pid=
running() { [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; }

start() {
  if running; then return; fi
  PATH="$bin:$PATH" "$bin/containerd" --config "$folder/config.toml" >>"$folder/log/containerd.log" 2>&1 </dev/null 3>&- &
  pid=$!
  echo "$pid" >"$folder/run/containerd.pid"
}

stop() { # SIGNAL
  if running; then
    kill "-$1" "$pid"
    timeout "$stop_seconds_max" tail --pid="$pid" -s 0.02 -f /dev/null || kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
  fi
  pid=
}

exec 3<>"$folder/control"
told=0
echo "$told" >"$folder/run/told" # from here on lines are read
while true; do
  # Nobody else reaps what shims and containers leave behind, and bash does it between two lines.
  read -r -t 1 verb <&3 || continue
  case $verb in
    start) start ;;
    stop) stop TERM ;;
    kill) stop KILL ;;
  esac
  told=$((told + 1))
  echo "$told" >"$folder/run/told.new"
  mv "$folder/run/told.new" "$folder/run/told"
done
