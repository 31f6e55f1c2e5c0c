#pragma once

#include "hios/flight/recorder.h"
#include "mpi/transport.h"

namespace hios::cli {

/// main() of the programs that run on ranks: readies the process and MPI, calls `program` on every
/// rank, and turns what it throws into a line and an exit status (mpi/session/session.h). Rank 0
/// makes sure at the end that standard output took everything. `program` gets the rank's flight
/// record; where the process is killed or fails, a child process speaks for it
/// (hios/flight/crash_reporter.h).
int rank_program(int argc, char** argv,
                 int (*program)(mpi::Transport&, flight::Recorder&, int argc, char** argv));

}  // namespace hios::cli
