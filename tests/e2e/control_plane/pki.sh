# Keys and certificates of one instance, in $folder/pki. Sourced by control_plane.sh.

authority() { # NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$folder/pki/$1.key" -out "$folder/pki/$1.crt" 2>/dev/null
}

# certificate NAME SUBJECT EXTENSION: signed by ca.
certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$2" \
    -keyout "$folder/pki/$1.key" -out "$folder/pki/$1.csr" 2>/dev/null
  openssl x509 -req -days 2 -in "$folder/pki/$1.csr" -CA "$folder/pki/ca.crt" -CAkey "$folder/pki/ca.key" \
    -set_serial "0x$(openssl rand -hex 16)" -extfile <(printf '%s\n' "$3") -out "$folder/pki/$1.crt" 2>/dev/null
  rm "$folder/pki/$1.csr"
}

client_certificate() { certificate "$1" "$2" 'extendedKeyUsage=clientAuth'; } # NAME SUBJECT

make_pki() {
  mkdir -p "$folder/pki"
  authority ca
  authority other-ca
  certificate apiserver /CN=kube-apiserver 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc'
  client_certificate admin /O=system:masters/CN=admin
  # As the API server shows itself to nodes.
  client_certificate apiserver-kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  client_certificate controller-manager /CN=system:kube-controller-manager
  client_certificate scheduler /CN=system:kube-scheduler
  openssl genrsa -out "$folder/pki/sa.key" 2048 2>/dev/null
}
