# ./dev run: sets up, builds what is needed, and hands over to scripts/run/node.sh, which does the rest.

dev_run() {
  local args=() cluster=
  while [ $# -gt 0 ]; do
    case $1 in
      --cluster)
        cluster=yes
        args+=("$1")
        ;;
      --sim | --for)
        [ $# -ge 2 ] || die "./dev run: $1 needs a value"
        args+=("$1" "$2")
        shift
        ;;
      *) die "./dev run: unknown argument '$1' (--sim N, --cluster, --for 30s)" ;;
    esac
    shift
  done
  ensure_packages
  build_targets release denselet denseletctl cri_sim port_bridge
  if [ -n "$cluster" ]; then
    ensure_peers
    DENSELET_PEERS=$(peers_dir)
    export DENSELET_PEERS
  fi
  exec scripts/run/node.sh --programs "$root/build/release" --folder "$root/build/run" "${args[@]}"
}
