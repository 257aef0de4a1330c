# How test files are compiled: without optimization in every preset and with precompiled headers, which halves their time.
# The libraries under test, the fakes and the simulators are compiled as the preset says.

set(denselet_tests_headers <gmock/gmock.h> <gtest/gtest.h> <algorithm> <functional> <map> <memory> <optional> <string>
  <utility> <variant> <vector>)

# What a test may be compiled with; a precompiled header and its users must agree to the letter.
function(denselet_tests_pch name)
  cmake_parse_arguments(ARG "" "" "LIBS;HEADERS" ${ARGN})
  add_library(${name} OBJECT "${CMAKE_BINARY_DIR}/protos_pch.cc")
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest denselet_warnings)
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS} ${denselet_tests_headers})
endfunction()

if(NOT DENSELET_FUZZ)
  denselet_tests_pch(denselet_tests_pch)
  denselet_tests_pch(denselet_protos_tests_pch LIBS denselet_protos HEADERS ${denselet_protos_headers})
endif()

function(denselet_compile_as_test name)
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES DENSELET_TEST TRUE PRECOMPILE_HEADERS_REUSE_FROM denselet_tests_pch)
endfunction()

# For tests that see gRPC and not our messages: under ThreadSanitizer they are compiled with other macros than the
# precompiled headers (src/rpc/CMakeLists.txt).
function(denselet_compile_beside_grpc name)
  if(DENSELET_SANITIZE MATCHES "thread")
    set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
