#!/usr/bin/env bash
# token_test.sh DENSELET: a token that is revoked is told in the log, and another one in its file is taken up. Run by
# control_plane.sh use.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
node=agent-token-$reactor
own_namespace $node
kubectl create clusterrolebinding $node --clusterrole=system:node --serviceaccount=$node:node >/dev/null
make_token() {
  kubectl create serviceaccount -n $node node >/dev/null
  kubectl create token -n $node node >"$work/token.new"
  mv "$work/token.new" "$work/token"
}
make_token
control_plane.sh node-kubeconfig $node | sed '/client-key-data/d; s|client-certificate-data: .*|tokenFile: '"$work"'/token|' \
  >"$work/kubeconfig"
cat >"$work/config" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false  # the test machine has no unified hierarchy; harmless where there is one
nodeLeaseDurationSeconds: 4
CONFIG
start_agent $node --config "$work/config" --kubeconfig "$work/kubeconfig"
soon 30 "registration" is_not_ready $node
soon 20 "the lease" renewed $node

kubectl delete serviceaccount -n $node node >/dev/null
soon 60 "the word that the token is refused" logged 'err=".*401.*Unauthorized'
ticks_before=$(cpu_ticks)
let_it_run 5
[ $(($(cpu_ticks) - ticks_before)) -le 50 ] || fail "a busy loop while it is refused"
make_token
replaced_at=$(date -u +%Y-%m-%dT%H:%M:%S)
soon 60 "the lease's renewal with another token" renewed_since $node "$replaced_at"
pod $node $node bound
soon 60 "a pod" logged "Changed desired pod.*op=\"ADD\".*pod=\"$node/bound\""
stop_agent 10
kubectl delete node $node >/dev/null
kubectl delete clusterrolebinding $node >/dev/null
kubectl delete namespace $node --wait=false >/dev/null
