// The session (mpi/session/session.h) of a build without MPI.
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "mpi/messages/launcher.h"
#include "mpi/session/exit_status.h"
#include "mpi/session/session.h"

// The job is one rank. If a launcher started several, it is refused: each would take itself for the
// whole job.
namespace hios::mpi {

Library library() { return Library::kNone; }

int run_session(int, char**, const std::function<int(Transport&)>& body, const ErrorText& text_of,
                const SessionTimeout&) {
  const auto alone = [&](Transport& transport) {
    if (const std::size_t ranks = launched_ranks().value_or(1); ranks > 1) {
      throw InputError(
          "this build has no MPI, and the launcher started " + std::to_string(ranks) + " ranks",
          need::MpiInBuild{});
    }
    return body(transport);
  };
  return run_one_rank(alone, text_of);
}

}  // namespace hios::mpi
