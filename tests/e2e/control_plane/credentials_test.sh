#!/usr/bin/env bash
# What nodes live on: a node's certificate is that node and nobody else, and a bootstrap token becomes a certificate that
# the controller manager approved and signed. Run by control_plane.sh use --with controller-manager.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
expect() { # WHAT WANTED GOT
  [ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"
}

control_plane.sh node-kubeconfig credentials-a >"$work/a"
as_a=(kubectl --kubeconfig "$work/a")
expect "user" system:node:credentials-a "$("${as_a[@]}" auth whoami -o jsonpath='{.status.userInfo.username}')"
for node in credentials-a credentials-b; do
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Node, metadata: {name: $node}}"
done
expect "its own node" credentials-a "$("${as_a[@]}" get node credentials-a -o jsonpath='{.metadata.name}')"
if "${as_a[@]}" get node credentials-b >/dev/null 2>&1; then fail "a node reads another node"; fi
kubectl delete node credentials-a credentials-b >/dev/null

control_plane.sh bootstrap-kubeconfig >"$work/bootstrap"
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/key" -out "$work/csr" \
  -subj /O=system:nodes/CN=system:node:credentials-c 2>/dev/null
kubectl --kubeconfig "$work/bootstrap" create -f - >/dev/null <<REQUEST
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: credentials-c}
spec:
  request: $(base64 -w0 "$work/csr")
  signerName: kubernetes.io/kube-apiserver-client-kubelet
  usages: [digital signature, client auth]
REQUEST
kubectl wait --for=jsonpath='{.status.certificate}' --timeout=60s csr/credentials-c >/dev/null
kubectl get csr credentials-c -o jsonpath='{.status.certificate}' | base64 -d >"$work/crt"
expect "the certificate's chain" "$work/crt: OK" "$(openssl verify -purpose sslclient -CAfile "$DENSELET_PKI/ca.crt" "$work/crt")"
expect "the subject" "O = system:nodes, CN = system:node:credentials-c" \
  "$(openssl x509 -noout -subject -in "$work/crt" | sed 's/^subject=//')"
kubectl delete csr credentials-c >/dev/null
