# Kubeconfigs: each stands alone, with all data in it. Sourced by control_plane.sh.

# kubeconfig USER-LINES...: prints one that authenticates as these lines of a user say.
kubeconfig() {
  cat <<CONFIG
apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster:
    server: https://127.0.0.1:$apiserver_port
    certificate-authority-data: $(base64 -w0 "$folder/pki/ca.crt")
contexts:
- name: test
  context: {cluster: test, user: test, namespace: default}
users:
- name: test
  user:
CONFIG
  printf '    %s\n' "$@"
}

# certificate_kubeconfig NAME: with the client certificate of that name.
certificate_kubeconfig() {
  kubeconfig "client-certificate-data: $(base64 -w0 "$folder/pki/$1.crt")" \
    "client-key-data: $(base64 -w0 "$folder/pki/$1.key")"
}

node_kubeconfig() { # NODE
  load_ports
  client_certificate "node-$1" "/O=system:nodes/CN=system:node:$1"
  certificate_kubeconfig "node-$1"
}

# A token as kubeadm makes them: its bearer may ask for a node's client certificate, the controller manager approves
# that and the renewals. (Who approves serving certificates is up to the cluster.)
bootstrap_kubeconfig() {
  load_ports
  local id secret
  id=$(openssl rand -hex 3)
  secret=$(openssl rand -hex 8)
  kubectl apply -f - >/dev/null <<OBJECTS
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-$id, namespace: kube-system}
type: bootstrap.kubernetes.io/token
stringData:
  token-id: "$id"
  token-secret: "$secret"
  usage-bootstrap-authentication: "true"
  usage-bootstrap-signing: "true"
  auth-extra-groups: system:bootstrappers:test:nodes
$(binding test:node-bootstrapper system:node-bootstrapper system:bootstrappers:test:nodes)
$(binding test:approve-node-client system:certificates.k8s.io:certificatesigningrequests:nodeclient \
    system:bootstrappers:test:nodes)
$(binding test:approve-node-renewal system:certificates.k8s.io:certificatesigningrequests:selfnodeclient system:nodes)
OBJECTS
  kubeconfig "token: $id.$secret"
}

binding() { # NAME CLUSTER-ROLE GROUP
  cat <<OBJECT
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "$1"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "$2"}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "$3"}
OBJECT
}
