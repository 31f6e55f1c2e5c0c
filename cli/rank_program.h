#pragma once

#include "hios/flight/recorder.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Runs a program on ranks; its main(). Prepares the process and MPI, calls `program` on every
/// rank, and turns an exception into a line and an exit status (mpi/session/session.h). At the end
/// rank 0 checks that standard output took everything. `program` gets the rank's flight record;
/// where the process is killed or fails, a child process reports it (hios/flight/crash_reporter.h).
int rank_program(int argc, char** argv,
                 int (*program)(mpi::Transport&, flight::Recorder&, int argc, char** argv));

}  // namespace hios::cli
