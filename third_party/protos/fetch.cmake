# fetch_protos(DESTINATION): brings the modules that go.mod and go.sum pin and lays them out as the .proto files import
# each other (k8s.io/api/..., k8s.io/apimachinery/...), by links into Go's module cache.
function(fetch_protos destination)
  find_program(GO go)
  if(NOT GO)
    message(FATAL_ERROR "Go was not found, so the Kubernetes .proto files cannot be fetched. Install Go, or give a "
                        "folder that holds them: DENSELET_PROTOS_DIR=FOLDER ./dev build")
  endif()
  message(STATUS "Fetching the pinned Kubernetes .proto files")
  foreach(module k8s.io/api k8s.io/apimachinery k8s.io/cri-api k8s.io/kubelet)
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env GOTOOLCHAIN=local GOFLAGS=-mod=readonly "${GO}" mod download -json ${module}
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      OUTPUT_VARIABLE answer
      ERROR_VARIABLE complaint
      RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "go mod download ${module} failed: ${complaint}${answer}")
    endif()
    string(JSON folder GET "${answer}" Dir)
    get_filename_component(parent "${destination}/${module}" DIRECTORY)
    file(MAKE_DIRECTORY "${parent}")
    file(CREATE_LINK "${folder}" "${destination}/${module}" SYMBOLIC)
  endforeach()
endfunction()
