# HiGHS, a solver of linear programs: Highs::Highs, Highs_VERSION. Searched in build/packages/highs,
# where scripts/get-highs.sh puts it, in Highs_ROOT, and in CMake's default paths.
set(highs_places ${CMAKE_CURRENT_LIST_DIR}/../build/packages/highs)
find_path(Highs_INCLUDE_DIR interfaces/highs_c_api.h HINTS ${highs_places} PATH_SUFFIXES include/highs)
find_library(Highs_LIBRARY highs HINTS ${highs_places} PATH_SUFFIXES lib lib64)
if(Highs_INCLUDE_DIR)
  file(STRINGS ${Highs_INCLUDE_DIR}/HConfig.h highs_lines REGEX "#define HIGHS_VERSION_(MAJOR|MINOR|PATCH) ")
  foreach(part MAJOR MINOR PATCH)
    string(REGEX REPLACE ".*HIGHS_VERSION_${part} ([0-9]+).*" "\\1" highs_${part} "${highs_lines}")
  endforeach()
  set(Highs_VERSION ${highs_MAJOR}.${highs_MINOR}.${highs_PATCH})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Highs REQUIRED_VARS Highs_LIBRARY Highs_INCLUDE_DIR VERSION_VAR Highs_VERSION)
mark_as_advanced(Highs_INCLUDE_DIR Highs_LIBRARY)
if(Highs_FOUND AND NOT TARGET Highs::Highs)
  add_library(Highs::Highs UNKNOWN IMPORTED)
  set_target_properties(Highs::Highs PROPERTIES
    IMPORTED_LOCATION ${Highs_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Highs_INCLUDE_DIR})
endif()
