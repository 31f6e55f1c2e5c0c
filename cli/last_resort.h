#pragma once

namespace hios::cli {

/// From here on an exception that no handler catches (of a thread, within a parallel region, in a
/// destructor, or while another one is put into words) ends the program with one line, which names
/// the rank where there are several, and with the exit status of a failed run. No signal, no core
/// dump: what is thrown there is nearly always want of memory, and a dump of it would be as large.
void catch_what_nobody_catches();

}  // namespace hios::cli
