# Runs at every build: writes commit() and commit_date() of cli/process/version.h into the file OUT, and only changes
# it if the commit changed. SOURCE is the project; a copy that is no checkout of its own has no commit.
set(commit "")
set(date "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-prefix --short=12 HEAD
    OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
  # The path from the checkout's root to the project is not empty if the checkout is another project's.
  if(NOT failed AND said MATCHES "^\n([0-9a-f]+)\n$")
    set(commit ${CMAKE_MATCH_1})
    # Without signatures, which a user's settings may print.
    execute_process(COMMAND ${git} -C ${SOURCE} show --no-patch --no-show-signature --format=%cs HEAD
      OUTPUT_VARIABLE date ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${git} -C ${SOURCE} diff-index --quiet HEAD -- ERROR_QUIET RESULT_VARIABLE dirty)
    if(dirty)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"cli/process/version.h\"

namespace hios::cli {
std::string commit() { return \"${commit}\"; }
std::string commit_date() { return \"${date}\"; }
}  // namespace hios::cli
")
