#!/usr/bin/env bash
# lock_test.sh DENSELET: one agent for one root directory, and for one --lock-file. Alone, without an API server.
set -euo pipefail
denselet=$1
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
alone=(--fail-cgroupv1=false --authentication-token-webhook=false --authorization-mode=AlwaysAllow)
runs() { logged "Standalone mode, no API client"; }
fresh() { # NODE FLAGS...: with a log of its own
  : >"$work/$1.log"
  start_agent "$@" "${alone[@]}"
}
has_ended() { ! kill -0 "$1" 2>/dev/null; } # PID

# A second agent on one root says who has it, and ends; the first does not notice.
fresh first
first=$agent
soon 20 "the first agent" runs
status=0
timeout 20 "$denselet" --root-dir "$work/first" --cert-dir "$work/second/pki" "${alone[@]}" >"$work/second.log" 2>&1 || status=$?
[ "$status" = 1 ] || fail "a second agent on one root ended with $status"
grep -q "Failed to run the agent.*$work/first.*process $first\b" "$work/second.log" || fail "it does not say who has the root"
kill -0 "$first" || fail "the first agent is gone"
stop_agent

# However the holder ended, the next one starts.
fresh first
soon 20 "the agent that is killed" runs
kill -9 "$agent"
soon 10 "its end" has_ended "$agent"
fresh first
soon 20 "the agent after one that was killed" runs
stop_agent

# With --lock-file an agent waits for its turn, and may be stopped while it waits.
fresh holder --lock-file "$work/lock"
holder=$agent
soon 20 "the holder of the lock file" runs
fresh waiter --lock-file "$work/lock"
soon 20 "the wait" logged "Acquiring file lock"
let_it_run 1
! runs || fail "two agents run with one lock file"
stop_agent
fresh waiter --lock-file "$work/lock"
let_it_run 0.5
kill -TERM "$holder"
soon 20 "the turn of the one that waits" runs
stop_agent

# With --exit-on-lock-contention an agent makes room for the next one, on the same root too.
fresh polite --lock-file "$work/lock" --exit-on-lock-contention
polite=$agent
soon 20 "the polite agent" runs
log=$work/next.log
"$denselet" --hostname-override next --root-dir "$work/polite" --cert-dir "$work/polite/pki" --lock-file "$work/lock" \
  --denselet-container-logs-dir "$work/links" "${alone[@]}" >"$log" 2>&1 &
agent=$!
agents+=("$agent")
soon 20 "the end of the polite agent" has_ended "$polite"
status=0
wait "$polite" || status=$?
[ "$status" = 0 ] || fail "the polite agent ended with $status"
soon 20 "the next agent" runs
stop_agent
