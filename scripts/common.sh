# Helpers shared by the verbs of ./dev. Sourced, never run.

# Where the test peers are kept. Asked for when needed: most verbs do without.
cache_dir=${DENSELET_CACHE:-${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}}
[ -n "${DENSELET_CACHE:-}" ] || cache_dir=${cache_dir:+$cache_dir/denselet}

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Colours only where someone sees them.
if [ ! -t 1 ]; then
  say() { printf '==> %s\n' "$*"; }
fi

have() { command -v "$1" >/dev/null 2>&1; }

# Compilations of the generated Kubernetes types take up to 2 GiB each; keep to what the memory holds.
jobs() {
  local cores memory_gib
  cores=$(nproc)
  memory_gib=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  local by_memory=$((memory_gib / 2))
  [ "$by_memory" -lt 1 ] && by_memory=1
  echo "${JOBS:-$((cores < by_memory ? cores : by_memory))}"
}
