#!/usr/bin/env bash
# scenarios.sh PODTRACE AGENT OUT [ROW...]: runs the rows of the table on a node whose agent is AGENT (denselet or the upstream
# kubelet, which are given the same flags and configuration), and writes what was seen to OUT. Starts containerd and a control
# plane for it, in namespaces where nothing else is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${DENSELET_CONTAINERD:-}" ]; then
  exec "$here/../containerd.sh" run --minutes 30 "${BASH_SOURCE[0]}" "$@"
elif [ -z "${DENSELET_CONTROL_PLANE:-}" ]; then
  exec control_plane.sh run --minutes 30 "${BASH_SOURCE[0]}" "$@"
fi
podtrace=$1 agent=$2 out=$3
node=scenarios work=$(mktemp -d) agent_pid=
clean_up() {
  local status=$?
  if [ -n "$agent_pid" ]; then
    kill "$agent_pid" 2>/dev/null || true
    wait "$agent_pid" || true
  fi
  cp "$work/agent.log" "$out.log" 2>/dev/null || true
  if [ "$status" != 0 ]; then tail -n 40 "$work/agent.log" >&2 || true; fi
  umount --recursive "$work/root" 2>/dev/null || true # the kubelet mounts it onto itself
  rm -rf "$work" 2>/dev/null || true # containers may still have files there; they end with their namespaces
}
trap clean_up EXIT

ip address add 10.99.0.1/32 dev lo # a kubelet refuses a loopback address as its node's
mount -t tmpfs none /var/log       # the kubelet's links to logs have a fixed place
mkdir -p "$work/manifests" "$work/root"
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: $work/manifests
containerRuntimeEndpoint: $CONTAINER_RUNTIME_ENDPOINT
podLogsDir: $work/logs
volumePluginDir: $work/plugins
cgroupDriver: cgroupfs
cgroupsPerQOS: false
cgroupRoot: $DENSELET_CGROUP
enforceNodeAllocatable: []
failCgroupV1: false # the test machine has no unified hierarchy; harmless where there is one
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
nodeStatusUpdateFrequency: 1s
fileCheckFrequency: 1s
evictionHard: {memory.available: "1Mi", nodefs.available: "0%", imagefs.available: "0%"}
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
CONFIG
"$agent" --config "$work/config" --kubeconfig "$work/kubeconfig" --root-dir "$work/root" --cert-dir "$work/pki" \
  --node-ip 10.99.0.1 --hostname-override $node -v "${DENSELET_SCENARIO_VERBOSITY:-3}" >"$work/agent.log" 2>&1 &
agent_pid=$!
"$podtrace" run "$here/rows.yaml" $node "$work/manifests" "$out" "${@:4}"
