#!/usr/bin/env bash
# supervisor.sh FOLDER OWNER MINUTES: makes the namespaces of one runtime and ends them, with every process and mount in
# them, when it is told to (TERM), when process OWNER is gone, or when the time is over (0: never). If it is killed
# itself, the kernel ends them all the same; only empty cgroups are left then.
set -euo pipefail
folder=$1 owner=$2 minutes=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$folder/settings"

# Cgroups are not in a namespace. All their processes are dead by now, but may take a moment to be gone.
remove_cgroups() {
  local try
  for try in $(seq 50); do
    find /sys/fs/cgroup -depth -type d -path "/sys/fs/cgroup*$cgroup*" -exec rmdir {} + 2>/dev/null || true
    [ -n "$(find /sys/fs/cgroup -maxdepth 2 -type d -name "${cgroup#/}" -print -quit 2>/dev/null)" ] || return 0
    sleep 0.1
  done
  echo "Cgroups are left after try $try"
}

namespaces=
end() {
  [ -z "$namespaces" ] || kill -9 "$namespaces" 2>/dev/null || true
  wait
  remove_cgroups
  rm -f "$folder"/run/*.pid
  if [ -e "$folder/temporary" ]; then rm -rf "$folder"; fi
}
trap end EXIT
trap 'exit 0' TERM INT

write_pid() { # NAME PID; at once, so that nobody reads half of it
  echo "$2" >"$folder/run/$1.new"
  mv "$folder/run/$1.new" "$folder/run/$1.pid"
}

write_pid supervisor $$
unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private -- \
  setpriv --pdeathsig KILL -- "$here/init.sh" "$folder" >"$folder/log/init.log" 2>&1 </dev/null &
namespaces=$!
while kill -0 "$namespaces" 2>/dev/null && [ ! -e "$folder/run/told" ]; do sleep 0.02; done
read -r init <"/proc/$namespaces/task/$namespaces/children" || [ -n "$init" ] # it ends without a new line
write_pid init "$init"
while kill -0 "$owner" 2>/dev/null && kill -0 "$namespaces" 2>/dev/null &&
  { [ "$minutes" = 0 ] || [ "$SECONDS" -lt $((minutes * 60)) ]; }; do
  sleep 0.2
done
echo "Ended: owner $owner is gone, the namespaces are, or $minutes minutes are over"
