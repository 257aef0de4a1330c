# ./dev sim and ./dev bench.

# Runs the simulator: the whole core by default, the reactor's parts with --reactor; with --compilers the same seeds in
# the gcc and the clang build, which must agree to the byte.
dev_sim() {
  local compilers= program=core/denselet_core_sim_run jobs=(--jobs "$(nproc)") args=()
  while [ $# -gt 0 ]; do
    case $1 in
      --compilers) compilers=yes ;;
      --reactor)
        program=denselet_sim_run
        jobs=()
        ;;
      --seed | --trace)
        jobs=()
        args+=("$1")
        ;;
      *) args+=("$1") ;;
    esac
    shift
  done
  ensure_packages
  build_preset release
  if [ -z "$compilers" ]; then
    say "Simulating"
    "build/release/tests/sim/$program" "${jobs[@]}" "${args[@]}"
    return
  fi
  build_preset clang
  say "Simulating with both compilers"
  local preset
  for preset in release clang; do
    "build/$preset/tests/sim/denselet_sim_run" "${args[@]}" >"build/sim-$preset.txt"
    "build/$preset/tests/sim/core/denselet_core_sim_run" --lines "${args[@]}" | grep ' seed ' >>"build/sim-$preset.txt"
  done
  diff build/sim-release.txt build/sim-clang.txt || die "gcc and clang disagree"
  note "$(wc -l <build/sim-release.txt) lines are the same with gcc and clang"
}

bench_names=(codec cri density kube network pods reactor sync)

dev_bench() {
  local name=${1:-}
  [ -n "$name" ] || die "./dev bench NAME; there are: ${bench_names[*]}"
  [[ " ${bench_names[*]} " == *" $name "* ]] || die "no benchmark '$name'; there are: ${bench_names[*]}"
  ensure_packages
  build_preset release
  local command=("build/release/bench/bench_$name" build/bench)
  case $name in
    codec) build_go_bench codecbench && command+=(build/bench/codecbench) ;;
    cri)
      command+=(build/release/bench/cri_sim/cri_sim)
      build_go_bench cribench && command+=(build/bench/cribench)
      ;;
    kube)
      ensure_peers
      build_go_bench watchbench && command+=(build/bench/watchbench)
      DENSELET_PEERS=$(peers_dir)
      export DENSELET_PEERS
      command=(tests/e2e/control_plane.sh run "${command[@]}")
      ;;
    density | pods)
      build_go_bench nodebench || die "this benchmark needs Go: its peer is the upstream kubelet"
      ensure_peers
      DENSELET_PEERS=$(peers_dir)
      export DENSELET_PEERS
      command=(scripts/nodebench.sh build/bench/nodebench "$name" --denselet build/release/src/app/denselet
        --kubelet "$DENSELET_PEERS/kubelet" --cri-sim build/release/bench/cri_sim/cri_sim --out build/bench
        --commit "$(source_commit)" "${@:2}")
      # A part of it is no result.
      [ $# -gt 1 ] || command+=(--results bench/results)
      ;;
    sync)
      ensure_peers
      command+=(build/release/src/app/denselet build/release/bench/cri_sim/cri_sim "${@:2}")
      DENSELET_PEERS=$(peers_dir)
      export DENSELET_PEERS
      command=(tests/e2e/control_plane.sh run "${command[@]}")
      ;;
  esac
  say "Benchmark $name"
  "${command[@]}"
}

# The commit that is built here, and whether it is all.
source_commit() { git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown; }

# build_go_bench NAME: the program that does the same in Go; fails when there is no Go to build it.
build_go_bench() {
  go_unusable >/dev/null && return 1
  mkdir -p build/bench
  say "Building Go's side of the benchmark"
  (cd third_party/peers && GOTOOLCHAIN=local CGO_ENABLED=0 go build -mod=readonly -buildvcs=false -trimpath -o "../../build/bench/$1" "./$1")
}
