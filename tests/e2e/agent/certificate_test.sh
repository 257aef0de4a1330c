#!/usr/bin/env bash
# certificate_test.sh DENSELET: a token becomes a certificate, the certificate is rotated, and the program uses each. Run by
# control_plane.sh use --with controller-manager.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-certificate-$reactor
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false  # the test machine has no unified hierarchy; harmless where there is one
rotateCertificates: true
nodeLeaseDurationSeconds: 4
CONFIG
current=$work/$node/pki/kubelet-client-current.pem
flags=(--config "$work/config" --kubeconfig "$work/kubeconfig" --bootstrap-kubeconfig "$work/bootstrap")
serial() { openssl x509 -noout -serial -in "$current"; }

control_plane.sh bootstrap-kubeconfig >"$work/bootstrap"
start_agent $node "${flags[@]}"
soon 60 "registration with a bootstrapped certificate" is_not_ready $node
[[ $(openssl x509 -noout -subject -in "$current") == *"O = system:nodes, CN = system:node:$node" ]] || fail "subject"
[[ $(readlink "$current") == "$work/$node/pki/kubelet-client-"????-??-??-??-??-??.pem ]] || fail "link: $(readlink "$current")"
grep -q "$current" "$work/kubeconfig" || fail "the kubeconfig does not name the certificate"
soon 20 "the lease" renewed $node
stop_agent 10
expect_nothing_denied $node

# The next start needs no token, and asks for no certificate.
first=$(serial)
echo revoked >"$work/bootstrap"
last=$(renewed $node)
start_agent $node "${flags[@]}"
soon 30 "the lease's renewal with the stored certificate" renewed_since $node "$last"
[ "$(serial)" = "$first" ] || fail "another certificate"
stop_agent 10

# One that is nearly over is rotated at once: its node asks, with it, for the next.
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/O=system:nodes/CN=system:node:$node" \
  -keyout "$work/key" -out "$work/csr" 2>/dev/null
touch "$work/index"
cat >"$work/ca.conf" <<CONFIG
[ca]
default_ca = here
[here]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = client
[any]
organizationName = optional
commonName = supplied
[client]
extendedKeyUsage = clientAuth
keyUsage = digitalSignature
CONFIG
openssl ca -batch -config "$work/ca.conf" -cert "$DENSELET_PKI/ca.crt" -keyfile "$DENSELET_PKI/ca.key" -in "$work/csr" \
  -startdate "$(date -u -d '-20 hours' +%Y%m%d%H%M%SZ)" -enddate "$(date -u -d '+1 hour' +%Y%m%d%H%M%SZ)" \
  -notext -out "$work/crt" 2>/dev/null
old=$work/$node/pki/kubelet-client-2020-01-01-00-00-00.pem
cat "$work/crt" "$work/key" >"$old"
ln -sfn "$old" "$current"
nearly_over=$(serial)
last=$(renewed $node)
start_agent $node "${flags[@]}"
is_rotated() { [ "$(serial)" != "$nearly_over" ]; }
soon 60 "rotation" is_rotated
[ -e "$old" ] || fail "the old file is gone"
soon 30 "the use of the new certificate" logged "Credentials for the API server were renewed"
rotated_at=$(date -u +%Y-%m-%dT%H:%M:%S)
soon 30 "the lease's renewal with the new certificate" renewed_since $node "$rotated_at"
stop_agent 10
expect_nothing_denied $node
kubectl delete node $node >/dev/null

# Who may not ask for a certificate is told so, and nothing runs; without rotation the agent waits for the first one.
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=nobody" -keyout "$work/nobody.key" -out "$work/nobody.csr" 2>/dev/null
openssl x509 -req -in "$work/nobody.csr" -CA "$DENSELET_PKI/ca.crt" -CAkey "$DENSELET_PKI/ca.key" -set_serial 77 -days 1 -out "$work/nobody.crt" 2>/dev/null
control_plane.sh bootstrap-kubeconfig | sed -E "s|^( *)token: .*|\1client-certificate: $work/nobody.crt\n\1client-key: $work/nobody.key|" >"$work/nobody"
grep -q nobody.crt "$work/nobody" || fail "the bootstrap kubeconfig has no token: $(cat "$work/nobody")"
status=0
timeout 30 "$denselet" --hostname-override nobody --root-dir "$work/refused" --cert-dir "$work/refused/pki" --fail-cgroupv1=false \
  --rotate-certificates=false --container-runtime-endpoint "unix://$work/runtime.sock" --kubeconfig "$work/refused.kubeconfig" \
  --bootstrap-kubeconfig "$work/nobody" >"$work/refused.log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "ended with $status: $(cat "$work/refused.log")"
tail -1 "$work/refused.log" | grep '"Failed to run the agent"' | grep -q "forbidden" || fail "it does not say why: $(cat "$work/refused.log")"
