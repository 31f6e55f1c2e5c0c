# hwloc, which finds what a machine has: Hwloc::Hwloc, Hwloc_VERSION. Searched in Hwloc_ROOT and in CMake's default paths.
find_path(Hwloc_INCLUDE_DIR hwloc.h)
find_path(Hwloc_CONFIG_INCLUDE_DIR hwloc/autogen/config.h HINTS ${Hwloc_INCLUDE_DIR})  # in Debian a folder of its own
find_library(Hwloc_LIBRARY hwloc)
if(Hwloc_CONFIG_INCLUDE_DIR)
  file(STRINGS ${Hwloc_CONFIG_INCLUDE_DIR}/hwloc/autogen/config.h hwloc_line REGEX "#define HWLOC_VERSION ")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" Hwloc_VERSION "${hwloc_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR VERSION_VAR Hwloc_VERSION)
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_CONFIG_INCLUDE_DIR Hwloc_LIBRARY)
if(Hwloc_FOUND AND NOT TARGET Hwloc::Hwloc)
  add_library(Hwloc::Hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::Hwloc PROPERTIES
    IMPORTED_LOCATION ${Hwloc_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Hwloc_INCLUDE_DIR})
endif()
