#!/usr/bin/env bash
# kubelet_cri_sim_test.sh CRI_SIM evented|generic: upstream's kubelet, standalone, runs a hundred static pods on the
# simulated runtime until all are Running and ready, then has some taken away. The runtime must not have seen anything
# that the protocol forbids. In namespaces of its own: its ports, and what the kubelet mounts and logs, are nobody else's.
set -euo pipefail
cri_sim=$1 pleg=$2
kubelet=${DENSELET_PEERS:?run this through ./dev test e2e}/kubelet
pods=100 poll_seconds=0.5

if [ -z "${DENSELET_INSIDE:-}" ]; then
  DENSELET_INSIDE=1 exec unshare --net --mount --propagation private "$0" "$@"
fi
ip link set lo up
ip address add 10.99.0.1/32 dev lo # a kubelet refuses a loopback address as its node's
mount -t tmpfs none /var/log # the kubelet's links to logs have a fixed place

folder=$(mktemp -d)
mkdir -p "$folder/manifests" "$folder/root"
sim_pid='' kubelet_pid=''
cleanup() {
  local status=$?
  [ -z "$kubelet_pid" ] || kill "$kubelet_pid" 2>/dev/null || true
  [ -z "$sim_pid" ] || kill "$sim_pid" 2>/dev/null || true
  wait || true
  if [ "$status" != 0 ]; then
    tail -30 "$folder/kubelet.log" >&2 || true
    tail -30 "$folder/sim.log" >&2 || true
  fi
  umount --recursive "$folder/root" 2>/dev/null || true # the kubelet mounts it onto itself
  rm -rf "$folder"
}
trap cleanup EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
ask() { "$cri_sim" --ask "$folder/control" "$1"; }

# Every probe has a real target: the address that the runtime gave the pod.
manifest() { # NUMBER
  local probe=''
  case $(($1 % 4)) in
    0) probe='readinessProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 1}' ;;
    1) probe='readinessProbe: {exec: {command: [healthy]}, periodSeconds: 1}' ;;
    2) probe='readinessProbe: {grpc: {port: 8080}, periodSeconds: 1}' ;;
    3) probe='readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}' ;;
  esac
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: pod-$1, namespace: default, labels: {app: cri-sim}}
spec:
  terminationGracePeriodSeconds: 5
  initContainers:
  - {name: init, image: example.org/init:1, command: [sh, -c, echo prepared; exit 0]}
  containers:
  - name: main
    image: example.org/main:1
    command: [sh, -c, echo hello; sleep inf]
    ports: [{containerPort: 8080}]
    $probe
  - {name: side, image: example.org/side:1}
YAML
}
for ((i = 0; i < pods; ++i)); do manifest "$i" >"$folder/manifests/pod-$i.yaml"; done

cat >"$folder/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: $folder/manifests
containerRuntimeEndpoint: unix://$folder/cri.sock
podLogsDir: $folder/pods-logs
volumePluginDir: $folder/plugins
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
maxPods: 200
fileCheckFrequency: 1s
evictionHard: {memory.available: "1Mi", nodefs.available: "0%", imagefs.available: "0%"}
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}, x509: {clientCAFile: ""}}
authorization: {mode: AlwaysAllow}
featureGates: {EventedPLEG: $([ "$pleg" = evented ] && echo true || echo false)}
YAML

: >"$folder/sim.out" # there when it is looked for
"$cri_sim" --socket "$folder/cri.sock" --control "$folder/control" --image-bandwidth 50000000 \
  --latency 'RunPodSandbox=uniform 1ms 20ms' --random-order >"$folder/sim.out" 2>"$folder/sim.log" &
sim_pid=$!
# Its first line says that it serves.
grep -q -m1 serving < <(timeout 20 tail --pid="$sim_pid" -s 0.1 -n +1 -f "$folder/sim.out") || fail "cri_sim did not start"

"$kubelet" --config "$folder/kubelet.yaml" --root-dir "$folder/root" --cert-dir "$folder/pki" --node-ip 10.99.0.1 \
  --hostname-override cri-sim-node >"$folder/kubelet.log" 2>&1 &
kubelet_pid=$!

# Pods, as the kubelet itself tells them, that are $1 ("Running" and "Ready").
count() { { grep -oE "$1" <<<"$answer" || true; } | wc -l; }
deadline=$((SECONDS + 150))
# until_pods WANTED: that many are all that there are, Running and ready.
until_pods() {
  local running=0 ready=0 all=0
  while :; do
    kill -0 "$kubelet_pid" 2>/dev/null || fail "the kubelet has ended"
    answer=$(curl -sk --max-time 10 https://127.0.0.1:10250/pods || true)
    running=$(count '"phase":"Running"') ready=$(count '"type":"Ready"[^}]*"status":"True"') all=$(count '"kind":"Pod"|"podIP":')
    [ "$running" = "$1" ] && [ "$ready" = "$1" ] && break
    [ "$SECONDS" -lt "$deadline" ] || fail "$running of $1 pods are Running, $ready ready ($all addresses)"
    sleep "$poll_seconds"
  done
}
until_pods "$pods"
state=$(ask '{"do":"state"}')
echo "$pleg: $state"
grep -q "\"sandboxesReady\":$pods," <<<"$state" || fail "not a sandbox for each pod"
grep -q "\"containersRunning\":$((2 * pods))," <<<"$state" || fail "not two running containers in each pod"
grep -h . "$folder"/pods-logs/*/main/0.log | grep -c ' stdout F hello$' | grep -qx "$pods" || fail "not a log of each pod"

# A container that ends is started again; ten pods whose manifests go are stopped.
ask '{"do":"exit","pod":"default/pod-1-cri-sim-node","container":"side","code":3}' | grep -q '"containers":1' ||
  fail "nothing to end"
for ((i = 90; i < pods; ++i)); do rm "$folder/manifests/pod-$i.yaml"; done
until_pods $((pods - 10))
until ask '{"do":"state"}' | grep -q "\"containersRunning\":$((2 * (pods - 10))),"; do
  [ "$SECONDS" -lt "$deadline" ] || fail "after ten pods went: $(ask '{"do":"state"}')"
  sleep "$poll_seconds"
done

counters=$(ask '{"do":"counters"}')
echo "$counters"
subscribers=$(grep -oE '"subscribers":[0-9]+' <<<"$counters" | cut -d: -f2)
if [ "$pleg" = evented ]; then
  [ "$subscribers" = 1 ] || fail "the kubelet does not listen to events"
else
  [ "$subscribers" = 0 ] || fail "somebody listens to events"
fi
violations=$(ask '{"do":"violations"}')
grep -q '"total":0,' <<<"$violations" || fail "the runtime saw violations: $violations"
