#!/usr/bin/env bash
# compare.sh PODTRACE DENSELET [ROW...]: runs the table against denselet and compares what a watcher sees with what it saw of
# the upstream kubelet. Each difference is explained in exceptions.yaml, or a failure.
set -euo pipefail
podtrace=$1 denselet=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/scenarios.sh" "$podtrace" "$denselet" "$work/ours.json" "${@:3}"
if ! "$podtrace" compare "$here/upstream.json" "$here/exceptions.yaml" "$work/ours.json" "${@:3}"; then
  "$podtrace" print "$work/ours.json" >&2
  exit 1
fi
