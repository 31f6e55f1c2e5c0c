# oneDNN 2.6 or newer as DNNL::dnnl. oneDNN's own version file answers to the major version that is asked for, and to no
# other: find_package(dnnl 2.6) would pass over a 3.x that dnnl_DIR names and take the system's 2.6 without a word. So any
# version is looked for, and what dnnl_DIR names must be what is found.
set(dnnl_asked "${dnnl_DIR}")
find_package(dnnl CONFIG REQUIRED)
if(dnnl_VERSION VERSION_LESS 2.6)
  message(FATAL_ERROR "oneDNN ${dnnl_VERSION} in ${dnnl_DIR} is too old: 2.6 or newer is needed")
endif()
if(dnnl_asked)
  get_filename_component(dnnl_asked "${dnnl_asked}" REALPATH)
  get_filename_component(dnnl_found "${dnnl_DIR}" REALPATH)
  if(NOT dnnl_asked STREQUAL dnnl_found)
    unset(dnnl_DIR CACHE)
    message(FATAL_ERROR "dnnl_DIR: there is no oneDNN in ${dnnl_asked} (leave it out for that in ${dnnl_found})")
  endif()
endif()
