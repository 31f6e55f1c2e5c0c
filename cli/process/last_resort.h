#pragma once

namespace hios::cli {

/// Makes an exception that no handler catches end the program with one line and with the exit
/// status of a failed run; the line names the rank where there are several. Such exceptions are of
/// a thread, within a parallel region, in a destructor, or thrown while another is put into words.
/// There is no signal and no core dump: nearly always memory ran out, and a dump would be as large.
void catch_uncaught_exceptions();

}  // namespace hios::cli
