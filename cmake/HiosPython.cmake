# The command `hios`: a script next to the programs, and the package that it imports.
find_package(Python3 3.11 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "Without Python 3.11 there is no command hios")
  return()
endif()

set(HIOS_PYTHON ${Python3_EXECUTABLE})
set(HIOS_PYTHON_PATH ${PROJECT_SOURCE_DIR}/python)
configure_file(python/hios.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/hios @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

if(HIOS_INSTALL)
  include(GNUInstallDirs)
  file(RELATIVE_PATH HIOS_PYTHON_PATH /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_DATAROOTDIR}/hios/python)
  configure_file(python/hios.in ${PROJECT_BINARY_DIR}/installed/hios @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/hios COMPONENT programs DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY python/hios COMPONENT programs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/hios/python
    PATTERN __pycache__ EXCLUDE)
endif()
