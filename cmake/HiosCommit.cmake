# Runs at every build: writes commit() of cli/process/version.h into the file OUT, and only changes it if the
# commit changed. SOURCE is the project; a copy that is no checkout of its own has no commit.
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-prefix --short=12 HEAD
    OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
  # The path from the checkout's root to the project is not empty if the checkout is another project's.
  if(NOT failed AND said MATCHES "^\n([0-9a-f]+)\n$")
    set(commit ${CMAKE_MATCH_1})
    execute_process(COMMAND ${git} -C ${SOURCE} diff-index --quiet HEAD -- ERROR_QUIET RESULT_VARIABLE dirty)
    if(dirty)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"cli/process/version.h\"

namespace hios::cli {
std::string commit() { return \"${commit}\"; }
}  // namespace hios::cli
")
