# How our targets are made, so that a folder's CMakeLists.txt is a list of files.

# denselet_library(NAME SOURCES... [LIBS ...]): one per folder of src/; includes are written from src/.
function(denselet_library name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} PRIVATE denselet_warnings)
endfunction()

# 31 000 addresses that the loader has to fill in take 750 kB of the file as a table of them, and 5 kB so.
include(CheckLinkerFlag)
check_linker_flag(CXX "LINKER:-z,pack-relative-relocs" DENSELET_PACKS_RELOCATIONS)

# denselet_program(NAME SOURCES... [LIBS ...]): with jemalloc, which sanitizers would not survive.
function(denselet_program name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} denselet_warnings)
  if(DENSELET_SANITIZE)
    return()
  endif()
  target_sources(${name} PRIVATE "${CMAKE_SOURCE_DIR}/src/app/allocator.cc")
  target_link_libraries(${name} PRIVATE "${DENSELET_JEMALLOC}")
  target_link_options(${name} PRIVATE "LINKER:--gc-sections,--as-needed")
  if(DENSELET_PACKS_RELOCATIONS)
    target_link_options(${name} PRIVATE "LINKER:-z,pack-relative-relocs")
  endif()
endfunction()

set(denselet_sanitizer_environment "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/tsan_suppressions.txt")

# denselet_test(NAME SOURCES... LAYER layer [LIBS ...]): a GoogleTest program with the layer as its label: every case a
# ctest test, or eight parts of the program under sanitizers.
function(denselet_test name)
  cmake_parse_arguments(ARG "" "LAYER" "LIBS" ${ARGN})
  if(DENSELET_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  denselet_compile_as_test(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} denselet_source_dir GTest::gmock GTest::gtest GTest::gtest_main denselet_warnings)
  if(DENSELET_SANITIZE)
    # A process for each case would spend most of its time starting up.
    foreach(part RANGE 7)
      add_test(NAME ${name}.part_${part} COMMAND ${name})
      set_tests_properties(${name}.part_${part} PROPERTIES
        LABELS ${ARG_LAYER} TIMEOUT 300
        ENVIRONMENT "GTEST_TOTAL_SHARDS=8;GTEST_SHARD_INDEX=${part};${denselet_sanitizer_environment}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LAYER} TIMEOUT 120)
endfunction()

# denselet_fuzz(NAME SOURCE [LIBS ...]): a function LLVMFuzzerTestOneInput. With the fuzz preset a libFuzzer program;
# otherwise a program that replays tests/fuzz/corpus/NAME and a seeded handful of mutations, as a test of layer fuzz.
function(denselet_fuzz name source)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
  if(DENSELET_FUZZ)
    add_executable(fuzz_${name} ${source})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(fuzz_${name} ${source} "${CMAKE_CURRENT_SOURCE_DIR}/replay_main.cc")
    add_test(NAME fuzz.${name} COMMAND fuzz_${name} "${corpus}")
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  endif()
  target_include_directories(fuzz_${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_LIBS} denselet_warnings)
endfunction()
