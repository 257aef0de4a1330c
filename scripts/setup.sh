# ./dev setup: the packages. Quick when nothing is missing; the first change to the machine is announced.

# The release that has what Debian 12 is too old for. One extra source, derived from the machine's own apt
# configuration (same mirror, same keyring), pinned below everything installed.
newer_release=trixie
newer_source=/etc/apt/sources.list.d/denselet-newer.sources
newer_pin=/etc/apt/preferences.d/denselet-newer

installed_version() { dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | awk '$1 == "installed" {print $2; exit}'; }
candidate_version() { apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ {if ($2 != "(none)") print $2; exit}'; }
version_suffices() { [ -n "$1" ] && { [ "$2" = - ] || dpkg --compare-versions "$1" ge "$2"; }; }

# Prints "package minimum" for each package that is absent or too old. An optional one counts only where the
# distribution has it: Debian 13 has no clang 16, and without it only lint, fuzz and the clang preset are missing.
missing_packages() {
  local package minimum need
  while read -r package minimum need; do
    case $package in '' | '#'*) continue ;; esac
    version_suffices "$(installed_version "$package")" "$minimum" && continue
    [ "$need" != optional ] || [ -n "$(candidate_version "$package")" ] || continue
    echo "$package $minimum"
  done <scripts/packages.txt
}

# The mirror that serves this machine's own Debian release: of all configured sources, the one whose origin is Debian
# and whose codename is that of /etc/os-release.
own_mirror() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get indextargets --format '$(SITE)|$(CODENAME)|$(ORIGIN)|$(COMPONENT)' 'Created-By: Packages' |
    awk -F'|' -v codename="$codename" '$2 == codename && $3 == "Debian" && $4 == "main" {print $1; exit}'
}

add_newer_source() {
  [ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" != "$newer_release" ] ||
    die "$newer_release lacks what scripts/packages.txt asks for"
  [ -f "$newer_source" ] && [ -f "$newer_pin" ] && return
  local mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(own_mirror)
  [ -n "$mirror" ] || die "no Debian source in this machine's apt configuration to derive $newer_release from"
  note "adding $newer_release (pinned at 100: nothing moves by itself) in $newer_source"
  printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n' "$newer_release" >"$newer_pin"
  {
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$mirror" "$newer_release"
    [ -f "$keyring" ] && printf 'Signed-By: %s\n' "$keyring"
  } >"$newer_source"
  apt-get update -qq || {
    rm -f "$newer_source" "$newer_pin"
    die "this machine's mirror ($mirror) does not serve $newer_release; the extra source was taken back"
  }
}

# Turns "package minimum" lines into apt's words: plain where the distribution's candidate will do, otherwise with the
# newer release named.
choose_releases() {
  local package minimum
  while read -r package minimum; do
    if version_suffices "$(candidate_version "$package")" "$minimum"; then
      echo "$package"
    else
      echo "$package/$newer_release"
    fi
  done
}

install_packages() {
  local missing=$1 chosen
  [ "$(. /etc/os-release && echo "${ID:-}")" = debian ] && have apt-get ||
    die "this is not Debian; install the equivalents of: $(cut -d' ' -f1 <<<"$missing" | xargs)"
  if [ "$(id -u)" != 0 ]; then
    printf 'error: these packages are missing (package, least version):\n%s\n' "$missing" >&2
    die "run this once as root: sudo ./dev setup"
  fi
  say "Installing $(wc -l <<<"$missing") packages"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || note "apt-get update had errors; going on with what it could read"
  chosen=$(choose_releases <<<"$missing")
  if grep -q "/$newer_release" <<<"$chosen"; then
    add_newer_source
  fi
  # shellcheck disable=SC2086
  # Never at the price of something that is there: Docker's containerd.io, say, conflicts with containerd.
  without_services apt-get install -y -qq --no-install-recommends --no-remove -o Dpkg::Use-Pty=0 $(xargs <<<"$chosen") ||
    die "apt-get could not install these without removing others: $(xargs <<<"$chosen")"
  local still
  still=$(missing_packages)
  [ -z "$still" ] || die "still missing after the installation: $(xargs <<<"$still")"
}

# Packages bring servers (nginx, containerd); installing what the tests need must not start any of them.
without_services() {
  local policy=/usr/sbin/policy-rc.d status=0
  [ ! -e "$policy" ] || { "$@"; return; }
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  "$@" || status=$?
  rm -f "$policy"
  return "$status"
}

ensure_packages() {
  local missing
  missing=$(missing_packages)
  if [ -n "$missing" ]; then
    install_packages "$missing"
  fi
}

# Debian 12's containerd, a runtime without CRI's events, for a test beside the installed one: unpacked into the cache, never
# installed. From where this machine's apt finds it; nothing is fetched when it is there.
older_runtime_dir() { echo "$cache_dir/containerd-1.6"; }

older_runtime_version() { apt-cache madison containerd 2>/dev/null | awk '$3 ~ /^1\.6\./ {print $3; exit}'; }

ensure_older_runtime() {
  local dir version part
  [ -n "$cache_dir" ] || die "there is no place for containerd 1.6: set HOME or DENSELET_CACHE"
  dir=$(older_runtime_dir)
  [ ! -x "$dir/usr/bin/containerd" ] || return 0
  version=$(older_runtime_version)
  if [ -z "$version" ] && [ "$(id -u)" = 0 ] && have apt-get; then
    apt-get update -qq || note "apt-get update had errors; going on with what it could read"
    version=$(older_runtime_version)
  fi
  if [ -z "$version" ]; then
    note "apt knows no containerd 1.6 here: the test against a runtime without events is not run"
    return 0
  fi
  say "Fetching containerd $version for tests into $dir"
  mkdir -p "$cache_dir"
  part=$(mktemp -d "$dir.part.XXXX")
  (cd "$part" && apt-get download -qq -o APT::Sandbox::User=root "containerd=$version" && dpkg-deb -x containerd_*.deb unpacked) || {
    rm -rf "$part"
    die "containerd $version could not be fetched"
  }
  # Another one may have been quicker; either result is the same.
  mv -T "$part/unpacked" "$dir" 2>/dev/null || [ -x "$dir/usr/bin/containerd" ] || die "could not make $dir"
  rm -rf "$part"
}

dev_setup() {
  local peers=
  while [ $# -gt 0 ]; do
    case $1 in
      --peers) peers=yes ;;
      *) die "./dev setup: unknown argument '$1'" ;;
    esac
    shift
  done
  ensure_packages
  say "Packages are in place"
  ensure_older_runtime
  if go_missing=$(go_unusable); then
    note "Go: $go_missing"
    note "without it: give the .proto files with DENSELET_PROTOS_DIR=FOLDER; layers that need peers are not run"
  fi
  if [ -n "$peers" ]; then
    ensure_peers
    show_peers
  fi
}
