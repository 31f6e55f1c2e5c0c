#pragma once

#include <functional>
#include <memory>

#include "mpi/transport.h"

namespace hios::mpi {

/// Runs a program's body between MPI_Init and MPI_Finalize (one rank without MPI where this build
/// has none, or where the program was not started by a launcher) and turns what it throws into the
/// exit status of INTERFACES:
///  - an InputError that all ranks agree on (thrown before the first run, on every rank): rank 0
///    prints one line, all ranks finalise and exit 2;
///  - any other exception: this rank prints "error: rank R on HOST: …" and aborts the job.
/// `body` returns the exit status.
int run_session(int argc, char** argv, const std::function<int(Transport&)>& body);

/// Every rank calls this with its own outcome of a fallible step (its InputError's text, or empty).
/// If any rank failed, all throw the same InputError: the first failing rank's text, with its rank
/// where not all ranks failed alike. So bad input never leaves a rank waiting for another.
void agree_on_input(Transport& transport, const std::string& complaint);

/// All ranks pass named facts (model digest, schedule digest, seed, build …). Throws the same
/// InputError on every rank where one differs: what differs, on which ranks.
void agree_on_facts(Transport& transport,
                    const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace hios::mpi
