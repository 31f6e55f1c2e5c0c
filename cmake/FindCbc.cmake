# COIN-OR's Cbc, a solver of linear programs: Cbc::Cbc, Cbc_VERSION. Searched in Cbc_ROOT and in
# CMake's default paths.
find_path(Cbc_INCLUDE_DIR Cbc_C_Interface.h PATH_SUFFIXES include/coin coin include/coin-or)
find_library(Cbc_LIBRARY CbcSolver)
if(Cbc_INCLUDE_DIR)
  file(STRINGS ${Cbc_INCLUDE_DIR}/CbcConfig.h cbc_line REGEX "#define CBC_VERSION ")
  string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" Cbc_VERSION "${cbc_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cbc REQUIRED_VARS Cbc_LIBRARY Cbc_INCLUDE_DIR VERSION_VAR Cbc_VERSION)
mark_as_advanced(Cbc_INCLUDE_DIR Cbc_LIBRARY)
if(Cbc_FOUND AND NOT TARGET Cbc::Cbc)
  add_library(Cbc::Cbc UNKNOWN IMPORTED)
  set_target_properties(Cbc::Cbc PROPERTIES
    IMPORTED_LOCATION ${Cbc_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Cbc_INCLUDE_DIR})
endif()
