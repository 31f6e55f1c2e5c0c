#include "cli/rank_program.h"

#include "cli/flags.h"
#include "cli/rank_flags.h"
#include "cli/remedies.h"
#include "mpi/session/session.h"

namespace hios::cli {

int rank_program(int argc, char** argv, int (*program)(mpi::Transport&, int argc, char** argv)) {
  prepare_process();
  ensure_openmp_environment(argv);
  const auto body = [&](mpi::Transport& transport) {
    const int status = program(transport, argc, argv);
    if (transport.rank() == Rank(0)) finish_output();
    return status;
  };
  return mpi::run_session(
      argc, argv, body, [](const Error& error) { return error_line(error); },
      early_timeout_s(argc, argv).value_or(mpi::kSessionTimeoutSeconds));
}

}  // namespace hios::cli
