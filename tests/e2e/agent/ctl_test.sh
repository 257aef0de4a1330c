#!/usr/bin/env bash
# ctl_test.sh DENSELET CRI_SIM DENSELETCTL METRICS_MD: people ask the program what it does. The socket is its owner's, is
# replaced when it is a dead one's and never else; clients that say nothing hold up nobody; every metric that is served stands in
# docs/compat/metrics.md with its type and labels, or has a name of our own.
set -euo pipefail
denselet=$1 cri_sim=$2 program=$3 metrics_md=$4 pods=1200
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
socket=$work/alone/denselet/denselet.sock
write_config "maxPods: 2000
$stands_alone"
manifest() { # NAME NAMESPACE COMMAND
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s}\nspec:\n  containers:\n  - {name: main, image: example.org/main:1, command: [sh, -c, "%s"]}\n' \
    "$1" "$2" "$3" >"$work/manifests/$2-$1.yaml"
}
for ((i = 0; i < pods - 3; ++i)); do manifest "server-$i" default 'sleep inf'; done
manifest crash default 'exit 3'
manifest twice default 'sleep inf'
manifest twice other 'sleep inf'

ctl() { "$program" --socket "$socket" "$@"; }
# says PATTERN COMMAND...: it fails, and this is what it says.
says() {
  local pattern=$1 status=0
  shift
  "$@" >"$work/said" 2>&1 || status=$?
  [ "$status" = 1 ] || fail "$* ended with $status: $(cat "$work/said")"
  grep -q -- "$pattern" "$work/said" || fail "$* said: $(cat "$work/said")"
}
shows() { # PATTERN COMMAND...
  local pattern=$1
  shift
  "$@" >"$work/shown" || fail "$* failed"
  grep -qE -- "$pattern" "$work/shown" || fail "$* shows: $(cat "$work/shown")"
}

says "no denselet is running here: there is no socket $socket" ctl pods
start_cri_sim
start_agent alone --config "$work/config" --denselet-shards 2
all_run() { [ "$(ctl pods | grep -c ' 1/1 *Running ')" = $((pods - 1)) ]; }
soon 30 "$((pods - 1)) running pods" all_run
[ "$(stat -c %a "$socket")" = 600 ] || fail "the socket's mode is $(stat -c %a "$socket")"

# What people see.
crash_loops() { grep -qE '^default +crash-alone +0/1 +CrashLoopBackOff +[1-9]' <<<"$(ctl pods)"; }
soon 20 "a crash loop" crash_loops
crash_waits() { grep -qE '^Worker  syncing: wait for the back-off of its crash loop of container "main", .* at most' <<<"$(ctl pod crash-alone)"; }
soon 20 "its reason" crash_waits
shows 'last container started' ctl pod default/server-0-alone
shows 'syncing  waits for change$' ctl pod server-0-alone -n default
soon 10 "events" logged '"PLEG changed its mode" mode="events"'
shows '^Mode +events lead' ctl pleg
shows '^Node +alone, alone$' ctl agent
says 'several namespaces have a pod "twice-alone": default, other; say which with -n NAMESPACE' ctl pod twice-alone
shows '^Pod +other/twice-alone' ctl pod twice-alone -n other
says 'there is no pod "crash-alon"; did you mean default/crash-alone?' ctl pod crash-alon
[ "$(ctl pods -n other | wc -l)" = 2 ] || fail "pods -n other: $(ctl pods -n other)"

# For programs.
[ "$(ctl pods -o json | grep -o '"uid":' | wc -l)" = $pods ] || fail "pods -o json has not all pods"
shows '"transitions":\[\{"at":' ctl pod crash-alone -o json
shows '"podStatus":\{.*"restartCount":' ctl pod crash-alone -o json
shows '"history":\[.*"mode":"events"' ctl pleg -o json
shows '"rssBytes":[1-9]' ctl agent -o json
shows '"families":\[' ctl metrics -o json
ask_http() { curl -s -m 10 --unix-socket "$socket" -o /dev/null -w '%{http_code}' "$@"; }
[ "$(ask_http http://x/nothing)" = 404 ] || fail "an unknown path is not 404"
[ "$(ask_http -X POST http://x/pods)" = 405 ] || fail "POST is not 405"
[ "$(ask_http http://x/pods/default/nobody)" = 404 ] || fail "an unknown pod is not 404"

# Without a terminal top prints when something changes. The crash loop waits longer than this takes, or is told.
ctl top --interval 100ms --for 1s >"$work/top"
[ "$(grep -c '^denselet ' "$work/top")" -le 3 ] || fail "top printed without a change: $(cat "$work/top")"
shows "$pods pods: $((pods - 1)) Running, 1 " cat "$work/top"
shows '^\{"agent":\{"version":.*\},"pods":\[.*\]\}$' ctl top --interval 100ms --for 200ms -o json

# Names, types and labels: of what is served, against the tables for /metrics.
ctl metrics >"$work/metrics"
awk -F'|' '/^## /{inside = /^## 1\. `\/metrics`/} inside && /^\| `/ {
  gsub(/[` ]/, "", $2); gsub(/ /, "", $3); gsub(/[ –]/, "", $4)
  print $2, $3, $4 }' "$metrics_md" >"$work/contract"
[ "$(wc -l <"$work/contract")" -gt 150 ] || fail "the tables in $metrics_md could not be read"
awk '
  NR == FNR { type[$1] = $2; labels[$1] = "," $3 ","; next }
  /^# TYPE / { name = $3; kind = $4
    if (name ~ /^denselet_/) { ours++; next }
    upstream++
    if (!(name in type)) print name " is neither upstream'"'"'s nor named denselet_..."
    else if (type[name] != kind) print name " is a " kind ", upstream'"'"'s a " type[name]
    next }
  /^#/ || name ~ /^denselet_/ { next }
  { open = index($0, "{"); if (!open) { if (labels[name] !~ /^,+$/) print name " has no labels"; next }
    text = substr($0, open + 1); sub(/} [^}]*$/, "", text)
    gsub(/="([^"\\]|\\.)*"/, "", text); count = split(text, has, ",")
    split(labels[name], wanted, ","); want = 0
    for (i in wanted) if (wanted[i] != "") want++
    for (i = 1; i <= count; i++) {
      if (has[i] == "le" && kind == "histogram") { want++; continue }
      if (index(labels[name], "," has[i] ",") == 0) print name " has a label " has[i] }
    if (count != want) print name " has " count " labels: " $0 }
  END { if (upstream < 10 || ours < 5) print "only " upstream " and " ours " metrics" }
' "$work/contract" "$work/metrics" >"$work/differences"
[ ! -s "$work/differences" ] || fail "metrics: $(sort -u "$work/differences" | head -20)"
grep -q '^kubelet_runtime_operations_total{operation_type="run_podsandbox"} ' "$work/metrics" || fail "no pod sandbox was counted"

# Who is not its owner is told so.
if [ "$(id -u)" = 0 ]; then
  cp "$program" "$work/ctl" && chmod 755 "$work/ctl" "$work" "$work/alone" "$work/alone/denselet"
  says "is for its owner only" setpriv --reuid 65534 --regid 65534 --clear-groups "$work/ctl" --socket "$socket" pods
fi

# As many as may connect ask at once, and each is answered.
for path in pods agent metrics; do
  curl -s -m 60 -Z --parallel-immediate --parallel-max 60 --unix-socket "$socket" "http://x/$path?[1-60]" -o /dev/null \
    -w '%{http_code}\n' >"$work/codes" || fail "not all who ask for $path at once are answered"
  [ "$(grep -cx 200 "$work/codes")" = 60 ] || fail "60 ask for $path at once: $(sort "$work/codes" | uniq -c)"
done

# More clients than are served at once connect and say nothing.
mkfifo "$work/silence"
exec 7<>"$work/silence"
for ((i = 0; i < 80; ++i)); do
  curl -s --unix-socket "$socket" telnet://x <&7 >/dev/null 2>&1 &
  agents+=($!)
done
shows "^default +server-7-alone +1/1 +Running" timeout 60 "$program" --socket "$socket" pods

# Nor do those that ask for much and read slowly: what they do not take is not made.
rss() { awk '/^VmRSS/ {print $2}' "/proc/$agent/status"; }
before=$(rss)
for ((i = 0; i < 30; ++i)); do
  curl -s --limit-rate 1k --unix-socket "$socket" http://x/pods >/dev/null 2>&1 &
  agents+=($!)
done
for ((i = 0; i < 5; ++i)); do shows "^default +server-7-alone +1/1 +Running" timeout 60 "$program" --socket "$socket" pods; done
[ "$(rss)" -lt $((before + 40000)) ] || fail "slow clients cost $(($(rss) - before)) KiB"

# A second agent does not take it away.
"$denselet" --hostname-override second --root-dir "$work/second" --cert-dir "$work/second/pki" --config "$work/config" \
  --denselet-container-logs-dir "$work/links" --denselet-socket "$socket" --container-runtime-endpoint "unix://$work/absent.sock" >"$work/second.log" 2>&1 &
second=$!
agents+=("$second")
soon 20 "the second agent's complaint" grep -q 'Could not listen for denseletctl.*another process has its lock' "$work/second.log"
shows '^Node +alone, alone$' ctl agent
kill -TERM "$second"
wait "$second" || fail "the second agent ended with $?"
shows '^Node +alone, alone$' ctl agent

# What one leaves behind that is killed is of no use, and replaced by the next.
kill -9 "$agent"
wait "$agent" || true
says "nobody listens on $socket" ctl pods
start_agent alone --config "$work/config" --denselet-shards 2
soon 30 "all pods after a restart" all_run
stop_agent
[ ! -e "$socket" ] || fail "the socket is left"
