# HiGHS for the Python module, out of its Python package, which the wheel depends on: libraries of the system would not be
# there on the machine that installs the wheel. Without it the scheduler milp refuses.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import highsbox, pathlib; print(pathlib.Path(highsbox.__file__).parent / 'highs_dist')"
  OUTPUT_VARIABLE highs_wheel OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE without_highs_wheel ERROR_QUIET)
if(NOT without_highs_wheel)
  unset(Highs_INCLUDE_DIR CACHE)  # of the environment of an earlier build, which may be gone
  unset(Highs_LIBRARY CACHE)
  set(Highs_ROOT ${highs_wheel})
  find_package(Highs 1.7 MODULE)
endif()
