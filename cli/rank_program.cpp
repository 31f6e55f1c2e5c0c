#include "cli/rank_program.h"

#include <system_error>

#include "cli/flags/flight_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/process/output.h"
#include "cli/process/prepare.h"
#include "cli/remedies.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/session/session.h"

namespace hios::cli {

int rank_program(int argc, char** argv,
                 int (*program)(mpi::Transport&, flight::Recorder&, int argc, char** argv)) {
  prepare_process(argc, argv);
  ensure_openmp_environment(argv);
  flight::Recorder recorder;
  prepare_record(recorder, argc, argv);
  const flight::CrashReporter reporter(recorder);
  const auto body = [&](mpi::Transport& transport) {
    try {
      const int status = program(transport, recorder, argc, argv);
      if (transport.rank() == Rank(0)) finish_output();
      return status;
    } catch (const std::system_error&) {
      require_address_space();  // the first thread may fail to start before arguments are read
      throw;
    }
  };
  mpi::SessionTimeout timeout{.name = "--timeout"};
  timeout.seconds = early_timeout_s(argc, argv).value_or(timeout.seconds);
  return mpi::run_session(
      argc, argv, body, [](const Error& error) { return error_line(error); }, timeout);
}

}  // namespace hios::cli
