#!/usr/bin/env bash
# compare.sh DENSELET: what containers of denselet see is what those of the upstream kubelet saw (upstream.txt, recorded by
# ./dev e2e --peer). Each line that differs is explained by a pattern in exceptions.txt, or a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/inside.sh" "$1" "$work/ours.txt"
grep -v '^#: ' "$here/upstream.txt" >"$work/upstream.txt" # without how it was recorded
# -: upstream's alone, +: ours alone, with the pod in front.
differences() {
  diff --unified=100000 "$work/upstream.txt" "$work/ours.txt" |
    awk '/^(---|\+\+\+|@@)/ {next} substr($0, 2, 3) == "## " {pod = substr($0, 5)} /^[-+]/ {print pod ": " $0}' || true
}
differences >"$work/differences"
grep -v '^#' "$here/exceptions.txt" | sed '/^$/d' >"$work/patterns" || true
if [ -s "$work/patterns" ]; then
  grep -E -f "$work/patterns" "$work/differences" | sed 's/^/explained: /' || true
  grep -v -E -f "$work/patterns" "$work/differences" >"$work/unexplained" || true
else
  cp "$work/differences" "$work/unexplained"
fi
if [ -s "$work/unexplained" ]; then
  echo "Containers see other things than upstream's:" >&2
  cat "$work/unexplained" >&2
  exit 1
fi
echo "$(grep -c '' "$work/ours.txt") lines about $(grep -c '^## ' "$work/ours.txt") pods are upstream's"
