# Compiler flags: build types, sanitizers, and the warnings our own code is held to.

set(DENSELET_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them; empty for none")
option(DENSELET_FUZZ "Build the fuzz targets for libFuzzer instead of the replay programs" OFF)

# -g1: stack traces with lines, at a fraction of the size and link time of full debug information.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()

# One big link at a time: two at once do not fit a small machine's memory.
set_property(GLOBAL PROPERTY JOB_POOLS link_pool=1)
set(CMAKE_JOB_POOL_LINK link_pool)

if(DENSELET_SANITIZE)
  set(sanitizer_flags "-fsanitize=${DENSELET_SANITIZE}")
  if(DENSELET_SANITIZE MATCHES "undefined")
    list(APPEND sanitizer_flags -fno-sanitize-recover=all)
  endif()
  if(DENSELET_FUZZ)
    list(APPEND sanitizer_flags -fsanitize=fuzzer-no-link)
  endif()
  add_compile_options(${sanitizer_flags})
  add_link_options(${sanitizer_flags})
endif()

add_library(denselet_warnings INTERFACE)
target_compile_options(denselet_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wswitch-enum -Werror)
# GCC 12 sees overruns in its own std::string, depending on how long a literal is (GCC bug 105329 and its kin). clang, and the
# sanitizers, look for real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(denselet_warnings INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread)
endif()
# GCC's flow analysis loses its way in sanitized code and warns of std::optional's untouched storage; the builds without
# sanitizers keep the warning.
if(DENSELET_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(denselet_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
