#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags.h"
#include "engine/backend/backend.h"
#include "engine/run/timing.h"
#include "engine/run/watchdog.h"
#include "hios/base/error.h"
#include "mpi/session/heartbeat_transport.h"
#include "mpi/session/session.h"

/// What hios-profile and hios-run do on every rank before anything runs.
namespace hios::cli {

/// --backend --threads --oversubscribe --warmup --iterations --duration.
boost::program_options::options_description rank_flags();

/// Runs a step that may find bad input on some ranks only; where any does, all throw alike.
template <class Step>
auto agreed(mpi::Transport& transport, Step step) {
  std::optional<decltype(step())> result;
  std::string complaint;
  Need need;
  try {
    result.emplace(step());
  } catch (const InputError& error) {
    complaint = error.what();
    need = error.need();
  }
  mpi::agree_on_input(transport, complaint, need);
  return std::move(*result);
}

/// Parses the command line on every rank, answers --help and --version, and makes sure that all
/// ranks have the same arguments and the same build. Returns false if that was all.
bool parse_on_all_ranks(Flags& flags, int argc, char** argv, mpi::Transport& transport);

Protocol read_protocol(const Flags& flags);

/// The backend's name for each rank, "auto" resolved.
std::vector<std::string> backends_by_rank(const Flags& flags, std::size_t ranks);

/// This rank's backend on its cores. Collective. `threads_by_rank` has one entry a rank; `options`
/// says what is not about cores.
struct RankBackend {
  std::unique_ptr<Backend> backend;
  std::vector<int> cores;  ///< empty: not pinned
};
RankBackend make_rank_backend(const Flags& flags, mpi::Transport& transport,
                              const std::vector<std::string>& names,
                              const std::vector<int>& threads_by_rank, BackendOptions options);

/// Watches a phase in which ranks work and wait for each other's words: where this rank's last call
/// of the transport is longer ago than `timeout_s`, it prints where the rank stands and ends the
/// job.
std::unique_ptr<Watchdog> watch_phase(const mpi::HeartbeatTransport& transport, double timeout_s,
                                      std::string phase);

/// Before the arguments are read.
inline constexpr double kDefaultTimeoutSeconds = 60;

/// The same for an executor's runs.
std::unique_ptr<Watchdog> watch_runs(const Executor& executor, const mpi::Transport& transport,
                                     double timeout_s);

/// Makes sure that this process runs with the OpenMP settings that the cpu backend wants: libgomp
/// reads them before main, so the program starts itself again with them where they are not set.
void ensure_openmp_environment(char** argv);

}  // namespace hios::cli
