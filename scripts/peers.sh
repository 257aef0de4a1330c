# The programs denselet is tested against, built from third_party/peers (pinned by go.mod and go.sum) into a cache
# outside the tree. Cold, two cores need about ten minutes, so ./dev test starts this beside the C++ build.

# Counted up when build_peers changes what it makes, so that cached peers of the old recipe are not taken for new ones.
peers_recipe=1

peer_names=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet)

# The version the peers report; without these variables they call themselves v0.0.0 and behave differently.
kubernetes_version() { awk '$1 == "k8s.io/kubernetes" {print $2; exit}' third_party/peers/go.mod; }

# Prints why Go cannot be used here; fails (prints nothing) when it can.
go_unusable() {
  local wanted found
  wanted=$(awk '$1 == "go" {print $2; exit}' third_party/peers/go.mod)
  if ! have go; then
    echo "not found; version $wanted or newer is needed to fetch the .proto files and to build the test peers"
    return 0
  fi
  found=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//; s/[^0-9.].*//')
  if [ "$(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -1)" != "$wanted" ]; then
    echo "version $found is too old; $wanted or newer is needed to fetch the .proto files and to build the test peers"
    return 0
  fi
  return 1
}

peers_dir() {
  [ -n "$cache_dir" ] || die "there is no place for the test peers: set HOME or DENSELET_CACHE"
  local key
  key=$(cat third_party/peers/{go.mod,go.sum,tools.go} <(echo "recipe $peers_recipe"; GOTOOLCHAIN=local go env GOVERSION) | sha256sum | cut -c1-16)
  echo "$cache_dir/peers/$key"
}

peers_ready() {
  local dir name
  dir=$(peers_dir)
  for name in "${peer_names[@]}"; do
    [ -x "$dir/$name" ] || return 1
  done
}

ensure_peers() {
  local why
  if why=$(go_unusable); then
    die "the test peers cannot be built: Go $why"
  fi
  if peers_ready; then
    return
  fi
  build_peers
}

build_peers() {
  local dir parts version ldflags commit_date=1970-01-01T00:00:00Z component
  dir=$(peers_dir)
  parts=$dir.part.$$
  version=$(kubernetes_version)
  say "Building test peers ($version) into $dir"
  mkdir -p "$parts"
  ldflags="-s -w"
  for component in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    ldflags+=" -X $component.gitVersion=$version -X $component.gitMajor=1"
    ldflags+=" -X $component.gitMinor=$(cut -d. -f2 <<<"$version") -X $component.gitTreeState=clean"
    ldflags+=" -X $component.gitCommit=denselet-test-peer -X $component.buildDate=$commit_date"
  done
  (
    cd third_party/peers
    export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS="-mod=readonly -buildvcs=false -trimpath"
    go mod download || exit 1
    # One after the other, the largest first: they share most packages, and one link at a time keeps memory low.
    local name package
    for name in kube-apiserver kubelet kube-controller-manager kube-scheduler kubectl etcd; do
      package=k8s.io/kubernetes/cmd/$name
      [ "$name" = etcd ] && package=go.etcd.io/etcd/server/v3
      printf '    peer %s: building (%s)\n' "$name" "$(date +%T)"
      go build -ldflags "$ldflags" -o "$parts/$name" "$package" || exit 1
    done
  ) || {
    rm -rf "$parts"
    die "building the test peers failed"
  }
  # Another build may have been quicker; either result is the same.
  mkdir -p "$dir"
  mv -f "$parts"/* "$dir"/ && rmdir "$parts"
}

show_peers() {
  local dir name
  dir=$(peers_dir)
  say "Test peers are in $dir"
  for name in "${peer_names[@]}"; do
    case $name in
      kubectl) note "$name $("$dir/$name" version --client | awk '/Client/ {print $3}')" ;;
      etcd) note "$name $("$dir/$name" --version | awk '/etcd Version/ {print $3}')" ;;
      *) note "$name $("$dir/$name" --version | awk '{print $2}')" ;;
    esac
  done
}
