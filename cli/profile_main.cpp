// hios-profile: measures a network's operators, stages and transfers on the ranks that will run it.

#include <algorithm>
#include <cstdio>

#include "cli/device_setup.h"
#include "cli/finding_line.h"
#include "cli/network.h"
#include "cli/rank_setup.h"
#include "cli/table.h"
#include "cli/version.h"
#include "cli/wanted_stages.h"
#include "engine/choices.h"
#include "engine/machine.h"
#include "engine/profiler.h"
#include "hios/log.h"
#include "hios/profile.h"
#include "hios/validate.h"
#include "scheduler/scheduler.h"

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
  std::string math = kMathNames[0];
  int threads = 1;  ///< of a rank; 0 for a GPU, which has none
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
    for (const Device& device : devices) {
      if (device.threads == job.threads && device.streams <= job.streams &&
          device.math == job.math && devices.size() == ranks)
        continue;
      throw InputError(text + ": $.devices: made for " + std::to_string(devices.size()) +
                       " ranks x " + std::to_string(device.threads) + " threads x " +
                       std::to_string(device.streams) + " streams, " + device.math +
                       ": measure its stages with the same -np, --threads, --streams and --math");
    }
    const ScheduleFile file = schedule_from_json(root, job.network.coarse.graph);
    const auto findings = validate(job.network.coarse.graph, Platform(file.devices), file.schedule);
    if (!findings.empty()) throw InputError(finding_line(text, findings.front()));
    job.schedule = file.schedule;
    return;
  }
  for (const std::string& name : split(text, ',')) {
    job.algorithms.emplace_back(scheduler::find(name).name);
  }
}

int read_threads(const Flags& flags, const BackendEntry& backend) {
  const auto threads = flags.optional_integer("threads", 1, 4096);
  if (backend.kind == "cpu") return static_cast<int>(threads.value_or(1));
  if (threads) {
    throw InputError("--threads counts cores, and the " + std::string(backend.name) +
                     " backend computes on none: leave it out");
  }
  return 0;
}

Job read_job(const Flags& flags, const mpi::Transport& transport) {
  const bool first = transport.rank() == Rank(0);
  Common common = read_common(flags, !first);
  const std::string math = parse_math(flags.optional_text("math").value_or(kMathNames[0]));
  Job job(common, load_network(flags, common.limits, element_bytes(math)));
  job.protocol = read_protocol(flags);
  check_distinct_files(flags);
  job.output = flags.text("output");
  job.backends = backends_by_rank(flags, transport.size());
  for (const std::string& name : job.backends) {
    if (name != job.backends.front()) {
      throw InputError(
          "--backend: hios-profile measures one backend at a time; call it once for each, with "
          "--update");
    }
  }
  job.devices = read_device_options(flags, job.backends);
  const BackendEntry& backend = find_backend(job.backends.front());
  job.math = math;
  require_math(backend, job.math);
  job.threads = read_threads(flags, backend);
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

/// One configuration is one machine's: times of two would be compared as if they were one's.
void check_same_machine(const Job& job, const Configuration& known, const Backend& backend,
                        const std::string& path) {
  const auto differs = [&](const char* what, const std::string& here) {
    const std::string there = known.machine.value(what, here);
    if (there == here) return;
    throw InputError(job.output.string() + ": $.configurations: measured on another " + what +
                     " (" + there + ", here " + here + "): write to another file");
  };
  differs("processor", processor_name());
  differs("transport", path);
  const Json described = known.machine.value("backend", Json::object());
  const std::string gpu = backend.describe().value("gpu", "");
  if (described.value("gpu", gpu) != gpu) {
    throw InputError(job.output.string() + ": $.configurations: measured on another GPU (" +
                     described.value("gpu", "") + ", here " + gpu + "): write to another file");
  }
}

Configuration& configuration(Job& job, const Backend& backend, const mpi::Transport& transport) {
  const std::size_t ranks = transport.size();
  if (Configuration* known = job.profile.find(backend.kind(), job.threads, ranks, job.math)) {
    if (known->backend != backend.name()) {
      throw InputError(job.output.string() + " holds times of the " + known->backend +
                       " backend for this configuration: write to another file");
    }
    check_same_machine(job, *known, backend, transport.path());
    return *known;
  }
  Configuration fresh;
  fresh.backend = backend.name();
  fresh.kind = backend.kind();
  fresh.threads = job.threads;
  fresh.math = job.math;
  fresh.ranks = ranks;
  job.profile.configurations.push_back(fresh);
  return job.profile.configurations.back();
}

/// Ask on rank 0, tell all, measure on all, until nothing is wanted or the time is up.
void measure_wanted_stages(Job& job, mpi::Transport& transport, Profiler& profiler,
                           Configuration& into) {
  const Graph& graph = job.network.coarse.graph;
  const Platform platform =
      Platform::homogeneous(transport.size(), into.kind, job.threads, job.streams, job.math);
  const Stopwatch watch;
  for (;;) {
    double left_s = job.time_limit_s - watch.seconds();
    transport.all_reduce_max({&left_s, 1});
    std::string text;
    if (transport.rank() == Rank(0)) {
      text =
          stages_to_text(job.schedule ? wanted_stages(graph, platform, job.profile, *job.schedule)
                                      : wanted_stages(graph, platform, job.profile, job.algorithms,
                                                      std::max(left_s, 1.0)));
    }
    const std::vector<Stage> stages = stages_from_text(transport.broadcast(text));
    if (stages.empty()) return;
    if (left_s <= 0) break;
    const std::size_t before = into.stages.size();
    profiler.measure_stages(stages, into, left_s);
    if (into.stages.size() == before) break;
  }
  log::warning(
      "the time for stages is up: schedulers will estimate the rest (--time-limit, then --update)");
}

void print_summary(const Job& job, const Configuration& measured) {
  double sum_ms = 0;
  for (const Operator& op : job.network.coarse.graph.operators())
    sum_ms += measured.operators.at(op.signature).ms;
  Table table({"configuration", "operators", "their sum ms", "stages", "transfers", "seconds"});
  table.add({std::to_string(measured.ranks) + " x " + measured.backend + " x " +
                 std::to_string(measured.threads) + " threads",
             std::to_string(measured.operators.size()), fixed(sum_ms, 3),
             std::to_string(measured.stages.size()), std::to_string(measured.transfers.size()),
             fixed(measured.seconds, 1)});
  show(table.text());
  if (job.common.csv) write_text(*job.common.csv, table.csv(), job.common.existing);
  if (job.common.json) write_json(*job.common.json, to_json(job.profile), job.common.existing);
}

/// What runs need to compute by the same algorithms, and how tensors went.
void add_provenance(Configuration& into, const Json& algorithms, const TensorTransport& tensors) {
  if (!algorithms.empty()) into.machine["algorithms"] = algorithms;
  if (const auto paths = tensors.json()) into.machine["transfer_paths"] = *paths;
}

int profile(mpi::Transport& plain_transport, int argc, char** argv) {
  mpi::BeatingTransport transport(plain_transport);
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
  const std::vector<int> threads(transport.size(), std::max(1, job.threads));
  const RankBackend mine =
      make_rank_backend(flags, transport, job.backends, threads,
                        backend_options(job.devices, transport, job.backends, job.math));
  const TensorTransport tensors(transport, *mine.backend, job.devices);
  SeededSource source(job.common.seed);
  Configuration& into =
      *agreed(transport, [&] { return &configuration(job, *mine.backend, tensors.get()); });
  log::info("measuring " + describe(job.network.model) + " on " + std::to_string(transport.size()) +
            " ranks x " + std::to_string(job.threads) + " threads, " + tensors.get().path());
  if (!tensors.table().empty()) log::info("tensors travel by\n" + tensors.table());
  Profiler profiler(job.network.coarse, job.network.model, *mine.backend, tensors.get(), source,
                    job.protocol);
  const Json algorithms =
      agree_on_choices(transport, *mine.backend, job.network.coarse, job.network.model,
                       into.machine.value("algorithms", Json::object()));
  profiler.measure_operators(into);
  if (transport.size() > 1) profiler.measure_transfers(into, job.largest_message);
  if (!job.algorithms.empty() || job.schedule) {
    // Rank 0 may run schedulers for the whole time limit while the others wait for its word.
    watching = watch_phase(transport, job.timeout_s + job.time_limit_s, "measuring stages");
    measure_wanted_stages(job, transport, profiler, into);
  }
  add_provenance(into, algorithms, tensors);
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
  return hios::mpi::run_session(argc, argv, [&](hios::mpi::Transport& transport) {
    return hios::cli::profile(transport, argc, argv);
  });
}
