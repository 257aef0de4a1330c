# ./dev fmt, lint and fuzz.

our_sources() { git ls-files --cached --others --exclude-standard -- 'src/*.cc' 'src/*.h' 'tests/*.cc' 'tests/*.h' 'bench/*.cc' 'bench/*.h'; }

dev_fmt() {
  [ $# -le 1 ] || die "./dev fmt takes --check or nothing"
  case ${1:-} in '' | --check) ensure_packages ;; esac
  case ${1:-} in
    '') our_sources | xargs -r clang-format-14 -i ;;
    --check) our_sources | xargs -r clang-format-14 --dry-run -Werror && say "All sources are formatted" ;;
    *) die "./dev fmt: unknown argument '$1'" ;;
  esac
}

dev_lint() {
  ensure_packages
  mkdir -p build
  configure_preset clang
  # clang-tidy parses what the compiler would: the generated headers and their precompiled form must exist.
  cmake --build build/clang --target denselet_protos_pch -j "$(jobs)"
  local sources
  sources=$(our_sources | grep '\.cc$')
  say "clang-tidy over $(wc -l <<<"$sources") files"
  local status=0
  xargs -P "$(jobs)" -n 4 clang-tidy-16 --quiet -p build/clang <<<"$sources" >build/lint.log 2>&1 || status=$?
  grep -v -E 'warnings? generated|^$' build/lint.log || true
  [ "$status" = 0 ] || die "clang-tidy found the above"
  say "clang-tidy found nothing"
}

dev_fuzz() {
  local names name=${1:-} seconds=${2:-60}
  names=$(cd tests/fuzz && ls -- *_fuzz.cc | sed 's/_fuzz\.cc$//')
  [ -n "$name" ] || die "./dev fuzz NAME [SECONDS]; there are: $(xargs <<<"$names")"
  grep -qFx -- "$name" <<<"$names" || die "no fuzz target '$name'; there are: $(xargs <<<"$names")"
  ensure_packages
  build_preset fuzz
  local found=build/fuzz/corpus/$name
  mkdir -p "$found"
  say "Fuzzing $name for ${seconds}s; new inputs go to $found"
  "build/fuzz/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "$found" "tests/fuzz/corpus/$name"
}
