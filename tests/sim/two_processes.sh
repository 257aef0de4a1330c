#!/usr/bin/env bash
# Runs a sample of seeds in two processes and compares what they say, byte for byte.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" --seeds 10 --from 100 >"$folder/first"
env -i PADDING="$(head -c 3000 /dev/zero | tr '\0' x)" "$program" --seeds 10 --from 100 >"$folder/second"
cat "$folder/first"
diff "$folder/first" "$folder/second"
"$program" --seed 100 --trace >"$folder/first"
"$program" --seed 100 --trace >"$folder/second"
cmp "$folder/first" "$folder/second"
