# Settings of every target: the warnings and the sanitizers; and the table of this build's features.
# Users of the libraries, installed or not, get none of these flags.
add_library(hios_settings INTERFACE)
target_include_directories(hios_settings INTERFACE ${PROJECT_SOURCE_DIR})
# A quick build keeps no warning: GCC spends a tenth of its time on them, and whoever changes code builds another one.
set(hios_warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  # False warnings of GCC 12 for inlined strings of its own library (GCC bug 105651 and related ones);
  # the sanitizer presets find real errors.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds>
  # In joined sources GCC takes each for a header, and warns of its unnamed namespaces.
  $<$<AND:$<BOOL:${HIOS_UNITY}>,$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-subobject-linkage>
  $<$<BOOL:${HIOS_WERROR}>:-Werror>)
set(hios_library_warnings ${hios_warnings})
if(HIOS_QUICK)
  set(hios_library_warnings -w)
endif()
target_compile_options(hios_settings INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${hios_library_warnings}>"
  # nvcc gives its host compiler generated code that breaks -Wpedantic. CMake 3.25 does not know that
  # nvcc has C++20.
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall,-Wextra>"
  "$<$<AND:$<BOOL:${HIOS_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings;-Xcompiler=-Werror>")
# Joined sources fill GCC's heap, and it would look through all of it for garbage at each doubling: a seventh of its time,
# for a third more of its memory.
if(HIOS_UNITY)
  target_compile_options(hios_settings INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1500000>")
endif()
if(HIOS_SANITIZE)
  # A finding ends the program, so that its test fails; code to continue would double the compile time.
  target_compile_options(hios_settings INTERFACE
    -fsanitize=${HIOS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(hios_settings INTERFACE -fsanitize=${HIOS_SANITIZE})
  # Checks that take two fifths of the compile time and find little: the address sanitizer ends a program anyway that
  # uses a null pointer, an object that is no more or what lies outside one.
  if(HIOS_SANITIZE MATCHES undefined)
    target_compile_options(hios_settings INTERFACE
      -fno-sanitize=null,vptr,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()
if(HIOS_FUZZ)  # coverage for libFuzzer; only the targets of tests/fuzz link its main()
  target_compile_options(hios_settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(hios_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# hios_cover(SOURCES...): with HIOS_COVERAGE, these sources count how often each line is executed, and no others. Threads
# may overwrite each other's numbers: only that a line was executed at all is asked for.
function(hios_cover)
  if(HIOS_COVERAGE)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS --coverage)
    set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
if(HIOS_COVERAGE)
  add_link_options(--coverage)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

# Precompiles the headers that nearly every file includes, once per target: halves the time of a build.
# Further headers may be named: <nlohmann/json.hpp> where most files touch JSON, since each file pays for its templates.
# A quick build joins so many that each target has few sources left: precompiling would take longer than it saves.
function(hios_precompile name)
  if(HIOS_QUICK)
    return()
  endif()
  target_precompile_headers(${name} PRIVATE
    <algorithm> <functional> <map> <memory> <optional> <span> <string> <vector> ${ARGN})
endfunction()

# hios_join(NAME): with HIOS_UNITY, compiles several sources of this target as one, since most of a source's time goes into
# the templates of headers: ON joins eight, a third of a build's time, and an edited file is compiled again within seconds;
# ALL joins twenty-four, a quarter less again, for builds from nothing. Sources that give different things the same name (in
# unnamed namespaces, too) must not be joined.
function(hios_join name)
  if(HIOS_UNITY STREQUAL ALL)
    set(batch 24)
    if(HIOS_QUICK)
      set(batch 36)
    endif()
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  elseif(HIOS_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# hios_quick(NAME TIMED HOT LINK): compiles a floor for a first look. Code that computes neither tensors nor schedules waits
# for the user, for other ranks and for memory, and optimising it takes half of a build's time. HOT sources are objects of a
# target of their own, since joined sources have one level.
function(hios_quick name timed hot link)
  set(level -Og)
  if(timed)
    set(level -O1)
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}>)
  if(hot)
    add_library(${name}_hot OBJECT ${hot})
    target_compile_features(${name}_hot PRIVATE cxx_std_20)
    target_link_libraries(${name}_hot PRIVATE hios_settings ${link})
    hios_join(${name}_hot)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_hot>)
  endif()
endfunction()

# hios_floor(NAME HEADERS … SOURCES … LINK … [PRECOMPILE …]): the static library of a floor. HEADERS are those that
# users of the installed library may include; all others are internal. Users call hios_core hios::core,
# whether they install the project or add it to theirs.
# ALONE names sources that are never joined (hios_join). HOT: those that a quick build, too, optimises fully. TIMED: joined
# only with HIOS_UNITY=ALL, in builds that are tested and not timed, since GCC inlines less in joined sources, which costs
# the schedulers a quarter of their speed.
function(hios_floor name)
  cmake_parse_arguments(arg "TIMED" "" "HEADERS;SOURCES;ALONE;HOT;LINK;PRECOMPILE" ${ARGN})
  string(REPLACE "hios_" "" word ${name})
  if(HIOS_QUICK AND arg_HOT)
    list(REMOVE_ITEM arg_SOURCES ${arg_HOT})
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  add_library(hios::${word} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${word})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:hios_settings> PUBLIC ${arg_LINK})
  if(NOT arg_TIMED OR HIOS_UNITY STREQUAL ALL)
    hios_join(${name})
  endif()
  if(arg_ALONE)
    set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(HIOS_QUICK)
    hios_quick(${name} "${arg_TIMED}" "${arg_HOT}" "${arg_LINK}")
  endif()
  hios_precompile(${name} ${arg_PRECOMPILE})
  set_property(GLOBAL APPEND PROPERTY HIOS_FLOORS ${name})
endfunction()

function(hios_print_features)
  set(mpi "no  (HIOS_MPI=OFF: one rank only)")
  if(HIOS_MPI)
    set(mpi "yes (MPI-${MPI_C_VERSION})")
  endif()
  set(cpu "no  (HIOS_CPU=OFF: reference backend only)")
  if(HIOS_CPU)
    set(cpu "yes (oneDNN ${dnnl_VERSION})")
  endif()
  set(cuda "no  (HIOS_CUDA=OFF: configure with --preset cuda)")
  if(HIOS_CUDA_TESTS)
    set(cuda "tests only (HIOS_CUDA_TESTS)")
  endif()
  if(HIOS_CUDA)
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
    set(cuda "yes (CUDA ${CUDAToolkit_VERSION}, cuDNN ${CUDNN_VERSION}; for ${architectures})")
  endif()
  message(STATUS "HIOS ${PROJECT_VERSION}")
  message(STATUS "  ranks over MPI    ${mpi}")
  message(STATUS "  reference backend yes")
  set(onnx "no  (HIOS_ONNX=OFF: built-in networks and hios-model files only)")
  if(HIOS_ONNX)
    set(onnx "yes (ONNX ${ONNX_VERSION}, protobuf ${Protobuf_VERSION})")
  endif()
  message(STATUS "  ONNX files        ${onnx}")
  set(hwloc "no  (HIOS_HWLOC=OFF: platforms are written by hand)")
  if(HIOS_HWLOC)
    set(hwloc "yes (hwloc ${Hwloc_VERSION})")
  endif()
  message(STATUS "  finding machines  ${hwloc}")
  set(milp "no  (neither HiGHS nor Cbc: the exact scheduler milp refuses)")
  if(Highs_FOUND OR Cbc_FOUND)
    set(milp "yes (")
    if(Highs_FOUND)
      string(APPEND milp "HiGHS ${Highs_VERSION}")
    endif()
    if(Cbc_FOUND)
      string(APPEND milp " Cbc ${Cbc_VERSION}")
    endif()
    string(APPEND milp ")")
    string(REPLACE "( " "(" milp "${milp}")
  endif()
  message(STATUS "  linear programs   ${milp}")
  message(STATUS "  cpu backend       ${cpu}")
  message(STATUS "  cuda backend      ${cuda}")
  message(STATUS "  tests             ${HIOS_TESTS}")
  message(STATUS "  sanitizers        ${HIOS_SANITIZE}")
endfunction()
