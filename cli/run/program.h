#pragma once

namespace hios::cli {

/// Runs hios-run on a rank; its main(). Returns the exit status, after a line on standard error for
/// an error; throws nothing. One call per process, since it starts MPI and sets the actions of
/// signals.
int run_program(int argc, char** argv);

}  // namespace hios::cli
