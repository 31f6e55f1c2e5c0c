#pragma once

#include <cstddef>
#include <string>

#include "hios/base/error.h"

/// Results of a program: on standard output for a person, and in files.
namespace hios::cli {

/// Prints results on standard output, made printable (names in files may hold characters that would
/// change the order of the text); prints nothing under -q.
void show(const std::string& text);

/// Makes show() print on standard error instead, or on standard output again: files of results may
/// go to standard output.
void show_on_standard_error(bool on);

/// Returns the columns of a line that show() prints (cli/process/terminal.h).
std::size_t line_width();

/// Throws RunError where standard output did not take all that was shown (a full disk), unless a
/// SIGHUP has asked to stop: then the terminal is gone. The last call of a program.
void finish_output();

/// Writes results after the work is done: an InputError that `write` throws is then a failure of
/// the run, not bad input.
template <class Write>
void write_after_work(Write write) {
  try {
    write();
  } catch (const InputError& error) {
    throw RunError(error.what(), error.need());
  }
}

}  // namespace hios::cli
