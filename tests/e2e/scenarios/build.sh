#!/usr/bin/env bash
# build.sh OUT: builds podtrace (third_party/peers/podtrace) and runs its own tests: of the comparison, which must notice what is
# skipped, added and reordered.
set -euo pipefail
out=$(realpath -m -- "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../../../third_party/peers"
# As the peers are built, so that what they compiled is used again.
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS="-mod=readonly -buildvcs=false -trimpath"
mkdir -p "$(dirname "$out")"
go build -o "$out" ./podtrace
go test -vet=off ./podtrace
