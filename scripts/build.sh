# ./dev build: configure and build one preset, or all of them.

# Paths relative to the tree, so that a second clone finds what the first one compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros

build_presets=(release debug asan tsan clang fuzz)

# Ninja re-runs CMake by itself when a CMakeLists.txt changes; what it does not see are the presets and the variables
# that only a new configuration reads.
configure_preset() {
  local preset=$1 dir=build/$1 key
  key=$(printf '%s %s\n' "$(sha256sum <CMakePresets.json)" "${DENSELET_PROTOS_DIR:-}" | sha256sum)
  if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/configured" 2>/dev/null)" = "$key" ]; then
    return
  fi
  say "Configuring $preset"
  if [ -z "${DENSELET_PROTOS_DIR:-}" ] && why=$(go_unusable); then
    die "Go $why; or give the .proto files: DENSELET_PROTOS_DIR=FOLDER ./dev build"
  fi
  cmake --preset "$preset" -DDENSELET_PROTOS_DIR="${DENSELET_PROTOS_DIR:-}" >"build/configure-$preset.log" 2>&1 ||
    { tail -40 "build/configure-$preset.log" >&2; die "configuring $preset failed"; }
  printf '%s\n' "$key" >"$dir/configured"
}

build_preset() {
  local preset=$1
  mkdir -p build
  configure_preset "$preset"
  say "Building $preset"
  # Also for the build of the generated types inside it.
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs)
  export CMAKE_BUILD_PARALLEL_LEVEL
  cmake --build "build/$preset" -j "$(jobs)" || die "building $preset failed"
}

# build_targets PRESET TARGET...: only what these need.
build_targets() {
  local preset=$1
  shift
  mkdir -p build
  configure_preset "$preset"
  say "Building $*"
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs)
  export CMAKE_BUILD_PARALLEL_LEVEL
  cmake --build "build/$preset" -j "$(jobs)" --target "$@" || die "building $* failed"
}

dev_build() {
  [ $# -le 1 ] || die "./dev build takes one preset"
  local preset=${1:-release}
  ensure_packages
  if [ "$preset" = all ]; then
    for preset in "${build_presets[@]}"; do build_preset "$preset"; done
    return
  fi
  [[ " ${build_presets[*]} " == *" $preset "* ]] ||
    die "unknown preset '$preset'; there are: ${build_presets[*]} all"
  build_preset "$preset"
}
