#!/usr/bin/env bash
# What ./dev bench density and ./dev bench pods make of their numbers: third_party/peers/nodebench's own tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../third_party/peers"
# As the peers are built, so that what they compiled is used again.
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS="-mod=readonly -buildvcs=false -trimpath"
go test -vet=off ./nodebench
