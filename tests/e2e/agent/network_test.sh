#!/usr/bin/env bash
# network_test.sh DENSELET CRI_SIM: a runtime whose network has no configuration. Pods wait for it and say so, but for those on
# the node's own network; what runs goes on, and when it is there all that was wished runs. Alone, in a network of its own.
set -euo pipefail
denselet=$1 cri_sim=$2
if [ -z "${DENSELET_INSIDE:-}" ]; then
  DENSELET_INSIDE=1 exec unshare --net "$0" "$@"
fi
ip link set lo up
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
write_config "$stands_alone"
manifest() { # NAME [FIELDS]
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\nspec: {%s containers: [%s]}\n' "$1" "${2:-}" \
    '{name: main, image: example.org/main:1, command: [sh, -c, sleep inf]}' >"$work/manifests/$1.yaml"
}
running() { ask '{"do":"pods"}' | tr '{' '\n' | awk -F'"' '/"pod":/ { pod = $8 } /CONTAINER_RUNNING/ { print pod, $4 }' | sort; }
runs() { running | grep "^default/$1-alone "; } # POD
start_cri_sim
manifest early
start_agent alone --config "$work/config"
soon 30 "a pod" runs early
before=$(running)

ask '{"do":"set","settings":{"networkReady":false}}' | grep -q '"ok":true' || fail "no such setting"
soon 30 "clear words" logged "Container runtime network is not ready"
manifest waits
manifest on-host 'hostNetwork: true,'
soon 30 "the pod on the node's network" runs on-host
soon 30 "why the other waits" logged 'object="default/waits-alone".*reason="NetworkNotReady" message="network is not ready: '
! runs waits || fail "a pod runs without a network"
[ "$(running | grep early)" = "$before" ] || fail "a pod that ran was disturbed"
ask '{"do":"set","settings":{"networkReady":true}}' >/dev/null
soon 60 "the pod that waited" runs waits
[ "$(running | grep early)" = "$before" ] || fail "a pod that ran was disturbed"
stop_agent
