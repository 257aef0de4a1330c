#!/usr/bin/env bash
# images.sh FOLDER: writes busybox.tar (localhost/busybox:1: a shell and tools) and pause.tar (localhost/pause:1: sleeps)
# into FOLDER, as OCI archives. Nothing is fetched; the same busybox makes the same bytes.
set -euo pipefail
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=(sh ash cat echo ls ps sleep true false test touch mkdir rm id env hostname ip wget httpd nc kill mount grep head dd)

deterministic_tar() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --format=gnu "$@"; }
digest() { sha256sum "$1" | cut -d' ' -f1; } # FILE

# add_blob FILE: moves it to its place; prints its digest and size.
add_blob() {
  local sum
  sum=$(digest "$1")
  mv "$1" "$layout/blobs/sha256/$sum"
  echo "$sum $(stat -c %s "$layout/blobs/sha256/$sum")"
}

root=$work/root
mkdir -p "$root"/{bin,etc,tmp,proc,sys,dev,run}
chmod 1777 "$root/tmp"
cp "$(command -v busybox)" "$root/bin/busybox"
# Not -q: it would end busybox by a signal now and then.
"$root/bin/busybox" --list | grep -x sh >/dev/null || { echo "images.sh: this busybox has no shell" >&2; exit 1; }
for tool in "${tools[@]}"; do ln -s busybox "$root/bin/$tool"; done
printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$root/etc/passwd"
printf 'root:x:0:\nnobody:x:65534:\n' >"$root/etc/group"
deterministic_tar -C "$root" -cf "$work/layer" .

make_image() { # NAME CONFIG
  local layer layer_size config config_size manifest manifest_size
  layout=$work/$1
  mkdir -p "$layout/blobs/sha256"
  cp "$work/layer" "$work/blob"
  read -r layer layer_size < <(add_blob "$work/blob")
  printf '{"architecture":"%s","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(dpkg --print-architecture)" "$2" "$layer" >"$work/blob"
  read -r config config_size < <(add_blob "$work/blob")
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%s},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:%s","size":%s}]}' \
    "$config" "$config_size" "$layer" "$layer_size" >"$work/blob"
  read -r manifest manifest_size < <(add_blob "$work/blob")
  printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s,"annotations":{"io.containerd.image.name":"localhost/%s:1","org.opencontainers.image.ref.name":"1"}}]}' \
    "$manifest" "$manifest_size" "$1" >"$layout/index.json"
  printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
  deterministic_tar -C "$layout" -cf "$folder/$1.tar" blobs index.json oci-layout
}

make_image busybox '{"Env":["PATH=/bin"],"Cmd":["/bin/sh"]}'
make_image pause '{"Env":["PATH=/bin"],"Entrypoint":["/bin/sleep","2147483647"]}'
