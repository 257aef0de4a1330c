#!/usr/bin/env bash
# images_test.sh DENSELET CRI_SIM: images that need more than a name, for pods of a real API server on the simulated runtime: those
# of volumes, those of a registry that wants credentials; and what the runtime is told of mounts. Run by control_plane.sh use.
set -euo pipefail
denselet=$1 cri_sim=$2
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-images ns=agent-images
control_plane.sh node-kubeconfig $node >"$work/kubeconfig"
write_config 'nodeStatusUpdateFrequency: 1s'
start_cri_sim --set '{"images":{"users":{"example.org/private/app:1":{"name":"reader","password":"secret"},
  "example.org/private/data:1":{"name":"reader","password":"secret"}}}}'
own_namespace $ns
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
is_ready() { [ "$(condition $node status)" = True ]; }
soon 40 "a node that is ready" is_ready

make() { # NAME SPEC: a pod that is bound to the node
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Pod, metadata: {name: $1, namespace: $ns}, spec: {nodeName: $node,
    tolerations: [{operator: Exists}], automountServiceAccountToken: false, terminationGracePeriodSeconds: 2, $2}}"
}
of() { kubectl get pod -n $ns "$1" -o jsonpath="{$2}"; } # POD PATH
is() { [ "$(of "$1" "$2")" = "$3" ]; } # POD PATH VALUE
told() { kubectl get events -n $ns --field-selector "involvedObject.name=$1,reason=$2" -o jsonpath='{.items[*].message}'; } # POD REASON
has_told() { [[ $(told "$1" "$2") == *"$3"* ]]; } # POD REASON MESSAGE
mounts() { ask "{\"do\":\"mounts\",\"pod\":\"$ns/$1\",\"container\":\"main\"}"; } # POD
waiting='.status.containerStatuses[0].state.waiting'

# An image as a volume: pulled by its own policy before the container's, mounted by the runtime.
make volume 'containers: [{name: main, image: example.org/main:1, volumeMounts: [{name: data, mountPath: /data},
    {name: data, mountPath: /part, subPath: some/dir}]}],
  volumes: [{name: data, image: {reference: "example.org/data:1", pullPolicy: IfNotPresent}}]'
soon 20 "a pod with an image volume" is volume .status.phase Running
seen=$(mounts volume)
[[ $seen == *'"path":"/data","hostPath":"","readOnly":true,"recursiveReadOnly":false,"image":"example.org/data:1","imageSubPath":""'* ]] ||
  fail "another mount: $seen"
[[ $seen == *'"path":"/part","hostPath":"","readOnly":true,"recursiveReadOnly":false,"image":"example.org/data:1","imageSubPath":"some/dir"'* ]] ||
  fail "another part: $seen"
soon 10 "the volume's image in an event" has_told volume Pulled 'Successfully pulled image "example.org/data:1"'
of_the_pod() { # the field paths of events about the volume's image: it is the pod's, not a container's
  kubectl get events -n $ns -o jsonpath='{range .items[?(@.reason=="Pulling")]}{.message}{" of "}{.involvedObject.fieldPath}{"\n"}{end}'
}
pulling() { grep -qx "$1" <<<"$(of_the_pod)"; } # LINE
soon 10 "the volume's image as the pod's" pulling 'Pulling image "example.org/data:1" of '
soon 10 "the container's image as its own" pulling 'Pulling image "example.org/main:1" of spec.containers{main}'
make never 'containers: [{name: main, image: example.org/main:1, volumeMounts: [{name: data, mountPath: /data}]}],
  volumes: [{name: data, image: {reference: "example.org/absent:1", pullPolicy: Never}}]'
soon 20 "a volume whose image is not there" is never $waiting.reason ErrImageNeverPull
is never $waiting.message 'Container image "example.org/absent:1" is not present with pull policy of Never' || fail "told: $(of never $waiting)"
soon 10 "its event" has_told never Failed 'Error: ErrImageNeverPull'
make unlucky 'containers: [{name: main, image: example.org/main:1, volumeMounts: [{name: data, mountPath: /data}]}],
  volumes: [{name: data, image: {reference: "example.org/private/data:1", pullPolicy: IfNotPresent}}]'
soon 20 "a volume whose image cannot be pulled" is unlucky $waiting.reason ImagePullBackOff
soon 10 "its event" has_told unlucky Failed 'Failed to pull image "example.org/private/data:1"'
soon 10 "its back-off" has_told unlucky BackOff 'Back-off pulling image "example.org/private/data:1"'

# A registry that wants to know who pulls: of several credentials the right one is found, missing secrets are told of.
docker() { # NAME TYPE KEY JSON
  kubectl create secret generic -n $ns "$1" --type "kubernetes.io/$2" --from-literal="$3=$4" >/dev/null
}
auth() { printf %s "$1" | base64 -w0; } # USER:PASSWORD
docker other dockerconfigjson .dockerconfigjson "{\"auths\":{\"elsewhere.org\":{\"auth\":\"$(auth a:b)\"}}}"
docker wrong dockerconfigjson .dockerconfigjson "{\"auths\":{\"example.org\":{\"auth\":\"$(auth reader:wrong)\"}}}"
docker old dockercfg .dockercfg "{\"https://example.org/private\":{\"username\":\"reader\",\"password\":\"outdated\"}}"
private='containers: [{name: main, image: "example.org/private/app:1"}]'
make nobody "$private"
soon 20 "a pull without credentials" is nobody $waiting.reason ImagePullBackOff
make stranger "$private, imagePullSecrets: [{name: other}, {name: wrong}, {name: old}, {name: none}]"
soon 20 "a pull with wrong ones" is stranger $waiting.reason ImagePullBackOff
soon 10 "a word about the missing secret" has_told stranger FailedToRetrieveImagePullSecret \
  'Unable to retrieve some image pull secrets (none); attempting to pull the image may not succeed.'
make reader "$private, imagePullSecrets: [{name: wrong}, {name: right}]"
soon 20 "a word about the one that is not there yet" has_told reader FailedToRetrieveImagePullSecret '(right)'
docker right dockerconfigjson .dockerconfigjson "{\"auths\":{\"*.org/private/app\":{\"auth\":\"$(auth reader:secret)\"}}}"
soon 60 "a pull with the right one" is reader .status.phase Running
make again "containers: [{name: main, image: 'example.org/private/app:1', imagePullPolicy: Always}], imagePullSecrets: [{name: right}]"
soon 20 "another pull with it" is again .status.phase Running
! grep -qF -e "$(auth reader:secret)" -e outdated "$log" || fail "credentials are in the log"

# Mounts that are read-only with all that is mounted below.
rro='volumeMounts: [{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: '
mkdir -p "$work/host"
host="volumes: [{name: v, hostPath: {path: $work/host}}]"
shown='.status.containerStatuses[0].volumeMounts[0].recursiveReadOnly'
for mode in Enabled IfPossible Disabled; do
  name=${mode,,}
  make "$name" "containers: [{name: main, image: 'example.org/main:1', $rro $mode}]}], $host"
  soon 20 "a pod with a mount that is $mode" is "$name" .status.phase Running
  can=$([ $mode = Disabled ] && echo false || echo true)
  [[ $(mounts "$name") == *"\"readOnly\":true,\"recursiveReadOnly\":$can"* ]] || fail "$mode: $(mounts "$name")"
  is "$name" "$shown" "$([ $mode = Disabled ] && echo Disabled || echo Enabled)" || fail "$mode is shown as $(of "$name" "$shown")"
done
[ "$(ask '{"do":"violations"}' | grep -o '"total":[0-9]*')" = '"total":0' ] || fail "the runtime was used wrongly: $(ask '{"do":"violations"}')"
kubectl delete pod -n $ns --all --wait=false >/dev/null
none() { [ -z "$(kubectl get pods -n $ns -o name)" ]; }
soon 60 "the end of all pods" none
stop_agent
