#!/usr/bin/env bash
# inside.sh AGENT OUT: runs pods.yaml on a node whose agent is AGENT (denselet or the upstream kubelet, which are given the same flags
# and configuration), and writes to OUT what their containers see, listed from within: who they are, environment, mounts, files with
# modes, owners and content, names and DNS. Starts containerd and a control plane for it, in namespaces where nothing else is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${DENSELET_CONTAINERD:-}" ]; then
  exec "$here/../containerd.sh" run "${BASH_SOURCE[0]}" "$@"
elif [ -z "${DENSELET_CONTROL_PLANE:-}" ]; then
  exec control_plane.sh run "${BASH_SOURCE[0]}" "$@"
fi
agent=$1 out=$2
node=inside-node ns=inside work=$(mktemp -d) agent_pid=
clean_up() {
  local status=$?
  if [ -n "$agent_pid" ]; then
    kill "$agent_pid" 2>/dev/null || true
    wait "$agent_pid" || true
  fi
  if [ "$status" != 0 ]; then tail -n 40 "$work/agent.log" >&2 || true; fi
  umount "$work/shared" 2>/dev/null || true
  umount --recursive "$work/root" 2>/dev/null || true # the kubelet mounts it onto itself
  rm -rf "$work" 2>/dev/null || true # containers may still have files there; they end with their namespaces
}
trap clean_up EXIT

ip address add 10.99.0.1/32 dev lo # a kubelet refuses a loopback address as its node's
mount -t tmpfs none /var/log       # the kubelet's links to logs have a fixed place
mkdir -p "$work/root" "$work/shared"
mount -t tmpfs -o size=1m none "$work/shared" # what is mounted there later is to be seen in containers
mount --make-shared "$work/shared"
printf 'nameserver 192.0.2.53\nsearch lab.example.\noptions timeout:1\n' >"$work/resolv.conf"
printf '127.0.0.1 localhost\n192.0.2.7 neighbour\n' >"$work/hosts" # of containers in the node's network
mount --bind "$work/hosts" /etc/hosts
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: $CONTAINER_RUNTIME_ENDPOINT
podLogsDir: $work/logs
volumePluginDir: $work/plugins
resolvConf: $work/resolv.conf
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
cgroupDriver: cgroupfs
cgroupsPerQOS: false
cgroupRoot: $DENSELET_CGROUP
enforceNodeAllocatable: []
failCgroupV1: false # the test machine has no unified hierarchy; harmless where there is one
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
nodeStatusUpdateFrequency: 1s
evictionHard: {memory.available: "1Mi", nodefs.available: "0%", imagefs.available: "0%"}
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
CONFIG
kubectl create namespace $ns >/dev/null
kubectl create serviceaccount -n $ns default >/dev/null
kubectl create configmap -n $ns kube-root-ca.crt --from-file=ca.crt="$DENSELET_PKI/ca.crt" >/dev/null
"$agent" --config "$work/config" --kubeconfig "$work/kubeconfig" --root-dir "$work/root" --cert-dir "$work/pki" \
  --node-ip 10.99.0.1 --hostname-override $node -v 3 >"$work/agent.log" 2>&1 &
agent_pid=$!

until_true() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  until "${@:2}" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { echo "did not happen in time: ${*:2}" >&2; kubectl get pods,events -n $ns >&2; exit 1; }
    kill -0 "$agent_pid" || { echo "the agent ended" >&2; exit 1; }
    sleep 0.3
  done
}
of() { kubectl get pod -n $ns "$1" -o jsonpath="{$2}"; } # POD PATH
is_ready() { kubectl wait --for=condition=Ready node/$node --timeout=1s; }
until_true 120 is_ready
sed "s|NODE|$node|; s|IMAGE|$DENSELET_IMAGE|; s|WORK|$work|" "$here/pods.yaml" >"$work/pods.yaml"
kubectl create -f "$work/pods.yaml" >/dev/null
mapfile -t pods < <(kubectl get pods -n $ns -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}')
runs() { [ "$(of "$1" '.status.phase')" = Running ] && [ -n "$(of "$1" '.status.containerStatuses[0].state.running.startedAt')" ]; } # POD

# What only this run has. The root of what is bound from the machine depends on where its file systems are mounted, and so do its
# options but for ro and rw; which of /proc is hidden depends on the kernel, but for what every kernel has; a tmpfs without a limit of
# its own is as large as the node, and kept out of the swap by new kernels only.
ca=$(kubectl get configmap -n $ns kube-root-ca.crt -o jsonpath='{.data.ca\.crt}' | sha256sum | cut -c1-16)
api=$(kubectl get service -n default kubernetes -o jsonpath='{.spec.clusterIP}')
plain() { # POD
  local uid ip
  uid=$(of "$1" .metadata.uid) ip=$(of "$1" .status.podIP)
  sed -E "s/$uid/UID/g; s/$ca/CA/; s/${ip//./\\.}/POD_IP/g; s/${api//./\\.}/API/g; s/\b$(hostname)\b/MACHINE/; s/\.\.20[0-9]{2}_[0-9_]+\.[0-9]+/..STAMP/g
    s/[0-9a-f]{64}/ID/g; s/kube-api-access-[a-z0-9]{5}/kube-api-access-NAME/g; s/size=[0-9]{7,}k/size=NODE/
    s#^(/[^ ]* r[ow])[^ ]* [^ ]*$work/root(/[^ ]*) (\[[^]]*\]) .*#\1 ROOT\2 \3 HOST#
    s#^(/[^ ]* r[ow])[^ ]* [^ ]*$work(/[^ ]*) (\[[^]]*\]) .*#\1 WORK\2 \3 HOST#
    s#^(/[^ ]* r[ow])[^ ]* [^ ]*/io\.containerd\.[^ ]*/(ID/[^ ]*) (\[[^]]*\]) .*#\1 RUNTIME/\2 \3 HOST#
    s#(/containers/[^ /]*/)[0-9a-f]{8} #\1NUMBER #
    s#^(/ r[ow]),.*#\1 IMAGE#; s/,inode64$//; s/,noswap$//
    \#^/sys/fs/cgroup#d
    \#^/proc/[^ ]* #{
      \#^/proc/(bus|fs|irq|kcore|keys|sys|sysrq-trigger|timer_list) #!d
    }
    \#^/sys/(firmware|devices/virtual/powercap)[^ ]* #d"
}
: >"$work/listing"
for pod in "${pods[@]}"; do
  until_true 120 runs "$pod"
  id=$(of "$pod" '.status.containerStatuses[0].containerID')
  {
    echo "## $pod"
    ctr task exec --exec-id "list-$pod" "${id#containerd://}" sh -c "$(cat "$here/list.sh")" sh "$(of "$pod" .metadata.annotations.walk)" |
      plain "$pod"
    echo
  } >>"$work/listing"
done
mv "$work/listing" "$out"
