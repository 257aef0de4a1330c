#!/usr/bin/env bash
# config.sh FOLDER: prints containerd's configuration of one instance, and writes CNI's into FOLDER/cni.
set -euo pipefail
folder=$1
# Pods have a link each to the instance's network; addresses are those of documentation, which nobody else uses.
cat >"$folder/cni/10-ptp.conflist" <<END
{
  "cniVersion": "0.4.0",
  "name": "denselet-ptp",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": false,
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "198.18.0.0/16"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    }
  ]
}
END
# Where a root file system is an overlay already, another one cannot lie on top of it.
snapshotter=native
probe=$(mktemp -d "$folder/overlay.XXXX")
mkdir "$probe"/{lower,upper,work,merged}
if unshare --mount -- mount -t overlay denselet-probe \
  -o "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" "$probe/merged" 2>/dev/null; then
  snapshotter=overlayfs
fi
rm -rf "$probe"
cat <<END
version = 2
root = "$folder/root"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.internal.v1.tracing", "io.containerd.nri.v1.nri",
]

[grpc]
  address = "/run/containerd/containerd.sock"

[plugins."io.containerd.internal.v1.opt"]
  path = "$folder/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # Machines where a process may not lower its score are common in CI.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$snapshotter"
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
END
