# How each process of the control plane is started, and how it shows that it is ready. Sourced by control_plane.sh and by
# the supervisor; both know $folder.

audit_policy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/audit.yaml
component_names=(etcd kube-apiserver kube-controller-manager kube-scheduler)

# Gates of fields of a pod that are off by default: with them the API server keeps such a field instead of dropping it.
apiserver_gates=(
  ClusterTrustBundle ClusterTrustBundleProjection # volumes.projected.sources.clusterTrustBundle
  ContainerStopSignals                            # containers.lifecycle.stopSignal
  CrossNamespaceVolumeDataSource                  # volumes.ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace
  GenericWorkload                                 # schedulingGroup
  PodCertificateRequest                           # volumes.projected.sources.podCertificate
)
# The APIs behind them; the API server does not become ready without.
apiserver_apis=(certificates.k8s.io/v1beta1 scheduling.k8s.io/v1alpha2)

# Those a node meets.
controllers=(
  serviceaccount-controller serviceaccount-token-controller root-ca-certificate-publisher-controller
  certificatesigningrequest-approving-controller certificatesigningrequest-signing-controller
  certificatesigningrequest-cleaner-controller node-lifecycle-controller taint-eviction-controller namespace-controller
  pod-garbage-collector-controller garbage-collector-controller replicaset-controller job-controller
  deployment-controller daemonset-controller statefulset-controller cronjob-controller # for people: ./dev run --cluster
)

listened_on() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # PORT

# Prints an assignment for each port. They lie below the range from which the kernel takes ports for connections, and
# instances that start at the same time are dealt different ones.
choose_ports() {
  local names=(etcd_port etcd_peer_port apiserver_port controller_manager_port scheduler_port)
  local first_port=10000 last_port=29999 next port
  local dealt=${TMPDIR:-/tmp}/denselet-ports.$UID
  exec 8<>"$dealt"
  flock 8
  next=$(cat <&8)
  [[ $next =~ ^[0-9]{5}$ ]] || next=$((first_port + RANDOM % 20000))
  while [ ${#names[@]} -gt 0 ]; do
    port=$next
    next=$((port < last_port ? port + 1 : first_port))
    if listened_on "$port"; then continue; fi
    echo "${names[0]}=$port"
    names=("${names[@]:1}")
  done
  echo "$next" >"$dealt"
  exec 8>&-
}

load_ports() {
  # shellcheck source=/dev/null
  . "$folder/ports"
}

# component_command NAME: sets command.
component_command() {
  local pki=$folder/pki
  case $1 in
    etcd)
      # Nothing has to outlive the machine.
      command=(etcd --data-dir "$folder/etcd" --unsafe-no-fsync --log-level warn
        --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port"
        --listen-peer-urls "http://127.0.0.1:$etcd_peer_port"
        --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer_port"
        --initial-cluster "default=http://127.0.0.1:$etcd_peer_port")
      ;;
    kube-apiserver)
      command=(kube-apiserver --etcd-servers "http://127.0.0.1:$etcd_port" --cert-dir "$folder"
        --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$apiserver_port"
        --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key"
        --client-ca-file "$pki/ca.crt" --enable-bootstrap-token-auth --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction
        --kubelet-client-certificate "$pki/apiserver-kubelet-client.crt"
        --kubelet-client-key "$pki/apiserver-kubelet-client.key"
        --kubelet-preferred-address-types InternalIP,Hostname
        --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$pki/sa.key"
        --service-account-signing-key-file "$pki/sa.key" --service-cluster-ip-range 10.0.0.0/24
        --audit-policy-file "$audit_policy" --audit-log-path "$folder/node-audit.jsonl" --audit-log-maxsize 1000
        --endpoint-reconciler-type none # it may not name an address of the loopback
        --allow-privileged --runtime-config "$(joined "${apiserver_apis[@]/%/=true}")"
        --feature-gates "$(joined "${apiserver_gates[@]/%/=true}")")
      ;;
    kube-controller-manager)
      command=(kube-controller-manager --kubeconfig "$folder/controller-manager.kubeconfig" --leader-elect=false
        --bind-address 127.0.0.1 --secure-port "$controller_manager_port" --cert-dir "$folder"
        --controllers "$(joined "${controllers[@]}")" --use-service-account-credentials
        --service-account-private-key-file "$pki/sa.key" --root-ca-file "$pki/ca.crt"
        --cluster-signing-cert-file "$pki/ca.crt" --cluster-signing-key-file "$pki/ca.key")
      ;;
    kube-scheduler)
      command=(kube-scheduler --kubeconfig "$folder/scheduler.kubeconfig" --leader-elect=false
        --bind-address 127.0.0.1 --secure-port "$scheduler_port" --cert-dir "$folder")
      ;;
    *) return 1 ;;
  esac
  command[0]=${DENSELET_PEERS:?run this through ./dev test e2e}/${command[0]}
}

joined() {
  local IFS=,
  echo "$*"
}

# component_ready NAME
component_ready() {
  case $1 in
    etcd) curl -sf "http://127.0.0.1:$etcd_port/health" >/dev/null ;;
    kube-apiserver)
      curl -sf --cacert "$folder/pki/ca.crt" --cert "$folder/pki/admin.crt" --key "$folder/pki/admin.key" \
        "https://127.0.0.1:$apiserver_port/readyz" >/dev/null
      ;;
    # They sign for themselves.
    kube-controller-manager) curl -skf "https://127.0.0.1:$controller_manager_port/healthz" >/dev/null ;;
    kube-scheduler) curl -skf "https://127.0.0.1:$scheduler_port/readyz" >/dev/null ;;
  esac
}

compact_etcd() { # REVISION
  load_ports
  curl -sfS "http://127.0.0.1:$etcd_port/v3/kv/compaction" -d "{\"revision\": \"$1\", \"physical\": true}" >/dev/null
}
