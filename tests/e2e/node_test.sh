#!/usr/bin/env bash
# node_test.sh PROGRAM ARGS...: runs it with the certificates of the nodes that it plays, so that the API server's node
# authorizer and admission apply; then looks whether their events have arrived. Run by control_plane.sh use.
set -euo pipefail
for backend in epoll uring; do
  control_plane.sh node-kubeconfig "e2e-node-$backend" >/dev/null
done
"$@"
told=$(kubectl get events --field-selector involvedObject.kind=Node,involvedObject.name=e2e-node-epoll,reason=Starting \
  -o jsonpath='{.items[*].message}')
[[ $told == "Starting kubelet."* ]] || {
  echo "FAILED: no event of the node's start: '$told'" >&2
  exit 1
}
