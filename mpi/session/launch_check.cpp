#include "mpi/session/launch_check.h"

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "mpi/messages/launcher.h"
#include "mpi/session/exit_status.h"

namespace hios::mpi {
namespace {

InputError unconnected(std::size_t started, const std::string& why) {
  return InputError("the launcher started " + std::to_string(started) +
                        " processes that do not find each other (" + why + ")",
                    need::MatchingLauncher{});
}

/// Returns the addresses that a rank takes until it has read its arguments. Open MPI 4.1 maps 370
/// MB with 2 ranks on a host and 476 MB with 8, of which it can spare some. With less it failed in
/// many ways: by SIGSEGV in MPI_Init, with status 2 and no line, or never, and the others waited.
rlim_t addresses_of_a_rank() {
  constexpr rlim_t kAlone_mib = 288, kEachOfHost_mib = 16;
  return (kAlone_mib + kEachOfHost_mib * launched_local_size().value_or(1)) << 20;
}

std::optional<InputError> lack_of_addresses() {
  const rlim_t needed = addresses_of_a_rank();
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= needed) return {};
  return InputError("a process may have " + std::to_string(limit.rlim_cur >> 20) +
                    " MiB of addresses only, and a rank takes " + std::to_string(needed >> 20) +
                    " MiB in addition to its network: raise ulimit -v");
}

std::string here(const std::string& text) {
  char host[256] = "unknown host";
  gethostname(host, sizeof host - 1);
  const auto rank = launched_rank();
  return rank ? with_rank(Rank(*rank), host, text) : text;
}

}  // namespace

bool refuse_launch(const ErrorText& text_of) {
  if (const auto lack = lack_of_addresses()) {
    print_error(here(text_of(*lack)));
    let_others_connect();
    report_failure_to_launcher(static_cast<int>(ExitCode::kBadInput));
    return true;
  }
#ifdef OPEN_MPI
  if (!launched_without_pmix()) return false;
  if (launched_task().value_or(0) == 0)
    print_error(text_of(unconnected(launched_ranks().value_or(0), "Slurm gave them no PMIx")));
  return true;
#else
  return false;
#endif
}

void check_launch(const Transport& transport, int thread_level) {
  const std::size_t started = launched_ranks().value_or(transport.size());
  if (started != transport.size()) {
    throw unconnected(started, "MPI sees " + std::to_string(transport.size()));
  }
  if (thread_level < MPI_THREAD_FUNNELED) {
    throw InputError(
        "this MPI allows no threads other than its caller (MPI_THREAD_FUNNELED); use one "
        "that was built with threads");
  }
}

}  // namespace hios::mpi
