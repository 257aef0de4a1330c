# ./dev run --cluster: a real control plane beside containerd, in the same namespaces, and this node in it. The API server is
# reached from outside by a bridge between the two networks. Sourced by node.sh.

inside() { containerd.sh use "$folder/containerd" env DENSELET_PEERS="$DENSELET_PEERS" "$@"; }
# of_cluster COMMAND...: inside, as the cluster's administrator.
of_cluster() { inside control_plane.sh use "$folder/cluster" --with controller-manager,scheduler "$@"; }

# The node needs an address of its own, and a network with nothing but the loopback has none.
node_address=198.19.0.1
give_address() {
  inside sh -euc "ip link add node0 type veth peer name node1
    ip address add $node_address/24 dev node0
    ip link set node0 up
    ip link set node1 up"
}

# begin_bridge: sets port, where the API server is outside.
begin_bridge() {
  # shellcheck source=/dev/null
  . "$folder/cluster/ports"
  start bridge "$bridge" "$(cat "$folder/containerd/run/init.pid")" "$apiserver_port"
  soon "the bridge to the API server" "$pid" grep -qx '[0-9][0-9]*' "$folder/bridge.log"
  port=$(cat "$folder/bridge.log")
  (umask 077 && sed "s|https://127.0.0.1:$apiserver_port|https://127.0.0.1:$port|" "$folder/cluster/admin.kubeconfig" >"$folder/kubeconfig")
  program kubectl "KUBECONFIG=$folder/kubeconfig exec $DENSELET_PEERS/kubectl \"\$@\""
}

begin_cluster() {
  [ -x "${DENSELET_PEERS:-}/kube-apiserver" ] || die "DENSELET_PEERS names no folder with kube-apiserver"
  begin_runtime
  echo "Starting the control plane"
  give_address
  inside control_plane.sh up "$folder/cluster" --owner 1 --minutes 0 >/dev/null 9>&-
  begin_bridge
  of_cluster control_plane.sh node-kubeconfig "$node" >"$folder/node.kubeconfig"
  write_config "${runtime_config[@]}" "cgroupRoot: $cgroup"
  start agent "$e2e/containerd.sh" use "$folder/containerd" "${agent_command[@]}" --container-runtime-endpoint "$runtime_endpoint" \
    --kubeconfig "$folder/node.kubeconfig" --node-ip "$node_address"
  agent=$pid
  "$folder/kubectl" apply -f "$root/samples/cluster/objects.yaml" >/dev/null
}

hints_cluster() {
  cat <<HINTS
To try, in another terminal:
  export KUBECONFIG=$folder/kubeconfig    # $shown/kubectl has it already
  kubectl get nodes,pods -o wide
  kubectl run one --image=localhost/busybox:1 -- sleep 1000
  kubectl create deployment more --image=localhost/busybox:1 --replicas=3 -- sleep 1000
  kubectl create job once --image=localhost/busybox:1 -- echo done
  $shown/ctl pods    $shown/ctl pod NAME    $shown/ctl pleg    $shown/ctl metrics
Logs: $shown/agent.log of the agent, $shown/logs of containers. Ctrl-C ends all.
Not there yet: kubectl logs, exec and port-forward (the node's own server); a DNS server of the cluster (pods get the node's,
and an event MissingClusterDNS that says so).
HINTS
}

end_cluster() { end_containerd; }
