#!/usr/bin/env bash
# volumes_test.sh DENSELET: ordinary pods of a real API server on containerd, with the volumes that such pods have: token, configMap,
# secret, downwardAPI, trust bundles, emptyDir shared by init and main container, hostPath, subPath. What they are made of changes, and is seen in
# the container; the agent is killed while it mounts; deleted pods leave no mount and no directory. Run by containerd.sh run
# control_plane.sh run.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-volumes ns=agent-volumes
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
write_config "nodeStatusUpdateFrequency: 1s
cgroupDriver: cgroupfs
cgroupsPerQOS: false
cgroupRoot: $DENSELET_CGROUP
enforceNodeAllocatable: []
featureGates: {ClusterTrustBundle: true, ClusterTrustBundleProjection: true}"
# A node needs an address, and there is nothing but the loopback.
ip link add node0 type veth peer name node1
ip address add 198.19.0.1/24 dev node0
ip link set node0 up
ip link set node1 up
own_namespace $ns
kubectl create configmap -n $ns kube-root-ca.crt --from-file=ca.crt="$DENSELET_PKI/ca.crt" >/dev/null
kubectl create configmap -n $ns conf --from-literal=k=one --from-literal=other=x >/dev/null
kubectl create secret generic -n $ns sec --from-literal=pw=hidden >/dev/null
start() {
  start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig" --node-ip 198.19.0.1 \
    --container-runtime-endpoint "$CONTAINER_RUNTIME_ENDPOINT"
}
start
is_ready() { [ "$(condition $node status)" = True ]; }
soon 40 "a node that is ready" is_ready

make() { # NAME SPEC [METADATA]
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: $ns ${3:-}}, spec: {nodeName: $node,
    tolerations: [{operator: Exists}], terminationGracePeriodSeconds: 1, enableServiceLinks: false, $2}}"
}
of() { kubectl get pod -n $ns "$1" -o jsonpath="{$2}"; } # POD PATH
is() { [ "$(of "$1" "$2")" = "$3" ]; } # POD PATH VALUE
in_container() { # POD COMMAND
  local id
  id=$(of "$1" '.status.containerStatuses[0].containerID')
  ctr task exec --exec-id "look-$RANDOM$RANDOM" "${id#containerd://}" sh -c "$2"
}
shows() { [ "$(in_container "$1" "$2")" = "$3" ]; } # POD COMMAND TEXT
expect() { shows "$@" || fail "$2 in $1 shows '$(in_container "$1" "$2")' and not '$3'"; }
image="image: $DENSELET_IMAGE, imagePullPolicy: Never"
forever="trap 'exit 0' TERM; while true; do sleep 1; done"
volumes="volumes: [
    {name: shared, emptyDir: {}}, {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}},
    {name: conf, configMap: {name: conf, items: [{key: k, path: dir/k, mode: 256}]}},
    {name: all, configMap: {name: conf}}, {name: sec, secret: {secretName: sec, defaultMode: 288}},
    {name: maybe, configMap: {name: absent, optional: true}},
    {name: host, hostPath: {path: $work/host, type: DirectoryOrCreate}},
    {name: down, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}},
      {path: cpu, resourceFieldRef: {containerName: main, resource: requests.cpu, divisor: 1m}}]}}]"
mounts="volumeMounts: [{name: shared, mountPath: /shared}, {name: memory, mountPath: /memory},
    {name: conf, mountPath: /conf}, {name: all, mountPath: /all}, {name: sec, mountPath: /sec}, {name: maybe, mountPath: /maybe},
    {name: host, mountPath: /host}, {name: down, mountPath: /down},
    {name: all, mountPath: /part, subPath: k}, {name: shared, mountPath: /made, subPathExpr: 'of/\$(WHO)'}]"
make ordinary "initContainers: [{name: init, $image, command: [sh, -c, 'echo prepared >/shared/file'],
    volumeMounts: [{name: shared, mountPath: /shared}]}],
  containers: [{name: main, $image, resources: {requests: {cpu: 250m}}, env: [{name: WHO, value: me}],
    command: [sh, -c, \"$forever\"], $mounts}], $volumes" ', labels: {app: web}'
soon 60 "the ordinary pod" is ordinary .status.phase Running
expect ordinary 'cat /shared/file' prepared
expect ordinary 'cat /conf/dir/k /all/k /sec/pw' oneonehidden
expect ordinary 'stat -c %a -L /conf/dir/k /sec/pw /all/k' $'400\n440\n644'
expect ordinary 'readlink /all/k' ..data/k
expect ordinary 'stat -c %a /shared /memory' $'777\n1777'
expect ordinary 'ls /maybe | wc -l' 0
expect ordinary 'cat /down/labels; echo; cat /down/cpu' $'app="web"\n250'
expect ordinary 'cat /part' one
expect ordinary 'touch /made/x && ls /shared/of/me' x
expect ordinary 'touch /all/y 2>/dev/null || echo refused' refused
expect ordinary 'dd if=/dev/zero of=/memory/big bs=64k count=32 2>/dev/null || echo full' full
expect ordinary 'cat /var/run/secrets/kubernetes.io/serviceaccount/namespace' $ns
token=$(in_container ordinary 'cat /var/run/secrets/kubernetes.io/serviceaccount/token')
who() {
  kubectl --kubeconfig /dev/null --server "https://$DENSELET_APISERVER" --certificate-authority "$DENSELET_PKI/ca.crt" --token "$1" \
    auth whoami -o jsonpath='{.status.userInfo.username}'
}
[ "$(who "$token")" = "system:serviceaccount:$ns:default" ] || fail "the token is of '$(who "$token")'"

# Changes are seen in the container, but not in a part that was mounted.
kubectl patch configmap -n $ns conf -p '{"data":{"k":"two"}}' >/dev/null
soon 10 "the new configMap" shows ordinary 'cat /all/k /conf/dir/k' twotwo
expect ordinary 'cat /part' one
kubectl patch secret -n $ns sec -p '{"stringData":{"pw":"changed"}}' >/dev/null
soon 10 "the new secret" shows ordinary 'cat /sec/pw' changed
kubectl label pod -n $ns ordinary app=other --overwrite >/dev/null
soon 10 "the new label" shows ordinary 'cat /down/labels' 'app="other"'
kubectl create configmap -n $ns absent --from-literal=now=here >/dev/null
soon 10 "what was missing" shows ordinary 'cat /maybe/now' here

# Trust bundles, by name and by signer: each certificate once, and what changes is seen.
bundle() { # NAME SIGNER LABEL FILES...
  kubectl apply -f - >/dev/null <<BUNDLE
apiVersion: certificates.k8s.io/v1beta1
kind: ClusterTrustBundle
metadata: {name: "$1", labels: {kind: "$3"}}
spec:
  signerName: "$2"
  trustBundle: |
$(cat "${@:4}" | sed 's/^/    /')
BUNDLE
}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/other.key" -out "$work/other.crt" -subj /CN=other \
  -addext basicConstraints=critical,CA:TRUE 2>/dev/null
ca=$DENSELET_PKI/ca.crt
bundle plain "" none "$ca"
bundle denselet.dev:signer:1 denselet.dev/signer live "$ca" "$work/other.crt"
bundle denselet.dev:signer:2 denselet.dev/signer dead "$work/other.crt"
make trusts "containers: [{name: main, $image, command: [sh, -c, \"$forever\"], volumeMounts: [{name: v, mountPath: /v}]}],
  volumes: [{name: v, projected: {sources: [{clusterTrustBundle: {name: plain, path: plain.pem}},
    {clusterTrustBundle: {signerName: denselet.dev/signer, labelSelector: {matchLabels: {kind: live}}, path: live.pem}},
    {clusterTrustBundle: {signerName: denselet.dev/signer, labelSelector: {}, path: all.pem}},
    {clusterTrustBundle: {name: later, optional: true, path: later.pem}}]}}]"
soon 40 "a pod with trust bundles" is trusts .status.phase Running
expect trusts 'cat /v/plain.pem' "$(cat "$ca")"
certificates='grep -c BEGIN /v/plain.pem /v/live.pem /v/all.pem /v/later.pem'
expect trusts "$certificates" $'/v/plain.pem:1\n/v/live.pem:2\n/v/all.pem:2\n/v/later.pem:0'
bundle plain "" none "$work/other.crt"
soon 20 "the new bundle" shows trusts 'cat /v/plain.pem' "$(cat "$work/other.crt")"
bundle later "" none "$ca"
kubectl label clustertrustbundle denselet.dev:signer:1 kind=dead --overwrite >/dev/null
kubectl label clustertrustbundle denselet.dev:signer:2 kind=live --overwrite >/dev/null
soon 20 "other bundles of the signer" shows trusts "$certificates" $'/v/plain.pem:1\n/v/live.pem:1\n/v/all.pem:2\n/v/later.pem:1'

# This containerd cannot make what is mounted below a mount read-only: who insists on it waits.
rro="volumeMounts: [{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: "
make insists "containers: [{name: main, $image, $rro Enabled}]}], volumes: [{name: v, emptyDir: {}}]"
make content "containers: [{name: main, $image, command: [sh, -c, \"$forever\"], $rro IfPossible}]}], volumes: [{name: v, emptyDir: {}}]"
soon 40 "a pod that is content with less" is content .status.phase Running
is content '.status.containerStatuses[0].volumeMounts[0].recursiveReadOnly' Disabled || fail "it is told to have more than it has"
expect content 'touch /v/x 2>/dev/null || echo refused' refused
soon 20 "a pod that is not" is insists '.status.containerStatuses[0].state.waiting.message' \
  'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not supported by the runtime'
kubectl delete pod -n $ns insists --force --grace-period 0 >/dev/null 2>&1

# A user and a group.
make owned "securityContext: {runAsUser: 1000, fsGroup: 2000}, containers: [{name: main, $image, command: [sh, -c, \"$forever\"],
    volumeMounts: [{name: shared, mountPath: /shared}]}], volumes: [{name: shared, emptyDir: {}}]"
soon 40 "a pod with a group" is owned .status.phase Running
expect owned 'stat -c "%a %g" /shared' '2777 2000'
expect owned 'stat -c "%a %u %g" -L /var/run/secrets/kubernetes.io/serviceaccount/token' '640 1000 2000'
expect owned 'touch /shared/x && stat -c %g /shared/x' 2000

# What is missing is waited for, with a word about it.
make waits "containers: [{name: main, $image, command: [sh, -c, \"$forever\"], volumeMounts: [{name: v, mountPath: /v}]}],
  volumes: [{name: v, secret: {secretName: later}}]"
told() { kubectl get events -n $ns -o jsonpath='{.items[?(@.reason=="FailedMount")].message}' | grep -qF "$1"; } # TEXT
soon 20 "a word about the secret" told 'MountVolume.SetUp failed for volume "v" : secret "later" not found'
soon 20 "a word about it in the log" logged "Pod waits for a volume.*pod=\"$ns/waits\".*volumeName=\"v\".*later"
kubectl create secret generic -n $ns later --from-literal=a=b >/dev/null
soon 20 "the pod whose secret came" is waits .status.phase Running
logged "Pod has the volume that it waited for.*pod=\"$ns/waits\"" || fail "nothing in the log of the end of the wait"
make several "containers: [{name: main, $image, command: [sh, -c, \"$forever\"], volumeMounts: [{name: one, mountPath: /one}, {name: two, mountPath: /two},
    {name: three, mountPath: /three}]}], volumes: [{name: one, secret: {secretName: none}}, {name: two, configMap: {name: none}},
    {name: three, hostPath: {path: $work/none, type: Directory}}]"
soon 20 "a word about the first of several" told 'MountVolume.SetUp failed for volume "one" : secret "none" not found'
soon 20 "a word about the second" told 'MountVolume.SetUp failed for volume "two" : configmap "none" not found'
soon 20 "a word about the third" told 'MountVolume.SetUp failed for volume "three" : hostPath type check failed'
kubectl delete pod -n $ns several --force --grace-period 0 >/dev/null 2>&1

# A part of a volume that leads out of it is refused; what the machine looks like is in the log only.
make escapes "initContainers: [{name: init, $image, command: [sh, -c, 'ln -s / /shared/out'], volumeMounts: [{name: shared, mountPath: /shared}]}],
  containers: [{name: main, $image, volumeMounts: [{name: shared, mountPath: /v, subPath: out/etc}]}], volumes: [{name: shared, emptyDir: {}}]"
refused='failed to prepare subPath for volumeMount "shared" of container "main"'
waiting=.status.containerStatuses[0].state.waiting
soon 20 "the reason of a part that is refused" is escapes $waiting.reason CreateContainerConfigError
is escapes $waiting.message "$refused" || fail "the status says '$(of escapes $waiting.message)'"
failed() { kubectl get events -n $ns -o jsonpath='{.items[?(@.reason=="Failed")].message}' | grep -qF "$1"; } # TEXT
soon 20 "an event of a part that is refused" failed "Error: $refused"
logged "Could not prepare a sub-path.*pod=\"$ns/escapes\".*subPath=\"out/etc\"" || fail "nothing in the log of the part that was refused"
kubectl delete pod -n $ns escapes --force --grace-period 0 >/dev/null 2>&1

# What is removed while the pod runs: its files stay, and people are told.
kubectl create configmap -n $ns goes --from-literal=k=old >/dev/null
make keeps "containers: [{name: main, $image, command: [sh, -c, \"$forever\"], volumeMounts: [{name: v, mountPath: /v}]}],
  volumes: [{name: v, configMap: {name: goes}}]"
soon 40 "a pod with a configMap" is keeps .status.phase Running
kubectl delete configmap -n $ns goes >/dev/null
soon 20 "a word about what was removed" told 'MountVolume.SetUp failed for volume "v" : configmap "goes" not found'
soon 20 "a word about it in the log" logged "Volume of a running pod could not be renewed.*pod=\"$ns/keeps\""
expect keeps 'cat /v/k' old
kubectl create configmap -n $ns goes --from-literal=k=new >/dev/null
soon 20 "the configMap that came back" shows keeps 'cat /v/k' new
soon 20 "the end of it in the log" logged "Volume of a running pod was renewed again.*pod=\"$ns/keeps\""
make claims "containers: [{name: main, $image, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, persistentVolumeClaim: {claimName: none}}]"
soon 20 "a word about what nobody can do" told 'persistentVolumeClaim volumes are not supported yet'

# Killed while it mounts, again and again: nothing is mounted twice, and all pods come to run.
twice() { grep -o " $work/$node/pods/[^ ]*" /proc/self/mountinfo | sort | uniq -d; }
for i in 1 2 3 4 5 6 7 8; do
  make "many-$i" "containers: [{name: main, $image, env: [{name: WHO, value: me}], resources: {requests: {cpu: 1m}},
    command: [sh, -c, \"$forever\"], $mounts}], $volumes"
  if [ $((i % 2)) = 0 ]; then
    kill -9 "$agent"
    wait "$agent" || true
    start
  fi
done
all_run() { for i in 1 2 3 4 5 6 7 8; do is "many-$i" .status.phase Running || return 1; done; }
soon 90 "the pods of a killed agent" all_run
[ -z "$(twice)" ] || fail "mounted twice: $(twice)"
is ordinary '.status.containerStatuses[0].restartCount' 0 || fail "a killed agent restarted a container"
kubectl patch configmap -n $ns conf -p '{"data":{"k":"three"}}' >/dev/null
soon 20 "a new configMap after a restart" shows ordinary 'cat /all/k' three

# One is deleted while there is no agent.
kill -9 "$agent"
wait "$agent" || true
kubectl delete pod -n $ns many-1 --force --grace-period 0 >/dev/null 2>&1
start
kubectl delete pod -n $ns --all --wait=false >/dev/null
none() { [ -z "$(kubectl get pods -n $ns -o name)" ]; }
soon 90 "the end of all pods" none
no_mounts() { ! grep -q " $work/$node/pods/" /proc/self/mountinfo; }
soon 20 "no mounts" no_mounts
no_directories() { [ -z "$(ls -A "$work/$node/pods")" ]; }
soon 30 "no directories" no_directories
[ -d "$work/host" ] || fail "a hostPath was removed"
stop_agent
