#!/usr/bin/env bash
# older_runtime.sh CACHE: prints the folder with Debian 12's containerd 1.6, a runtime without CRI's events, unpacked (not
# installed) from its package. It is fetched once, from where this machine's apt finds it.
set -euo pipefail
cache=${1:?which cache?}
folder=$cache/containerd-1.6
if [ ! -x "$folder/usr/bin/containerd" ]; then
  mkdir -p "$cache"
  part=$(mktemp -d "$cache/containerd-1.6.part.XXXX")
  trap 'rm -rf "$part"' EXIT
  cd "$part"
  version=$(apt-cache madison containerd | awk '$3 ~ /^1\.6\./ {print $3; exit}')
  [ -n "$version" ] || { echo "older_runtime.sh: apt knows no containerd 1.6" >&2; exit 1; }
  apt-get download -qq -o APT::Sandbox::User=root "containerd=$version" >&2
  dpkg-deb -x containerd_*.deb unpacked
  # Another one may have been quicker.
  mv -T unpacked "$folder" 2>/dev/null || [ -x "$folder/usr/bin/containerd" ]
fi
echo "$folder/usr/bin"
