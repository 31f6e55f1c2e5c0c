# Manual pages and completion, which python/hios/manual makes from the flags that the programs describe. They are made
# again when a program or the generator has changed, in less than a second.
set(without_manual "")
if(NOT HIOS_PYTHON)
  set(without_manual "Python 3.11 is missing")
elseif(CMAKE_CROSSCOMPILING)
  set(without_manual "the programs of a cross build do not run here")
elseif(HIOS_SANITIZE OR HIOS_FUZZ)
  set(without_manual "a build with sanitizers is not installed")
endif()
if(without_manual)
  message(STATUS "Without manual pages and completion: ${without_manual}")
  return()
endif()

set(manual ${PROJECT_BINARY_DIR}/manual)
# The generator imports every command, whose flags may be in any file of the package.
file(GLOB_RECURSE manual_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/hios/*.py)
add_custom_command(OUTPUT ${manual}/made
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${PROJECT_SOURCE_DIR}/python
    ${HIOS_PYTHON} -B -m hios.manual --programs ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --output ${manual}
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
  DEPENDS hios-profile hios-schedule hios-run ${manual_sources}
  COMMENT "Manual pages and completion" VERBATIM)
add_custom_target(hios_manual ALL DEPENDS ${manual}/made)

include(GNUInstallDirs)
# Shells search these folders, whatever their programs' prefix.
foreach(folder IN ITEMS bash-completion/completions zsh/site-functions fish/vendor_completions.d)
  install(DIRECTORY ${manual}/${folder}/ COMPONENT programs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${folder})
endforeach()
install(DIRECTORY ${manual}/man/man1/ COMPONENT programs DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
