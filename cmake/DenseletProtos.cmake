# The generated Kubernetes and CRI messages (third_party/protos): built once per compiler, shared by all presets.

set(DENSELET_PROTOS_DIR "$ENV{DENSELET_PROTOS_DIR}" CACHE PATH
    "Folder with the Kubernetes .proto files; empty: fetched with Go as third_party/protos/go.mod pins them")

# gRPC without TLS: a runtime's socket is local. With it half of the library, and OpenSSL a second time, would be loaded and
# relocated for nothing. It, Abseil and Protobuf are linked in where their archives are there: some fifty shared libraries
# have a page or two of their own each, and what of them is never used would be mapped beside what is. Not under sanitizers,
# whose lists of exceptions name the libraries.
if(NOT DENSELET_SANITIZE)
  set(Protobuf_USE_STATIC_LIBS ON)
endif()
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(grpcpp REQUIRED IMPORTED_TARGET grpc++_unsecure)
set(grpcpp_archives)
foreach(name IN LISTS grpcpp_LIBRARIES ITEMS upb address_sorting cares)
  find_library(DENSELET_ARCHIVE_${name} "lib${name}.a")
  list(APPEND grpcpp_archives "${DENSELET_ARCHIVE_${name}}")
endforeach()
list(REMOVE_DUPLICATES grpcpp_archives)
add_library(denselet_grpcpp INTERFACE)
if(DENSELET_SANITIZE OR "${grpcpp_archives}" MATCHES "NOTFOUND")
  target_link_libraries(denselet_grpcpp INTERFACE PkgConfig::grpcpp)
else()
  list(JOIN grpcpp_archives "," grpcpp_archives)
  target_link_libraries(denselet_grpcpp INTERFACE "$<LINK_GROUP:RESCAN,${grpcpp_archives}>" z)
endif()

string(REGEX MATCH "^[0-9]+" compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
string(TOLOWER "${CMAKE_CXX_COMPILER_ID}-${compiler_major}" compiler_name)
set(protos_build "${CMAKE_SOURCE_DIR}/build/protos/${compiler_name}")

message(STATUS "Configuring the generated types in ${protos_build}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_SOURCE_DIR}/third_party/protos" -B "${protos_build}" -G Ninja
          "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
          "-DDENSELET_PROTOS_DIR=${DENSELET_PROTOS_DIR}"
  OUTPUT_VARIABLE protos_log
  ERROR_VARIABLE protos_log
  RESULT_VARIABLE protos_result)
if(NOT protos_result EQUAL 0)
  message(FATAL_ERROR "${protos_log}")
endif()

# In the console: minutes of compilation should be seen.
add_custom_target(protos_build
  COMMAND "${CMAKE_COMMAND}" --build "${protos_build}"
  BYPRODUCTS "${protos_build}/libdenselet_protos.a"
  USES_TERMINAL)

file(MAKE_DIRECTORY "${protos_build}/gen")
add_library(denselet_protos STATIC IMPORTED GLOBAL)
set_target_properties(denselet_protos PROPERTIES IMPORTED_LOCATION "${protos_build}/libdenselet_protos.a")
target_include_directories(denselet_protos SYSTEM INTERFACE "${protos_build}/gen")
target_link_libraries(denselet_protos INTERFACE denselet_grpcpp protobuf::libprotobuf)
add_dependencies(denselet_protos protos_build)
if(DENSELET_SANITIZE MATCHES "thread")
  # Protobuf's classes have further members when they are compiled for ThreadSanitizer. The library is not, so whoever
  # includes its headers must not be either.
  target_compile_options(denselet_protos INTERFACE -U__SANITIZE_THREAD__)
endif()

# The headers are five megabytes of C++; whoever uses them shares one precompiled form per preset.
set(denselet_protos_headers
  <denselet/kubelet/config/v1beta1/types.pb.h>
  <k8s.io/api/core/v1/generated.pb.h>
  <k8s.io/cri-api/pkg/apis/runtime/v1/api.grpc.pb.h>)
file(WRITE "${CMAKE_BINARY_DIR}/protos_pch.cc" "")
add_library(denselet_protos_pch OBJECT "${CMAKE_BINARY_DIR}/protos_pch.cc")
target_link_libraries(denselet_protos_pch PRIVATE denselet_protos denselet_warnings)
target_precompile_headers(denselet_protos_pch PRIVATE ${denselet_protos_headers})

# denselet_use_protos(TARGET): links the messages and takes their precompiled headers.
function(denselet_use_protos target)
  target_link_libraries(${target} PRIVATE denselet_protos)
  get_target_property(is_test ${target} DENSELET_TEST)
  if(is_test)
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM denselet_protos_tests_pch)
  else()
    target_precompile_headers(${target} REUSE_FROM denselet_protos_pch)
  endif()
endfunction()
