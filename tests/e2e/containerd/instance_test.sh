#!/usr/bin/env bash
# An instance keeps its containers when containerd is killed, and leaves nothing behind when its owner goes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)/instance
fail() {
  echo "instance_test.sh: $*" >&2
  exit 1
}
sleep 600 &
owner=$!
trap 'kill "$owner" 2>/dev/null || true; "$here/containerd.sh" down "$folder"; rmdir "$(dirname "$folder")"' EXIT
"$here/containerd.sh" up "$folder" --owner "$owner" --minutes 5
. "$folder/settings"
init=$(cat "$folder/run/init.pid") supervisor=$(cat "$folder/run/supervisor.pid")

"$here/containerd.sh" use "$folder" bash -euc '
  ctr run --detach --cgroup "$DENSELET_CGROUP/x" "$DENSELET_IMAGE" sleeper /bin/sleep 600
  containerd.sh kill
  containerd.sh start
  ctr tasks ls | grep -q "sleeper.*RUNNING"
' || fail "the container did not outlive containerd"
find /sys/fs/cgroup -maxdepth 2 -name "${cgroup#/}" | grep -q . || fail "there is no cgroup $cgroup"
! "$here/containerd.sh" up "$folder" 2>/dev/null || fail "a second one was started in the same folder"

kill "$owner"
timeout 20 tail --pid="$supervisor" -s 0.1 -f /dev/null || fail "the supervisor did not end with its owner"
! kill -0 "$init" 2>/dev/null || fail "the namespaces are still there"
! find /sys/fs/cgroup -maxdepth 2 -name "${cgroup#/}" | grep -q . || fail "the cgroup $cgroup is left"
! grep -q "$folder" /proc/mounts || fail "mounts are left"
! pgrep -f "$folder/config.toml" >/dev/null || fail "containerd runs on"
