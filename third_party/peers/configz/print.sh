#!/bin/sh
# Prints again what tests/app/config compares with: run in third_party/peers.
set -e
version=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' go.mod)
minor=$(echo "$version" | cut -d. -f2)
go build -o "${TMPDIR:-/tmp}/configz" -ldflags "-X k8s.io/component-base/version.gitVersion=$version \
  -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$minor" ./configz
tests=../../tests/app/config
for dir in $tests/configz/*/; do
  "${TMPDIR:-/tmp}/configz" load "$dir" >"$dir/configz.json"
done
"${TMPDIR:-/tmp}/configz" verdicts $tests/verdicts.txt >$tests/golden/verdicts.txt
