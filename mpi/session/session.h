#pragma once

#include <functional>
#include <string>

#include "hios/base/error.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// The MPI that this build uses, whose launcher starts its ranks.
enum class Library { kNone, kOpenMpi, kOther };
Library library();

/// Formats the line that a program prints for an Error: its text, and its Need in the program's own
/// words. Called on the main thread.
using ErrorText = std::function<std::string(const Error&)>;

/// How long a rank waits for the others at the start and at the end.
struct SessionTimeout {
  double seconds = 120;   ///< long enough for large jobs to start; 0: it waits forever
  std::string name = {};  ///< the program's name for it, for the line; may be empty
};

/// Runs a program's body between MPI_Init and MPI_Finalize, or as one rank without MPI if this
/// build has none (session_serial.cpp) or no launcher started the program. Turns an exception into
/// the exit status (ExitCode, hios/base/error.h):
///  - an InputError on every rank (agreed, or thrown alike by all): rank 0 prints "error: …" as one
///    line, all ranks finalise and return 2. An InputError of some ranks alone is treated like any
///    other failure if the others do not arrive within a few seconds. So a step that may fail on
///    one rank only belongs in agreed() (mpi/session/agreement.h);
///  - any other exception: this rank prints "error: rank R on HOST: …" and aborts the job, with the
///    Error's code as status (a job without MPI returns it).
/// A rank that has too few addresses for MPI (`ulimit -v`) ends with a line before MPI starts.
///
/// A rank that waits longer than `timeout` for the others, from MPI_Init until the body begins or
/// from its end until MPI_Finalize has returned, ends the job with one line and status 3. In
/// between no call has a limit, unless the body makes it under a watchdog
/// (engine/job/ranks/watch.h). `body` returns the exit status; the rank's transport ends with the
/// body. Call this once, from main. Without `text_of`, the errors' own texts are printed.
int run_session(
    int argc, char** argv, const std::function<int(Transport&)>& body,
    const ErrorText& text_of = [](const Error& error) { return error.what(); },
    const SessionTimeout& timeout = {});

}  // namespace hios::mpi
