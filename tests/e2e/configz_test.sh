#!/usr/bin/env bash
# configz_test.sh DENSELET CRI_SIM CASES: for every case of tests/app/config/configz upstream's kubelet is started, on the
# simulated runtime and standalone, and asked for its /configz; `denselet config print -o json` must say the same. What the
# kubelet refuses we refuse. In namespaces of its own, for root only: the kubelet's ports and mounts are nobody else's.
set -euo pipefail
denselet=$1 cri_sim=$2 cases=$3
kubelet=${DENSELET_PEERS:?run this through ./dev test e2e}/kubelet
start_seconds=40

if [ -z "${DENSELET_INSIDE:-}" ]; then
  DENSELET_INSIDE=1 exec unshare --net --mount --propagation private "$0" "$@"
fi
ip link set lo up
ip address add 10.99.0.1/32 dev lo # a kubelet refuses a loopback address as its node's
mount -t tmpfs none /var/log       # the kubelet's links to logs have a fixed place

folder=$(mktemp -d)
sim_pid='' kubelet_pid=''
stop_kubelet() {
  [ -z "$kubelet_pid" ] || kill -9 "$kubelet_pid" 2>/dev/null || true
  [ -z "$kubelet_pid" ] || wait "$kubelet_pid" 2>/dev/null || true
  kubelet_pid=''
  umount --recursive "$folder/root" 2>/dev/null || true # the kubelet mounts it onto itself
}
cleanup() {
  local status=$?
  stop_kubelet
  [ -z "$sim_pid" ] || kill "$sim_pid" 2>/dev/null || true
  wait || true
  if [ "$status" != 0 ]; then tail -15 "$folder/kubelet.log" >&2 || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Given to both, over what the case says, because a kubelet does not start without them on this machine: where the runtime
# is, folders of this test, no API server that is asked about requests, no cgroups (the machine may have either hierarchy, and
# cri_sim has none), and no fixed share of its disk.
flags_of_both=(--container-runtime-endpoint="unix://$folder/cri.sock" --image-service-endpoint=
  --root-dir="$folder/root" --cert-dir="$folder/pki" --volume-plugin-dir="$folder/plugins" --hostname-override=configz-node
  --node-ip=10.99.0.1 --anonymous-auth=true --authentication-token-webhook=false --authorization-mode=AlwaysAllow
  --client-ca-file= --fail-cgroupv1=false --fail-swap-on=false --cgroups-per-qos=false --enforce-node-allocatable=
  --cgroup-driver=cgroupfs --system-reserved-cgroup= --kube-reserved-cgroup= --system-cgroups= --kubelet-cgroups=
  --make-iptables-util-chains=false --enable-server=true --port=10250 --read-only-port=0 --healthz-port=0 --resolv-conf=
  --cpu-manager-policy=none --memory-manager-policy=None --topology-manager-policy=none --pod-manifest-path= --manifest-url=
  --rotate-certificates=false --rotate-server-certificates=false)
# Not compared where the case has none, because the start itself fills them in: the names of the certificate that it made.
filled_in='s/"tlsCertFile":"[^"]*",|"tlsPrivateKeyFile":"[^"]*",//g'

# Flags of a case that are no part of the configuration, and that a start on this machine cannot bear.
words_of() { # CASE
  grep -vE '^#|^$|^--(bootstrap-)?kubeconfig=|^--hostname-override=' "$cases/$1/flags" | sed "s|/case|$folder/case|g"
}

: >"$folder/sim.out" # there when it is looked for
"$cri_sim" --socket "$folder/cri.sock" --control "$folder/control" >"$folder/sim.out" 2>"$folder/sim.log" &
sim_pid=$!
grep -q -m1 serving < <(timeout 20 tail --pid="$sim_pid" -s 0.1 -n +1 -f "$folder/sim.out") || fail "cri_sim did not start"

openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=configz-node -days 2 -keyout "$folder/key" -out "$folder/cert" 2>/dev/null
# A case that names a certificate gets one there, or, where that is no place of this test's, by flag. Sets certificate.
provide_certificate() {
  certificate=()
  local file
  file=$(sed -nE 's/.*"tlsCertFile":"([^"]*)".*/\1/p' <<<"$ours")
  case $file in
    '') ;;
    "$folder"/*)
      mkdir -p "$(dirname "$file")"
      cp "$folder/cert" "$file"
      cp "$folder/key" "$(sed -nE 's/.*"tlsPrivateKeyFile":"([^"]*)".*/\1/p' <<<"$ours")"
      ;;
    *) certificate=(--tls-cert-file="$folder/cert" --tls-private-key-file="$folder/key") ;;
  esac
}

# Sets ours to what we print, and status.
ask_denselet() { # FLAGS...
  status=0
  ours=$("$denselet" config print -o json "${words[@]}" "${flags_of_both[@]}" "$@" 2>"$folder/ours.log") || status=$?
}

# Sets answer to the kubelet's /configz; false when it ended before.
ask_kubelet() {
  local end=$((SECONDS + start_seconds))
  until answer=$(curl -sk --fail --max-time 5 https://127.0.0.1:10250/configz); do
    kill -0 "$kubelet_pid" 2>/dev/null || return 1
    [ "$SECONDS" -lt "$end" ] || fail "$name: the kubelet does not answer"
    sleep 0.1
  done
}

compared=0 refused=0
for path in "$cases"/*/; do
  name=$(basename "$path")
  rm -rf "$folder/case" "$folder/root" "$folder/pki"
  cp -r "$path" "$folder/case"
  mkdir -p "$folder/root"
  mapfile -t words < <(words_of "$name")
  ask_denselet
  provide_certificate
  [ ${#certificate[@]} = 0 ] || ask_denselet "${certificate[@]}"
  "$kubelet" "${words[@]}" "${flags_of_both[@]}" "${certificate[@]}" >"$folder/kubelet.log" 2>&1 &
  kubelet_pid=$!
  if ask_kubelet; then
    [ "$status" = 0 ] || fail "$name: the kubelet runs with it, and we refuse it: $(cat "$folder/ours.log")"
    theirs=$answer
    [[ $ours == *'"tlsCertFile"'* ]] || theirs=$(sed -E "$filled_in" <<<"$answer")
    if [ "$theirs" != "$ours" ]; then
      diff <(tr ',' '\n' <<<"$theirs") <(tr ',' '\n' <<<"$ours") >&2 || true
      fail "$name: we (>) say something else than the kubelet (<)"
    fi
    compared=$((compared + 1))
  else
    [ "$status" = 1 ] || fail "$name: the kubelet refuses it, and we do not"
    echo "$name: refused by both"
    refused=$((refused + 1))
  fi
  stop_kubelet
done
echo "$compared cases are the same as the running kubelet's, $refused are refused by both"
[ "$compared" -ge 20 ] || fail "too few cases were compared"
