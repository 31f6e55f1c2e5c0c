# ONNX's message classes: a package's, which brings ONNXConfig.cmake (Debian's libonnx-dev), or classes made by protoc from the
# description that pip's onnx, conda's and sources of ONNX have. The latter are objects of hios_core, and no part of its interface.
find_package(Protobuf QUIET)
# ONNXConfig.cmake cannot be asked without protobuf, which it requires: the line names the packages of both.
hios_need("${Protobuf_FOUND}" "protobuf, for ONNX's message classes" WITHOUT -DHIOS_ONNX=OFF DEBIAN "libprotobuf-dev libonnx-dev"
  FEDORA "protobuf-devel onnx-devel" CONDA "libprotobuf onnx" SPACK "protobuf onnx")
if(NOT Protobuf_FOUND)
  return()
endif()
find_package(ONNX QUIET)
add_library(hios_onnx_classes INTERFACE)  # for tests that read or write such files themselves; they link hios_core, too
if(ONNX_FOUND)
  # ONNX 1.13 and later have a namespace for their targets.
  set(HIOS_ONNX_TARGET onnx_proto)
  if(TARGET ONNX::onnx_proto)
    set(HIOS_ONNX_TARGET ONNX::onnx_proto)
  endif()
  target_link_libraries(hios_onnx_classes INTERFACE ${HIOS_ONNX_TARGET} protobuf::libprotobuf)
  return()
endif()

# onnx.proto is the same with a smaller set of messages where ONNX was built without ML; both have those that are read here.
set(HIOS_ONNX_PROTO "" CACHE FILEPATH "onnx-ml.proto or onnx.proto, where no package has ONNX's message classes")
if(NOT HIOS_ONNX_PROTO)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)
    execute_process(OUTPUT_VARIABLE folder ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND ${Python3_EXECUTABLE} -c
      "import importlib.util; print(importlib.util.find_spec('onnx').submodule_search_locations[0])")
    if(folder AND EXISTS ${folder}/onnx-ml.proto)
      set(HIOS_ONNX_PROTO ${folder}/onnx-ml.proto CACHE FILEPATH "" FORCE)
    endif()
  endif()
elseif(NOT EXISTS ${HIOS_ONNX_PROTO})
  hios_need(OFF "${HIOS_ONNX_PROTO}: there is no such file; HIOS_ONNX_PROTO names onnx-ml.proto, as pip's onnx has it"
    WITHOUT -DHIOS_ONNX=OFF)
  return()
endif()
set(made FALSE)
if(HIOS_ONNX_PROTO AND Protobuf_PROTOC_EXECUTABLE)
  set(made TRUE)
endif()
hios_need("${made}" "ONNX's message classes (ONNXConfig.cmake, or protoc and -DHIOS_ONNX_PROTO=onnx-ml.proto, which pip's onnx has)"
  WITHOUT -DHIOS_ONNX=OFF DEBIAN libonnx-dev FEDORA onnx-devel CONDA "onnx protobuf" SPACK onnx)
if(NOT made)
  return()
endif()

set(HIOS_ONNX_MESSAGES ${PROJECT_BINARY_DIR}/onnx-messages)
configure_file(${HIOS_ONNX_PROTO} ${HIOS_ONNX_MESSAGES}/onnx/onnx-ml.proto COPYONLY)
file(WRITE ${HIOS_ONNX_MESSAGES}/onnx/onnx_pb.h "#include <onnx/onnx-ml.pb.h>\n")
add_custom_command(
  OUTPUT ${HIOS_ONNX_MESSAGES}/onnx/onnx-ml.pb.cc ${HIOS_ONNX_MESSAGES}/onnx/onnx-ml.pb.h
  COMMAND ${Protobuf_PROTOC_EXECUTABLE} --proto_path=${HIOS_ONNX_MESSAGES} --cpp_out=${HIOS_ONNX_MESSAGES} onnx/onnx-ml.proto
  DEPENDS ${HIOS_ONNX_MESSAGES}/onnx/onnx-ml.proto)
add_library(hios_onnx_messages OBJECT ${HIOS_ONNX_MESSAGES}/onnx/onnx-ml.pb.cc)
target_include_directories(hios_onnx_messages SYSTEM PUBLIC ${HIOS_ONNX_MESSAGES})
target_link_libraries(hios_onnx_messages PUBLIC protobuf::libprotobuf)
target_compile_options(hios_onnx_messages PRIVATE -w)  # generated
set_target_properties(hios_onnx_messages PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(hios_onnx_classes SYSTEM INTERFACE ${HIOS_ONNX_MESSAGES})
target_link_libraries(hios_onnx_classes INTERFACE protobuf::libprotobuf)
add_dependencies(hios_onnx_classes hios_onnx_messages)
set(ONNX_VERSION "of ${HIOS_ONNX_PROTO}")
