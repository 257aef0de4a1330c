#!/usr/bin/env bash
# nodebench.sh COMMAND...: runs it inside of a control plane, in network and mount namespaces that nobody else has: a kubelet
# listens on fixed ports, refuses a loopback address as its node's, and links logs in a fixed place; and agents mount volumes
# by the thousand. All of that goes with the last process, however it ends.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -z "${DENSELET_INSIDE:-}" ]; then
  DENSELET_INSIDE=1 exec unshare --net --mount --propagation private "$0" "$@"
fi
ip link set lo up
ip address add 10.99.0.1/32 dev lo
mount -t tmpfs none /var/log
mount -t tmpfs none /dev/shm # the nodes' folders
exec "$root/tests/e2e/control_plane.sh" run --minutes 0 "$@"
