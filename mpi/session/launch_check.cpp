#include "mpi/session/launch_check.h"

#include <unistd.h>

#include <cstdint>
#include <string>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "mpi/messages/handles.h"
#include "mpi/messages/launcher.h"
#include "mpi/session/address_space.h"
#include "mpi/session/exit_status.h"

namespace hios::mpi {
namespace {

InputError unconnected(std::size_t started, const std::string& why) {
  return InputError("the launcher started " + std::to_string(started) +
                        " processes that do not find each other (" + why + ")",
                    need::MatchingLauncher{});
}

/// Throws InputError where MPI cannot start for lack of addresses. Open MPI 4.1 maps 370 MB with 2
/// ranks on a host and 476 MB with 8, of which it can spare some. With less it failed in many ways:
/// by SIGSEGV in MPI_Init, with status 2 and no line, or never, while the others waited.
void require_addresses_of_mpi() {
  constexpr std::uint64_t kAlone_mib = 288, kEachOfHost_mib = 16;
  require_address_space(kAlone_mib + kEachOfHost_mib * launched_local_size().value_or(1));
}

std::string here(const std::string& text) {
  char host[256] = "unknown host";
  gethostname(host, sizeof host - 1);
  const auto rank = launched_rank();
  return rank ? with_rank(Rank(*rank), host, text) : text;
}

}  // namespace

bool refuse_launch(const ErrorText& text_of) {
  try {
    require_addresses_of_mpi();
  } catch (const InputError& error) {
    print_error(here(text_of(error)));
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
