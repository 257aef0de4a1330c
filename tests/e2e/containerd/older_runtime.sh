#!/usr/bin/env bash
# older_runtime.sh CACHE: prints the folder with Debian 12's containerd 1.6, a runtime without CRI's events, which ./dev setup
# has unpacked there.
set -euo pipefail
bin=${1:?which cache?}/containerd-1.6/usr/bin
[ -x "$bin/containerd" ] || {
  echo "older_runtime.sh: there is no $bin/containerd; ./dev setup brings it where apt has it" >&2
  exit 77 # what ctest takes for "cannot be run here"
}
echo "$bin"
