# The files of `cmake --install`, and the Debian packages of `cpack`: `hios` has the programs,
# `libhios-dev` the libraries and headers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The programs with their documents and schemas.
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/hios)
install(TARGETS hios-profile hios-schedule hios-run COMPONENT programs DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY schedules/schemas COMPONENT programs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/hios)
# The documents and the files that they link to, in the same folders as in the sources.
install(DIRECTORY docs examples slurm COMPONENT programs DESTINATION ${documents}
  PATTERN site.env EXCLUDE PATTERN results EXCLUDE PATTERN *.out EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY schedules/schemas schedules/platforms COMPONENT programs DESTINATION ${documents}/schedules)
install(DIRECTORY bench/results COMPONENT programs DESTINATION ${documents}/bench
  PATTERN *.log EXCLUDE PATTERN simulated.csv EXCLUDE)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md COMPONENT programs DESTINATION ${documents})
install(FILES LICENSE COMPONENT programs DESTINATION ${documents} RENAME copyright)

# Libraries, one per floor, and their public headers. Sources include "hios/base/error.h" and
# "scheduler/registry.h", so the folders of the floors are in a common folder of ours.
get_property(floors GLOBAL PROPERTY HIOS_FLOORS)
install(TARGETS ${floors} EXPORT hios
  ARCHIVE COMPONENT development DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS COMPONENT development DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hios)

# find_package(hios) searches only for the dependencies of this build.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/hios)
# Debian has no HiGHS: if scripts/get-highs.sh fetched it, it is installed with the programs, in a folder
# of ours.
set(highs_with_us no)
if(Highs_FOUND)
  install(FILES cmake/FindHighs.cmake COMPONENT development DESTINATION ${package})
  set(highs_fetched ${PROJECT_SOURCE_DIR}/build/packages/highs)
  cmake_path(IS_PREFIX highs_fetched ${Highs_LIBRARY} NORMALIZE highs_with_us)
endif()
if(highs_with_us)
  install(PROGRAMS ${Highs_LIBRARY} COMPONENT programs DESTINATION ${CMAKE_INSTALL_LIBDIR}/hios)
  install(FILES ${highs_fetched}/LICENSE COMPONENT programs DESTINATION ${documents} RENAME copyright.highs)
  file(RELATIVE_PATH highs_from_programs /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/hios)
  set_target_properties(hios-profile hios-schedule hios-run PROPERTIES INSTALL_RPATH "$ORIGIN/${highs_from_programs}")
  cmake_path(GET Highs_LIBRARY PARENT_PATH CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS)
endif()
install(EXPORT hios COMPONENT development NAMESPACE hios:: FILE hios-targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/hios-config.cmake.in ${PROJECT_BINARY_DIR}/hios-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hios-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hios-config.cmake ${PROJECT_BINARY_DIR}/hios-config-version.cmake
  COMPONENT development DESTINATION ${package})
if(HIOS_CUDA)
  install(FILES cmake/FindCUDNN.cmake COMPONENT development DESTINATION ${package})
endif()
if(Cbc_FOUND)
  install(FILES cmake/FindCbc.cmake COMPONENT development DESTINATION ${package})
endif()
if(HIOS_HWLOC)
  install(FILES cmake/FindHwloc.cmake COMPONENT development DESTINATION ${package})
endif()
install(FILES LICENSE COMPONENT development
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libhios-dev RENAME copyright)

# The Debian packages. dpkg-shlibdeps finds the dependencies of the programs; those of the libraries are
# the packages that scripts/setup.sh installs for this build.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hios)
set(CPACK_PACKAGE_VENDOR "the HIOS authors")
set(CPACK_PACKAGE_CONTACT "the HIOS authors <hios@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "")

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME hios)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(recommended "")
if(HIOS_MPI)
  list(APPEND recommended openmpi-bin)
endif()
if(HIOS_PYTHON)  # the command hios
  set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "python3 (>= 3.11)")
  list(APPEND recommended python3-jinja2 python3-pil)
  set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS python3-matplotlib)
endif()
list(JOIN recommended ", " CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
  "hios-profile measures the operators of a neural network and the transfers between devices,
hios-schedule plans which device runs what and when, and hios-run runs the plan over MPI, one rank a
device, and says whether the prediction held. The command hios starts them, and hios bench says what is fastest.")

set(needed "nlohmann-json3-dev (>= 3.11), libboost-program-options-dev (>= 1.74)")
if(HIOS_MPI)
  string(APPEND needed ", libopenmpi-dev")
endif()
if(HIOS_ONNX)
  string(APPEND needed ", libprotobuf-dev")
  if(ONNX_FOUND)
    string(APPEND needed ", libonnx-dev")
  endif()
endif()
if(HIOS_HWLOC)
  string(APPEND needed ", libhwloc-dev")
endif()
if(Cbc_FOUND)
  string(APPEND needed ", coinor-libcbc-dev")
endif()
if(highs_with_us)
  string(APPEND needed ", hios")
endif()
if(HIOS_CPU)
  string(APPEND needed ", libdnnl-dev (>= 2.6), ocl-icd-opencl-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhios-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${needed}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "hios, cmake (>= 3.23)")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Headers, static libraries and the CMake package of HIOS: for programs that schedule or run neural
networks themselves, or bring a scheduler of their own.")
include(CPack)
