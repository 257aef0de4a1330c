#!/usr/bin/env bash
# control_plane.sh COMMAND...: runs the command beside a real etcd and kube-apiserver, on loopback ports of their own
# with certificates of their own, and stops them when it ends. The command sees
#   DENSELET_APISERVER  127.0.0.1:PORT
#   DENSELET_PKI        a folder: ca.crt; admin.crt, admin.key (system:masters); other-ca.crt, which signed nothing here
set -euo pipefail
peers=${DENSELET_PEERS:?run this through ./dev test e2e}
folder=$(mktemp -d)
pids=()

stop() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do timeout 20 tail --pid="$pid" -f /dev/null || kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 143' TERM INT

fail() {
  echo "$1" >&2
  tail -20 "$folder"/*.log >&2
  exit 1
}

# A port that nobody listens on; below the range from which the kernel takes ports for connections.
free_port() {
  local port
  while true; do
    port=$((10000 + RANDOM % 20000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

authority() { # NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$folder/pki/$1.key" -out "$folder/pki/$1.crt" 2>/dev/null
}

certificate() { # NAME SUBJECT EXTENSION
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" \
    -keyout "$folder/pki/$1.key" -out "$folder/$1.csr" 2>/dev/null
  openssl x509 -req -days 2 -in "$folder/$1.csr" -CA "$folder/pki/ca.crt" -CAkey "$folder/pki/ca.key" -CAcreateserial \
    -extfile <(printf '%s\n' "$3") -out "$folder/pki/$1.crt" 2>/dev/null
}

mkdir "$folder/pki"
authority ca
authority other-ca
certificate apiserver /CN=kube-apiserver 'subjectAltName=IP:127.0.0.1,DNS:kubernetes.default.svc'
certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth'
openssl genrsa -out "$folder/pki/sa.key" 2048 2>/dev/null

etcd_port=$(free_port)
etcd_peer_port=$(free_port)
port=$(free_port)
"$peers/etcd" --data-dir "$folder/etcd" --unsafe-no-fsync --log-level warn \
  --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
  --listen-peer-urls "http://127.0.0.1:$etcd_peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer_port" \
  --initial-cluster "default=http://127.0.0.1:$etcd_peer_port" >"$folder/etcd.log" 2>&1 &
pids+=($!)
"$peers/kube-apiserver" --etcd-servers "http://127.0.0.1:$etcd_port" \
  --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$port" --cert-dir "$folder" \
  --tls-cert-file "$folder/pki/apiserver.crt" --tls-private-key-file "$folder/pki/apiserver.key" \
  --client-ca-file "$folder/pki/ca.crt" --authorization-mode Node,RBAC --service-cluster-ip-range 10.0.0.0/24 \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$folder/pki/sa.key" \
  --service-account-signing-key-file "$folder/pki/sa.key" >"$folder/kube-apiserver.log" 2>&1 &
pids+=($!)

ready=
for ((second = 0; second < 120; ++second)); do
  kill -0 "${pids[0]}" 2>/dev/null || fail "etcd ended"
  kill -0 "${pids[1]}" 2>/dev/null || fail "kube-apiserver ended"
  if curl -sf --cacert "$folder/pki/ca.crt" --cert "$folder/pki/admin.crt" --key "$folder/pki/admin.key" \
    "https://127.0.0.1:$port/readyz" >/dev/null; then
    ready=yes
    break
  fi
  sleep 1
done
[ -n "$ready" ] || fail "kube-apiserver was not ready after two minutes"

DENSELET_APISERVER=127.0.0.1:$port DENSELET_PKI=$folder/pki "$@"
