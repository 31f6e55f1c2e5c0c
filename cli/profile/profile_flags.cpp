#include "cli/profile/profile_flags.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/flags/flight_flags.h"
#include "cli/flags/model_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/profile/write_platform.h"
#include "engine/backends.h"
#include "engine/cold/packed_parameters.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/base/log.h"
#include "hios/base/nearest_name.h"
#include "hios/base/need.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/cuts/even_cuts.h"
#include "hios/graph/sized_networks.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile_json.h"
#include "hios/schedule/schedule.h"
#include "hios/schedule/schedule_json.h"
#include "scheduler/registry.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

po::options_description profile_flags() {
  po::options_description group("Profile", 100, 45);
  group.add_options()("streams", value("S")->default_value("1"),
                      daily("largest number of groups of operators at once on a rank"));
  group.add_options()("output", output_file("FILE"), daily("the profile to write"));
  group.add_options()("update", daily("add to the profile that exists; measure nothing twice"));
  group.add_options()(
      "stages", input_file("NAME[,NAME...]|SCHEDULE|none", has_dot_or_slash),
      daily("measure the stages that these schedulers ask for, or those of a schedule (default "
            "with several streams: ios,hios-lp,hios-mr)"));
  group.add_options()(
      "objective", value("latency|throughput|cold-start")->default_value("latency"),
      "throughput: measure also the time that transfers take from ranks that compute, and "
      "operators in blocks of the network, for plans with many inferences in flight; cold-start: "
      "loads of parameters, alone and while operators run, and operators that read them in place");
  group.add_options()(
      "weights", input_file("FILE"),
      "with --objective cold-start: measure loads from a disk, too, by FILE.packed, which hios-run "
      "--weights FILE --packed makes of these weights");
  group.add_options()("largest-message", value("BYTES")->default_value("16777216"),
                      "largest measured transfer; the smallest has 1 KB");
  group.add_options()("time-limit", value("SECONDS")->default_value("60"),
                      "seconds for measuring stages");
  group.add_options()("settle", value("SECONDS")->default_value("20"),
                      "further measuring of operators until their times settle, at most; so long "
                      "for stages, too");
  return group;
}

bool on_cores(const job::RankDevice& device) { return device.backend->kind != kGpuKind; }

/// Throws InputError where the schedule's devices are not those that are measured.
void check_devices(const std::string& file, const std::vector<Device>& devices,
                   const std::vector<job::RankDevice>& measured, int streams) {
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Device& device = devices[d];
    if (devices.size() == measured.size() && device.kind == measured[d].backend->kind &&
        device.threads == (on_cores(measured[d]) ? measured[d].cores : 0) &&
        device.streams <= streams && device.precision == measured[d].precision)
      continue;
    throw InputError(
        file + ": $.devices: made for " + std::to_string(devices.size()) + " ranks, the one of " +
        device.name + " with " + std::to_string(device.threads) + " threads x " +
        std::to_string(device.streams) + " streams, " + std::string(to_string(device.precision)) +
        ": measure its stages with the same -np, --backend, --threads, --streams "
        "and --math");
  }
}

/// Reads the schedule whose stages are to be measured.
Schedule read_stages_of(const std::string& name, const ProfileCommand& command,
                        const std::vector<job::RankDevice>& measured) {
  const Json json = read_json(name, command.common.limits);
  const JsonView root(json, name);
  check_devices(name, schedule_head(root).devices, measured, command.options.streams);
  check_merge(root, command.networks.back().coarse.graph, command.networks.back().merge);
  ScheduleFile file = schedule_from_json(root, command.networks.back().coarse.graph);
  file.schedule.weights.reset();  // stages are measured with their parameters loaded
  const auto findings =
      validate(command.networks.back().coarse.graph, Platform(file.devices), file.schedule);
  if (!findings.empty()) throw InputError(finding_line(name, findings.front()));
  return file.schedule;
}

void read_stages(const Flags& flags, ProfileCommand& command,
                 const std::vector<job::RankDevice>& measured) {
  const std::string text = flags.given("stages")         ? flags.text("stages")
                           : command.options.streams > 1 ? "ios,hios-lp,hios-mr"
                                                         : "none";
  if (text == "none") return;
  if (has_dot_or_slash(text)) {
    command.schedule = read_stages_of(text, command, measured);
    return;
  }
  for (const std::string& name : flags.given("stages") ? flags.list("stages") : split(text, ','))
    command.algorithms.emplace_back(scheduler::built_in().find(name).name);
}

/// Returns the network with all operators cut that can be, into as many shards as there are ranks,
/// or two, or shares in the flag, and the whole network, whose operators then compute by the
/// algorithms of the shards.
std::vector<Network> cut_and_whole(const Flags& flags, const ReadLimits& limits,
                                   Bytes element_bytes, std::size_t ranks) {
  if (flags.given("inputs")) {
    throw InputError("--cut auto and --inputs each measure shares of operators: leave one out");
  }
  Network whole = network_maker(flags, limits, element_bytes)({});
  FusionRules rules = read_fusion(flags, limits);
  rules.cuts =
      even_cuts(whole.model, whole.coarse, shares_of_cuts(flags, std::max<std::size_t>(ranks, 2)));
  if (rules.cuts.empty())
    throw InputError("--cut auto: no operator of " + whole.description() + " can be cut");
  log::info("cutting " + std::to_string(rules.cuts.size()) + " of " +
            std::to_string(whole.coarse.graph.size()) + " operators");
  Model model = load_model(flags.text("model"), read_input_size(flags), limits, layer_kernel());
  std::vector<Network> networks;
  networks.emplace_back(std::move(model), element_bytes, rules);
  networks.push_back(std::move(whole));
  return networks;
}

/// Loads a network for every number of inputs that may run at a time, or with cuts and without.
std::vector<Network> load_networks(const Flags& flags, const ReadLimits& limits,
                                   Bytes element_bytes, std::size_t ranks) {
  if (chooses_cuts(flags)) return cut_and_whole(flags, limits, element_bytes, ranks);
  const auto made = network_maker(flags, limits, element_bytes);
  std::vector<Network> networks;
  if (const auto divided = read_divided_inputs(flags)) {
    const SizedNetworks sized(batch_sizes(divided->inputs, divided->parts), made);
    for (const std::int64_t size : sized.graphs().sizes()) networks.push_back(sized.of(size));
  } else {
    networks.push_back(made({}));
  }
  return networks;
}

/// Reads --objective. Throws InputError for an unknown word.
Objective read_measured_objective(const Flags& flags) {
  const std::string name = flags.text("objective");
  for (const Objective each :
       {Objective::kLatency, Objective::kThroughput, Objective::kColdStart}) {
    if (name == to_string(each)) return each;
  }
  throw InputError("--objective takes latency, throughput or cold-start, not " + quote(name) +
                   did_you_mean(name, {"latency", "throughput", "cold-start"}));
}

/// Throws InputError where throughput cannot be measured.
void check_throughput(const Flags& flags, std::size_t ranks) {
  if (flags.given("inputs") || flags.given("parts")) {
    throw InputError(
        "--objective throughput sends whole batches, one after the other: give --batch instead of "
        "--inputs");
  }
  if (ranks < 2) {
    throw InputError(
        "--objective throughput measures transfers between two ranks that compute, and there is "
        "one: leave it out, or give it the ranks of the plan",
        need::Ranks{2});
  }
}

/// Throws InputError where cold starts cannot be measured.
void check_measured_cold_start(const Flags& flags) {
  if (flags.given("inputs") || flags.given("parts")) {
    throw InputError(
        "--objective cold-start runs all inputs at a time: give --batch instead of --inputs");
  }
}

job::ProfileOptions read_options(const Flags& flags, std::size_t ranks, Precision precision,
                                 std::uint64_t seed) {
  job::ProfileOptions options;
  options.ranks = read_rank_options(flags, ranks);
  options.protocol = read_protocol(flags, computes_on_gpu(options.ranks, ranks));
  options.protocol.settle_s = flags.number("settle", 0, 1e6);
  options.route = read_route(flags);
  options.threads = static_cast<int>(flags.optional_integer("threads", 1, 4096).value_or(1));
  options.precision = precision;
  options.streams = static_cast<int>(flags.integer("streams", 1, 4096));
  options.seed = seed;
  options.largest_message = static_cast<Bytes>(flags.integer("largest-message", 1024, 1 << 30));
  options.stages_limit_s = flags.number("time-limit", 0, 1e6);
  const Objective objective = read_measured_objective(flags);
  options.throughput = objective == Objective::kThroughput;
  options.cold_start = objective == Objective::kColdStart;
  if (options.throughput) check_throughput(flags, ranks);
  if (options.cold_start) check_measured_cold_start(flags);
  if (const auto file = flags.optional_text("weights")) {
    if (!options.cold_start) {
      throw InputError("--weights is read for --objective cold-start: add it, or leave it out");
    }
    options.packed_weights = packed_file_of(*file);
  }
  return options;
}

void refuse_threads_without_cores(const Flags& flags, const std::vector<job::RankDevice>& devices) {
  if (!flags.given("threads") || std::any_of(devices.begin(), devices.end(), on_cores)) return;
  throw InputError("--threads counts cores, and the " + std::string(devices.front().backend->name) +
                   " backend computes on none: leave it out");
}

}  // namespace

Flags profile_program_flags() {
  Flags flags(
      {.program = "hios-profile",
       .purpose = "measure a network's operators, stages and transfers, on one rank or several",
       .usage = "--model NAME|FILE --output FILE [FLAG...]",
       .examples = {{"hios-profile --model squeezenet --output one-rank.json", "on one rank"},
                    two_rank_example("hios-profile --model squeezenet --output profile.json",
                                     "on two ranks, with the transfers between them")},
       .note = "Ctrl-C, SIGTERM and SIGHUP keep what was measured until then."});
  flags.add(model_flags())
      .add(inputs_flags())
      .add(rank_flags())
      .add(device_flags())
      .add(profile_flags())
      .add(platform_flags())
      .add(flight_flags())
      .add(common_flags())
      .add_values("model", model_names())
      .add_values("backend", backend_names())
      .add_values("stages", scheduler::built_in().names());
  return flags;
}

ProfileCommand read_profile_command(const Flags& flags, const mpi::Transport& transport,
                                    std::optional<Bytes> memory) {
  const bool first = transport.rank() == Rank(0);
  Common common = read_common(flags, !first);
  common.limits.memory = memory;
  const Precision precision = read_math(flags).value_or(Precision::kFp32);
  ProfileCommand command(
      common, load_networks(flags, common.limits, element_bytes(precision), transport.size()));
  command.output = flags.text("output");
  command.options = read_options(flags, transport.size(), precision, common.seed);
  command.options.lists_uncertified = chooses_cuts(flags);
  if (const auto file = flags.optional_text("weights")) {
    const std::size_t with_weights = chooses_cuts(flags) ? command.networks.size() : 1;
    for (Network& network : std::span(command.networks).first(with_weights)) {
      network.model =
          with_weights_of(*file, flags, read_input_size(flags), network.model, common.limits);
    }
  }
  const auto devices = job::devices_of_ranks(command.options, transport.size());
  refuse_threads_without_cores(flags, devices);
  command.timeout_s = read_timeout(flags);
  if (flags.given("update") && is_standard_output(command.output)) {
    throw InputError("--update adds to a file, and --output - is standard output: name a file");
  }
  std::error_code unclear;  // for example a link to itself: reading the file gives the message
  const bool grows =
      flags.given("update") && (std::filesystem::exists(command.output, unclear) || unclear);
  command.updates = flags.given("update");
  check_writable(command.output, grows ? Existing::kReplace : common.existing);
  if (grows) {
    const Json json = read_json(command.output, common.limits);
    command.known = profile_from_json(JsonView(json, command.output));
    command.known.file = command.output;
  }
  read_stages(flags, command, devices);
  return command;
}

}  // namespace hios::cli
