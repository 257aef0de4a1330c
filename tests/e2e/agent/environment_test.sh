#!/usr/bin/env bash
# environment_test.sh DENSELET: what containers are given by the agent, seen from inside, with a real API server and containerd:
# variables of every kind, the names of services, /etc/resolv.conf, /etc/hosts, the host's name. What a container refers to may
# come later, also when the agent was killed meanwhile. Starts containerd and a control plane for it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${DENSELET_CONTAINERD:-}" ]; then
  exec "$here/../containerd.sh" run "${BASH_SOURCE[0]}" "$@"
elif [ -z "${DENSELET_CONTROL_PLANE:-}" ]; then
  exec control_plane.sh run "${BASH_SOURCE[0]}" "$@"
fi
denselet=$1
# shellcheck source=/dev/null
. "$here/lib.sh"
node=environment ns=environment
ip address add 10.99.0.1/32 dev lo
printf 'nameserver 192.0.2.53\nsearch lab.example.\noptions timeout:1\n' >"$work/resolv.conf"
write_config "cgroupDriver: cgroupfs
cgroupsPerQOS: false
cgroupRoot: $DENSELET_CGROUP
enforceNodeAllocatable: []
nodeStatusUpdateFrequency: 1s
resolvConf: $work/resolv.conf
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local"
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
own_namespace $ns
begin() {
  start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig" --node-ip 10.99.0.1 \
    --container-runtime-endpoint "$CONTAINER_RUNTIME_ENDPOINT"
}
begin
is_ready() { [ "$(condition $node status)" = True ]; }
soon 40 "a node that is ready" is_ready

make() { # NAME SPEC
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: $ns, labels: {app: web}, annotations: {note: n1}},
    spec: {nodeName: $node, tolerations: [{operator: Exists}], automountServiceAccountToken: false, terminationGracePeriodSeconds: 1, $2}}"
}
is() { [ "$(kubectl get pod -n $ns "$1" -o jsonpath="{$2}")" = "$3" ]; } # POD PATH VALUE
log_of() { cat "$work/logs/${ns}_$1_"*"/main/0.log" | cut -d' ' -f4-; } # POD
says() { log_of "$1" | grep -qxF -- "$2"; } # POD LINE
expect() { says "$1" "$2" || fail "$1 does not say '$2': $(log_of "$1")"; } # POD LINE
waiting='.status.containerStatuses[0].state.waiting'

kubectl create configmap -n $ns settings --from-literal=COLOUR=blue --from-literal=SIZE=7 >/dev/null
kubectl create secret generic -n $ns creds --from-literal=PASSWORD='s3 cret' >/dev/null
kubectl create service clusterip -n $ns my-web --tcp=80:8080 >/dev/null
web=$(kubectl get service -n $ns my-web -o jsonpath='{.spec.clusterIP}')
api=$(kubectl get service -n default kubernetes -o jsonpath='{.spec.clusterIP}')
look='env; echo ---; cat /etc/resolv.conf; echo ---; cat /etc/hosts; echo ---; hostname; echo "args $*"; exec sleep 10011'
make all "hostname: front, subdomain: sub, hostAliases: [{ip: 192.0.2.9, hostnames: [one, two]}],
  containers: [{name: main, image: '$DENSELET_IMAGE', imagePullPolicy: Never, command: [sh, -c, '$look', sh], args: ['\$(COLOUR)', '\$(NOT_THERE)'],
  resources: {requests: {memory: 64Mi, cpu: 250m}},
  envFrom: [{configMapRef: {name: settings}}, {prefix: S_, secretRef: {name: creds}}, {configMapRef: {name: none, optional: true}}],
  env: [{name: SIZE, value: '8-\$(COLOUR)-\$(MY_WEB_SERVICE_PORT)'}, {name: ONE, valueFrom: {configMapKeyRef: {name: settings, key: COLOUR}}},
    {name: TWO, valueFrom: {secretKeyRef: {name: creds, key: PASSWORD}}}, {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
    {name: LABEL, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},
    {name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}, {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}},
    {name: ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}},
    {name: MEMORY, valueFrom: {resourceFieldRef: {resource: requests.memory, divisor: 1Mi}}},
    {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}},
    {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}},
    {name: GONE, valueFrom: {configMapKeyRef: {name: settings, key: absent, optional: true}}}]}]"
soon 40 "a running pod" is all .status.phase Running
ip=$(kubectl get pod -n $ns all -o jsonpath='{.status.podIP}')
[ -n "$ip" ] || fail "no address"
soon 10 "its last word" says all 'args blue $(NOT_THERE)'
cpus=$(kubectl get node $node -o jsonpath='{.status.allocatable.cpu}')
for line in COLOUR=blue SIZE=8-blue-80 ONE=blue 'TWO=s3 cret' 'S_PASSWORD=s3 cret' POD=all LABEL=web NODE=$node HOST_IP=10.99.0.1 \
  "POD_IP=$ip" ACCOUNT=default MEMORY=64 CPU=250 "CPUS=$cpus" "MY_WEB_SERVICE_HOST=$web" "MY_WEB_PORT=tcp://$web:80" \
  "KUBERNETES_SERVICE_HOST=$api" KUBERNETES_SERVICE_PORT=443 'nameserver 10.96.0.10' \
  "search $ns.svc.cluster.local svc.cluster.local cluster.local lab.example" 'options ndots:5' '# Kubernetes-managed hosts file.' \
  "$ip"$'\t'"front.sub.$ns.svc.cluster.local"$'\tfront' '# Entries added by HostAliases.' $'192.0.2.9\tone\ttwo' front; do
  expect all "$line"
done
! log_of all | grep -q '^GONE=' || fail "a key that is not there became a variable"

make plain "enableServiceLinks: false, hostNetwork: true, dnsPolicy: Default, dnsConfig: {nameservers: [192.0.2.1, 192.0.2.2, 192.0.2.4], searches: [x.example]},
  containers: [{name: main, image: '$DENSELET_IMAGE', imagePullPolicy: Never, command: [sh, -c, '$look']}]"
soon 40 "a pod in the node's network" is plain .status.phase Running
soon 10 "its last word" says plain 'args '
expect plain 'nameserver 192.0.2.53'
expect plain 'search lab.example x.example'
expect plain 'options timeout:1'
expect plain '# Kubernetes-managed hosts file (host network).'
expect plain "KUBERNETES_SERVICE_HOST=$api"
! log_of plain | grep -q 'MY_WEB\|192.0.2.4' || fail "too much: $(log_of plain)"
told() { kubectl get events -n $ns --field-selector "involvedObject.name=$1,reason=$2" -o jsonpath='{.items[*].message}'; } # POD REASON
has_told() { [[ $(told "$1" "$2") == *"$3"* ]]; } # POD REASON MESSAGE
soon 10 "a word about too many name servers" has_told plain DNSConfigForming 'the applied nameserver line is: 192.0.2.53 192.0.2.1 192.0.2.2'

# What is not there is waited for, and the pod starts as soon as it came.
needy() { # NAME SOURCE
  make "$1" "containers: [{name: main, image: '$DENSELET_IMAGE', imagePullPolicy: Never, command: [sh, -c, 'echo got \$LATE; exec sleep 10011'],
    env: [{name: LATE, valueFrom: {$2}}]}]"
}
needy late 'configMapKeyRef: {name: late, key: k}'
soon 40 "a pod that waits" is late "$waiting.reason" CreateContainerConfigError
is late "$waiting.message" 'configmap "late" not found' || fail "it waits for $(kubectl get pod -n $ns late -o jsonpath="{$waiting}")"
soon 10 "a word about it" has_told late Failed 'Error: configmap "late" not found'
let_it_run 15 # pauses between tries have grown
kubectl create configmap -n $ns late --from-literal=other=1 >/dev/null
soon 10 "another reason" is late "$waiting.message" "couldn't find key k in ConfigMap $ns/late"
kubectl patch configmap -n $ns late -p '{"data":{"k":"v1"}}' >/dev/null
soon 3 "a pod that got what it waited for" says late 'got v1'
soon 20 "its status" is late .status.phase Running

# The agent dies meanwhile.
needy lost 'secretKeyRef: {name: lost, key: k}'
soon 40 "a pod that waits" is lost "$waiting.message" 'secret "lost" not found'
kill -9 "$agent"
wait "$agent" || true
kubectl create secret generic -n $ns lost --from-literal=k=found >/dev/null
begin
soon 40 "a pod after a restart" says lost 'got found'
says late 'got v1' || fail "a restart of the agent changed what runs"

kubectl delete pod -n $ns --all --wait=false >/dev/null
none() { [ -z "$(kubectl get pod -n $ns -o name)" ]; }
soon 40 "the end of all pods" none
soon 20 "no directories" bash -c "[ -z \"\$(ls -A '$work/$node/pods')\" ]"
expect_nothing_denied $node
stop_agent
