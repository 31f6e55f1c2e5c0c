#pragma once

namespace hios::cli {

/// Readies the process; the first call of a program. A file that grows beyond `ulimit -f` is then
/// an error of writing it, with a line that names it, and no signal that ends the program silently.
/// Uncaught exceptions end with a line, too (cli/process/last_resort.h).
/// Keeps the words for commands in messages (cli/process/invocation.h).
void prepare_process(int argc, const char* const* argv);

}  // namespace hios::cli
