#!/usr/bin/env bash
# record.sh PODTRACE KUBELET OUT RUNS: runs the table against the upstream kubelet, RUNS times, and writes to OUT what it has
# shown. States that only some runs show are optional, so more runs know more of upstream.
set -euo pipefail
podtrace=$1 kubelet=$2 out=$3 runs=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
traces=()
for ((run = 1; run <= runs; ++run)); do
  echo "Run $run of $runs"
  "$here/scenarios.sh" "$podtrace" "$kubelet" "$work/$run.json"
  traces+=("$work/$run.json")
done
"$podtrace" merge "${traces[@]}" >"$work/merged.json"
mv "$work/merged.json" "$out"
