#!/usr/bin/env bash
# trouble_test.sh DENSELET CRI_SIM: a disk without room for the journal, a root directory that cannot be written. Each is told in
# clear words; what runs goes on, nothing is lost, and when the trouble is over all that was wished runs. Alone, in namespaces
# of its own: only for root.
set -euo pipefail
denselet=$1 cri_sim=$2
if [ -z "${DENSELET_INSIDE:-}" ]; then
  DENSELET_INSIDE=1 exec unshare --net --mount --propagation private "$0" "$@"
fi
ip link set lo up
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mkdir "$work/alone" "$work/small"
write_config "$stands_alone"
manifest() { # NAME [FIELDS]
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: default}\nspec: {%s containers: [%s]}\n' "$1" "${2:-}" \
    '{name: main, image: example.org/main:1, command: [sh, -c, sleep inf]}' >"$work/manifests/$1.yaml"
}
state_has() { ask '{"do":"state"}' | grep -q "\"$1\":$2,"; } # NAME NUMBER
ids() { ask '{"do":"pods"}' | grep -oE '"id":"[^"]*","name":"main","attempt":0,"state":"CONTAINER_RUNNING"' | sort; }
start() { start_agent alone --config "$work/config" --denselet-journal "$work/small/journal"; }
start_cri_sim

# No room for the journal: a pod is not begun before it is known that it was; those that run do not notice.
mount -t tmpfs -o size=64k none "$work/small"
trap 'status=$?; set +e; umount --lazy "$work/small"; (exit $status); clean_up' EXIT
for i in {1..20}; do manifest early-$i; done
start
soon 30 "the first pods" state_has containersRunning 20
before=$(ids)
head -c 1000000 /dev/zero >"$work/small/ballast" 2>/dev/null || true
for i in {1..60}; do manifest late-$i; done
soon 20 "clear words" logged '"Could not write the journal" err="append to .*No space left on device"'
[ "$(grep -c "Could not write the journal" "$log")" -le 3 ] || fail "one trouble was told again and again"
# It is killed in the middle of that: the one that follows disturbs nothing either.
kill -9 "$agent"
wait "$agent" 2>/dev/null || true
start
let_it_run 5
[ "$(comm -23 <(echo "$before") <(ids))" = "" ] || fail "pods that ran were disturbed by a full disk"
rm "$work/small/ballast"
soon 40 "all pods when there is room" state_has containersRunning 80
[ "$(comm -23 <(echo "$before") <(ids))" = "" ] || fail "pods that ran were disturbed when there was room again"
[ "$(ids | wc -l)" = 80 ] || fail "a container was made a second time: $(ask '{"do":"pods"}')"
stop_agent 30

# A root directory that cannot be written.
mount --bind "$work/alone" "$work/alone"
mount -o remount,ro,bind "$work/alone"
status=0
timeout 60 "$denselet" --hostname-override alone --root-dir "$work/alone" --cert-dir "$work/pki" --config "$work/config" \
  --container-runtime-endpoint "unix://$work/runtime.sock" >"$work/read_only.log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "an agent without a root directory ended with $status"
grep -q "Failed to run the agent.*$work/alone.*Read-only file system" "$work/read_only.log" || fail "it does not say why: $(cat "$work/read_only.log")"
umount "$work/alone"
[ "$(ids | wc -l)" = 80 ] || fail "an agent that could not run changed containers"

violations=$(ask '{"do":"violations"}')
grep -q '"total":0' <<<"$violations" || fail "the runtime saw: $violations"
