#!/usr/bin/env bash
# The peers must say the version that go.mod pins: a peer that calls itself v0.0.0 behaves differently (its feature
# gates, its version skew checks), and what is tested against it is not what it claims to be.
set -euo pipefail
go_mod=$1
peers=${DENSELET_PEERS:?run this through ./dev test e2e}
kubernetes=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' "$go_mod")
etcd=$(awk '$1 == "go.etcd.io/etcd/server/v3" {print $2; exit}' "$go_mod")

failed=0
expect() { # NAME WANTED GOT
  if [ "$2" = "$3" ]; then
    echo "$1 $3"
  else
    echo "$1 reports '$3', go.mod pins '$2'" >&2
    failed=1
  fi
}
for name in kube-apiserver kube-controller-manager kube-scheduler kubelet; do
  expect "$name" "Kubernetes $kubernetes" "$("$peers/$name" --version)"
done
expect kubectl "Client Version: $kubernetes" "$("$peers/kubectl" version --client | head -1)"
expect etcd "etcd Version: ${etcd#v}" "$("$peers/etcd" --version | head -1)"
exit "$failed"
