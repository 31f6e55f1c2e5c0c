// hios-profile: measures a network's operators, stages and transfers on the ranks that will run it.

#include <algorithm>
#include <cstdio>

#include "cli/device_setup.h"
#include "cli/finding_line.h"
#include "cli/network.h"
#include "cli/profile/wanted_stages.h"
#include "cli/rank_setup.h"
#include "cli/remedies.h"
#include "cli/table.h"
#include "cli/version.h"
#include "engine/host/machine.h"
#include "engine/job/algorithm_agreement.h"
#include "engine/job/profile_teams.h"
#include "engine/measure/profiler.h"
#include "hios/base/log.h"
#include "hios/evaluate/validate.h"
#include "hios/profile/profile.h"
#include "scheduler/registry.h"

namespace hios::cli {
namespace {

namespace po = boost::program_options;

po::options_description profile_flags() {
  po::options_description group("Profile", 100, 45);
  group.add_options()("streams", value("S")->default_value("1"),
                      "the most groups of operators at once on a rank");
  group.add_options()("output", value("FILE"), "the profile to write");
  group.add_options()("update", "add to the profile that exists; measure nothing twice");
  group.add_options()("stages", value("NAME[,NAME...]|SCHEDULE|none"),
                      "measure the stages that these schedulers ask for, or those of a schedule "
                      "(with several streams: ios,hios-lp,hios-mr)");
  group.add_options()("largest-message", value("BYTES")->default_value("16777216"),
                      "transfers are measured from 1 KB up to this size");
  group.add_options()("time-limit", value("SECONDS")->default_value("60"), "for measuring stages");
  return group;
}

/// What one call of the program is about, read alike on every rank.
struct Job {
  Job(Common the_common, Network the_network)
      : common(std::move(the_common)), network(std::move(the_network)) {}

  Common common;
  Network network;
  Protocol protocol;
  std::filesystem::path output;
  std::vector<std::string> backends;
  DeviceOptions devices;
  // By rank.
  std::vector<Precision> precision;
  std::vector<int> threads;  ///< 0 for a GPU, which has none
  int streams = 1;
  Bytes largest_message = kLargestMessage;
  double time_limit_s = 60;
  double timeout_s = kDefaultTimeoutSeconds;
  std::vector<std::string> algorithms;
  std::optional<Schedule> schedule;
  Profile profile;
};

void read_stages(const Flags& flags, Job& job, std::size_t ranks) {
  const std::string text = flags.given("stages") ? flags.text("stages")
                           : job.streams > 1     ? "ios,hios-lp,hios-mr"
                                                 : "none";
  if (text == "none") return;
  if (text.find_first_of("./") != std::string::npos) {
    const Json json = read_json(text, job.common.limits);
    const JsonView root(json, text);
    const std::vector<Device> devices = schedule_head(root).devices;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const Device& device = devices[d];
      if (devices.size() == ranks && device.kind == find_backend(job.backends[d]).kind &&
          device.threads == job.threads[d] && device.streams <= job.streams &&
          device.precision == job.precision[d])
        continue;
      throw InputError(
          text + ": $.devices: made for " + std::to_string(devices.size()) + " ranks, the one of " +
          device.name + " with " + std::to_string(device.threads) + " threads x " +
          std::to_string(device.streams) + " streams, " + std::string(to_string(device.precision)) +
          ": measure its stages with the same -np, --backend, --threads, --streams "
          "and --math");
    }
    const ScheduleFile file = schedule_from_json(root, job.network.coarse.graph);
    const auto findings = validate(job.network.coarse.graph, Platform(file.devices), file.schedule);
    if (!findings.empty()) throw InputError(finding_line(text, findings.front()));
    job.schedule = file.schedule;
    return;
  }
  for (const std::string& name : split(text, ',')) {
    job.algorithms.push_back(scheduler::built_in().find(name).name);
  }
}

/// Cores are counted on ranks that compute on them. A rank whose backend has not the arithmetic
/// asked for computes in fp32 beside one that has, as long as their tensors are of one kind.
void read_ranks(const Flags& flags, Job& job) {
  const auto threads = flags.optional_integer("threads", 1, 4096);
  const Precision plain = Precision::kFp32, asked = job.devices.precision.value_or(plain);
  bool any_cores = false, any_asked = false;
  for (const std::string& name : job.backends) {
    const BackendEntry& backend = find_backend(name);
    const bool cores = backend.kind == "cpu", has = backend.has(asked);
    if (element_bytes(asked) != element_bytes(plain)) require_precision(backend, asked);
    any_cores = any_cores || cores;
    any_asked = any_asked || has;
    job.threads.push_back(cores ? static_cast<int>(threads.value_or(1)) : 0);
    job.precision.push_back(has ? asked : plain);
  }
  if (!any_asked) require_precision(find_backend(job.backends.front()), asked);
  if (threads && !any_cores) {
    throw InputError("--threads counts cores, and the " + job.backends.front() +
                     " backend computes on none: leave it out");
  }
}

Job read_job(const Flags& flags, const mpi::Transport& transport) {
  const bool first = transport.rank() == Rank(0);
  Common common = read_common(flags, !first);
  const Precision precision = parse_precision(flags.optional_text("math").value_or("fp32"));
  Job job(common, load_network(flags, common.limits, element_bytes(precision)));
  job.protocol = read_protocol(flags);
  check_distinct_files(flags);
  job.output = flags.text("output");
  job.backends = backends_by_rank(flags, transport.size());
  job.devices = read_device_options(flags, job.backends);
  read_ranks(flags, job);
  job.streams = static_cast<int>(flags.integer("streams", 1, 4096));
  job.largest_message = static_cast<Bytes>(flags.integer("largest-message", 1024, 1 << 30));
  job.time_limit_s = flags.number("time-limit", 0, 1e6);
  job.timeout_s = flags.number("timeout", 0.1, 1e6);
  const bool grows = flags.given("update") && std::filesystem::exists(job.output);
  check_writable(job.output, grows ? Existing::kReplace : common.existing);
  if (grows) {
    const Json json = read_json(job.output, common.limits);
    job.profile = profile_from_json(JsonView(json, job.output));
    job.profile.file = job.output;
  }
  read_stages(flags, job, transport.size());
  return job;
}

/// Ask on rank 0, tell all, measure on all, until nothing is wanted or the time is up.
void measure_wanted_stages(Job& job, mpi::Transport& transport, Profiler& profiler,
                           const Teams& teams, const std::vector<Configuration*>& into) {
  const Graph& graph = job.network.coarse.graph;
  const Platform platform = platform_of(teams, job.streams);
  const Stopwatch watch;
  const auto wanted_here = [&](double left_s) {
    WantedStages wanted = job.schedule
                              ? wanted_stages(graph, platform, job.profile, *job.schedule)
                              : wanted_stages(graph, platform, job.profile, scheduler::built_in(),
                                              job.algorithms, left_s);
    std::vector<std::vector<Stage>> by_team;
    for (const Configuration* const lacks : into) by_team.push_back(std::move(wanted[lacks]));
    return stages_to_text(by_team);
  };
  for (;;) {
    double left_s = job.time_limit_s - watch.seconds();
    transport.all_reduce_max({&left_s, 1});
    const std::string text =
        transport.rank() == Rank(0) ? wanted_here(std::max(left_s, 1.0)) : std::string();
    const auto stages = stages_from_text(transport.broadcast(text));
    if (std::all_of(stages.begin(), stages.end(), [](const auto& of) { return of.empty(); }))
      return;
    if (left_s <= 0) break;
    std::size_t measured = 0;
    for (std::size_t team = 0; team < into.size(); ++team) {
      // What is left is shared by the teams to come.
      const double share = left_s / static_cast<double>(into.size());
      measured += profiler.measure_stages(stages[team], *into[team], share, team).done;
    }
    if (measured == 0) break;
  }
  log::warning(
      "the time for stages is up: schedulers will estimate the rest (--time-limit, then --update)");
}

void print_summary(const Job& job, const std::vector<Configuration*>& measured) {
  Table table({"configuration", "operators", "their sum ms", "stages", "transfers", "seconds"});
  for (const Configuration* const each : measured) {
    double sum_ms = 0;
    for (const Operator& op : job.network.coarse.graph.operators())
      sum_ms += each->operators.at(op.signature).ms;
    table.add({std::to_string(each->ranks) + " x " + each->backend + " x " +
                   std::to_string(each->threads) + " threads",
               std::to_string(each->operators.size()), fixed(sum_ms, 3),
               std::to_string(each->stages.size()), std::to_string(each->transfers.size()),
               fixed(each->seconds, 1)});
  }
  show(table.text());
  if (job.common.csv) write_text(*job.common.csv, table.csv(), job.common.existing);
  if (job.common.json) write_json(*job.common.json, to_json(job.profile), job.common.existing);
}

/// What runs need to compute by the same algorithms, and how tensors went. Collective.
void add_provenance(mpi::Transport& transport, const Teams& teams,
                    const std::vector<Configuration*>& into, const Json& algorithms,
                    const TensorTransport& tensors) {
  const std::vector<std::string> of_ranks = transport.all_gather(algorithms.dump());
  const auto paths = tensors.json();
  for (std::size_t team = 0; team < into.size(); ++team) {
    const std::string& text = of_ranks[teams.ranks[team].front().index()];
    const Json chosen = parse_json(text, "a rank's algorithms", {.max_bytes = text.size()});
    if (!chosen.empty()) into[team]->machine["algorithms"] = chosen;
    if (paths) into[team]->machine["transfer_paths"] = *paths;
  }
}

/// "2 ranks x 1 threads", or, where they differ, "2 ranks (cuda, cpu)".
std::string ranks_text(const Job& job) {
  const std::string count = std::to_string(job.backends.size()) + " ranks";
  std::string names;
  bool alike = true;
  for (const std::string& name : job.backends) {
    alike = alike && name == job.backends.front();
    names += (names.empty() ? "" : ", ") + name;
  }
  return alike ? count + " x " + std::to_string(job.threads.front()) + " threads"
               : count + " (" + names + ")";
}

int profile(mpi::Transport& plain_transport, int argc, char** argv) {
  mpi::HeartbeatTransport transport(plain_transport);
  Flags flags("hios-profile", "measure a network's operators, stages and transfers (mpirun -np M)");
  flags.add(model_flags())
      .add(rank_flags())
      .add(device_flags())
      .add(profile_flags())
      .add(common_flags());
  auto watching = watch_phase(transport, kDefaultTimeoutSeconds, "reading what to do");
  if (!parse_on_all_ranks(flags, argc, argv, transport)) return 0;
  Job job = agreed(transport, [&] { return read_job(flags, transport); });
  mpi::agree_on_facts(transport, {{"the model", job.network.digest()},
                                  {"the profile to update", job.profile.digest()}});

  watching = watch_phase(transport, job.timeout_s, "measuring");
  const std::size_t self = transport.rank().index();
  std::vector<int> cores;
  for (const int threads : job.threads) cores.push_back(std::max(1, threads));
  const RankBackend mine =
      make_rank_backend(flags, transport, job.backends, cores,
                        backend_options(job.devices, transport, job.backends, job.precision[self]));
  const Teams teams = gather_teams(transport, *mine.backend, job.precision[self]);
  const TensorTransport tensors(transport, *mine.backend, job.devices);
  SeededSource source(job.common.seed);
  const std::vector<Configuration*> into = agreed(transport, [&] {
    return configurations_of(teams, job.profile, processor_name(), tensors.get().path());
  });
  log::info("measuring " + describe(job.network.model) + " on " + ranks_text(job) + ", " +
            tensors.get().path());
  if (!tensors.table().empty()) log::info("tensors travel by\n" + tensors.table());
  const auto profiler = agreed(transport, [&] {
    return std::make_unique<Profiler>(job.network.coarse, job.network.model, *mine.backend,
                                      tensors.get(), source, job.protocol, teams.ranks);
  });
  const Json algorithms =
      agree_on_algorithms(transport, *mine.backend, job.network.coarse, job.network.model,
                          into[teams.mine]->machine.value("algorithms", Json::object()));
  profiler->measure_operators(into);
  if (transport.size() > 1) profiler->measure_transfers(into, job.largest_message);
  if (!job.algorithms.empty() || job.schedule) {
    // Rank 0 may run schedulers for the whole time limit while the others wait for its word.
    watching = watch_phase(transport, job.timeout_s + job.time_limit_s, "measuring stages");
    measure_wanted_stages(job, transport, *profiler, teams, into);
  }
  add_provenance(transport, teams, into, algorithms, tensors);
  if (transport.rank() == Rank(0)) {
    write_after_work([&] {
      write_json(job.output, to_json(job.profile),
                 flags.given("update") ? Existing::kReplace : job.common.existing);
      print_summary(job, into);
    });
  }
  return 0;
}

}  // namespace
}  // namespace hios::cli

int main(int argc, char** argv) {
  hios::cli::ensure_openmp_environment(argv);
  const auto body = [&](hios::mpi::Transport& transport) {
    return hios::cli::profile(transport, argc, argv);
  };
  return hios::mpi::run_session(
      argc, argv, body, [](const hios::Error& error) { return hios::cli::error_line(error); });
}
