#include "cli/rank_setup.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/version.h"
#include "engine/host/cores.h"
#include "hios/base/log.h"
#ifdef HIOS_HAVE_CPU
#include "engine/cpu/streams.h"
#endif

namespace hios::cli {

namespace po = boost::program_options;

po::options_description rank_flags() {
  po::options_description group("Ranks and measuring", 100, 45);
  group.add_options()("backend", value("NAME[,NAME...]")->default_value("auto"),
                      "auto, reference, cpu or cuda; one for all ranks, or one a rank");
  group.add_options()("threads", value("N"), "cores a rank (profile: 1; run: the schedule's)");
  group.add_options()("oversubscribe", "let ranks share cores where there are too few");
  group.add_options()("warmup", value("N")->default_value("5"), "runs before measuring");
  group.add_options()("iterations", value("N")->default_value("30"), "measured runs, at least");
  group.add_options()("timeout", value("SECONDS")->default_value("60"),
                      "end the job where a rank stands still that long");
  group.add_options()("duration", value("SECONDS")->default_value("0"), "measured time, at least");
  return group;
}

bool parse_on_all_ranks(Flags& flags, int argc, char** argv, mpi::Transport& transport) {
  agreed(transport, [&] {
    flags.parse(argc, argv);
    return true;
  });
  std::string words;
  words = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) words += std::string(" ") + argv[i];
  mpi::agree_on_facts(transport, {{"the command line", words}, {"the build", build_id()}});
  return !answered(flags, transport.rank() == Rank(0));
}

Protocol read_protocol(const Flags& flags) {
  Protocol protocol;
  protocol.warmup = static_cast<int>(flags.integer("warmup", 0, 1'000'000));
  protocol.iterations = static_cast<int>(flags.integer("iterations", 1, 100'000'000));
  protocol.duration_s = flags.number("duration", 0, 1e6);
  return protocol;
}

std::vector<std::string> backends_by_rank(const Flags& flags, std::size_t ranks) {
  std::vector<std::string> names = flags.list("backend");
  if (names.size() == 1) names.resize(ranks, names.front());
  if (names.size() != ranks) {
    throw InputError("--backend names " + std::to_string(names.size()) + " backends for " +
                     std::to_string(ranks) + " ranks: give one for all, or one a rank");
  }
  for (std::string& name : names) {
    if (name != "auto") {
      name = find_backend(name).name;
      continue;
    }
    for (const BackendEntry& entry : backends()) {
      if (entry.make) {
        name = entry.name;
        break;
      }
    }
  }
  return names;
}

namespace {

/// What the OpenMP library was told, as far as it matters.
Json openmp_environment() {
  Json told = Json::object();
  for (const char* name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_PROC_BIND"}) {
    if (const char* said = std::getenv(name)) told[name] = said;
  }
  return told;
}

/// The threads of the ranks of this host, by local rank, which every rank reports itself.
std::vector<int> local_threads(mpi::Transport& transport, const std::vector<int>& threads_by_rank) {
  const std::vector<std::string> places =
      transport.all_gather(transport.host() + "\n" + std::to_string(transport.local_rank()));
  std::vector<int> threads(transport.local_size(), 1);
  for (std::size_t r = 0; r < places.size(); ++r) {
    const std::size_t line = places[r].find('\n');
    if (places[r].substr(0, line) != transport.host()) continue;
    threads[std::stoul(places[r].substr(line + 1))] = threads_by_rank[r];
  }
  return threads;
}

}  // namespace

RankBackend make_rank_backend(const Flags& flags, mpi::Transport& transport,
                              const std::vector<std::string>& names,
                              const std::vector<int>& threads_by_rank, BackendOptions options) {
  const std::vector<int> local = local_threads(transport, threads_by_rank);
  return agreed(transport, [&] {
    RankBackend made;
    made.cores =
        assign_cores(allowed_cores(), local, transport.local_rank(), flags.given("oversubscribe"));
    options.threads = threads_by_rank[transport.rank().index()];
    options.cores = made.cores;
    options.environment = openmp_environment();
    if (made.cores.empty()) {
      log::warning(
          "ranks share cores (--oversubscribe): nothing is pinned, and predictions do not hold");
    }
    made.backend = find_backend(names[transport.rank().index()]).make(options);
    return made;
  });
}

namespace {

std::unique_ptr<Watchdog> watchdog(Watched watched, const mpi::Transport& transport,
                                   double timeout_s) {
  const std::string who =
      "rank " + std::to_string(transport.rank().index()) + " on " + transport.host();
  // Only the main thread may call MPI, and it is the one that hangs: mpirun ends the others.
  return std::make_unique<Watchdog>(std::move(watched),
                                    Watchdog::Options{.timeout_s = timeout_s, .who = who},
                                    [] { std::_Exit(static_cast<int>(ExitCode::kRunFailed)); });
}

}  // namespace

std::unique_ptr<Watchdog> watch_phase(const mpi::HeartbeatTransport& transport, double timeout_s,
                                      std::string phase) {
  return watchdog(
      {[&transport] { return transport.heartbeats(); },
       [&transport, phase = std::move(phase)] { return phase + ": " + transport.doing(); }},
      transport, timeout_s);
}

std::unique_ptr<Watchdog> watch_runs(const Executor& executor, const mpi::Transport& transport,
                                     double timeout_s) {
  return watchdog(watched(executor), transport, timeout_s);
}

void ensure_openmp_environment([[maybe_unused]] char** argv) {
#ifdef HIOS_HAVE_CPU
  bool changed = false;
  for (const auto& [name, value] : cpu::recommended_openmp_environment()) {
    if (std::getenv(std::string(name).c_str())) continue;  // the user's word counts
    setenv(std::string(name).c_str(), std::string(value).c_str(), 0);
    changed = true;
  }
  // Where it cannot start itself again, it runs on: slower between stages, never wrong.
  if (changed) execv("/proc/self/exe", argv);
#endif
}

}  // namespace hios::cli
