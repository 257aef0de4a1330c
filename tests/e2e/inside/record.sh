#!/usr/bin/env bash
# record.sh KUBELET OUT VERSION: lists what containers of the upstream kubelet see, twice, and writes it to OUT when both times are the
# same: what differs between two runs of upstream can be no measure.
set -euo pipefail
kubelet=$1 out=$2 version=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for run in 1 2; do "$here/inside.sh" "$kubelet" "$work/$run"; done
diff "$work/1" "$work/2" >&2 || { echo "record.sh: two runs differ" >&2; exit 1; }
{
  echo "#: What containers see below the upstream kubelet $version, of pods.yaml on containerd 1.7; recorded by ./dev e2e --peer."
  cat "$work/1"
} >"$work/both"
mv "$work/both" "$out"
