#pragma once

#include <functional>
#include <string>

#include "hios/base/error.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// The line that a program prints for an Error: its text, and in the program's own words what its
/// Need says. Called on the main thread.
using ErrorText = std::function<std::string(const Error&)>;

/// Large jobs need their time to start, but not for ever.
inline constexpr double kSessionTimeoutSeconds = 120;

/// Runs a program's body between MPI_Init and MPI_Finalize (one rank without MPI where this build
/// has none, or where the program was not started by a launcher) and turns what it throws into the
/// exit status (ExitCode, hios/base/error.h):
///  - an InputError on every rank (agreed, or thrown alike by all): rank 0 prints "error: …" as one
///    line, all ranks finalise and return 2. An InputError of some ranks alone is treated like any
///    other failure once the others have not come within a few seconds, so a step that may fail on
///    one rank only belongs in agreed() (mpi/session/agreement.h);
///  - any other exception: this rank prints "error: rank R on HOST: …" and aborts the job, with the
///    Error's code as status (a job without MPI returns it).
/// A rank waits for the others at the start and at the end for `timeout_s`, upon which it ends the
/// job with one line and status 3; 0: for ever.
/// `body` returns the exit status; the rank's transport ends with the body's return. Call it once,
/// from main. Without a `text_of` the errors' own texts are printed.
int run_session(
    int argc, char** argv, const std::function<int(Transport&)>& body,
    const ErrorText& text_of = [](const Error& error) { return error.what(); },
    double timeout_s = kSessionTimeoutSeconds);

}  // namespace hios::mpi
