#!/usr/bin/env bash
# An instance of its own: what is restarted comes back with its data, what --with asks for works, and nothing is left when
# whoever owns it is killed.
set -euo pipefail
control_plane=$(dirname "${BASH_SOURCE[0]}")/../control_plane.sh
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The owner is a process that can be killed without a word.
tail -f /dev/null &
owner=$!
disown "$owner"
folder=$(mktemp -d)
trap 'kill "$owner" 2>/dev/null || true; "$control_plane" down "$folder"' EXIT
"$control_plane" up "$folder" --owner "$owner"

"$control_plane" use "$folder" --with controller-manager,scheduler bash -euo pipefail -c '
  before=$(cat "$DENSELET_CONTROL_PLANE/run/kube-apiserver.pid")
  kubectl create namespace restarted >/dev/null
  control_plane.sh restart kube-apiserver
  [ "$before" != "$(cat "$DENSELET_CONTROL_PLANE/run/kube-apiserver.pid")" ]
  kubectl get namespace restarted >/dev/null
  control_plane.sh stop kube-apiserver
  if kubectl get namespaces >/dev/null 2>&1; then echo "a stopped API server answers" >&2; exit 1; fi
  control_plane.sh start kube-apiserver
  # The controllers and the scheduler found it again: a job gets a pod, and the pod a node.
  kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Node, metadata: {name: place},
    status: {allocatable: {cpu: 1, pods: 9}, conditions: [{type: Ready, status: \"True\"}]}}"
  kubectl create job once --image=none -n restarted >/dev/null
  kubectl wait --for=create pod -l job-name=once -n restarted --timeout=60s >/dev/null
  kubectl wait --for=jsonpath={.spec.nodeName}=place pod -l job-name=once -n restarted --timeout=60s >/dev/null
' || fail "an instance with all processes does not work"

pids=$(cat "$folder"/run/*.pid)
[ "$(wc -w <<<"$pids")" = 5 ] || fail "not all processes run: $pids"
kill -9 "$owner"
for pid in $pids; do
  timeout 20 tail --pid="$pid" -s 0.1 -f /dev/null || fail "process $pid outlived its owner"
done
