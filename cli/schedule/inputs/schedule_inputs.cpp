#include "cli/schedule/inputs/schedule_inputs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/flags/file_flags.h"
#include "cli/process/commands.h"
#include "cli/process/version.h"
#include "cli/remedies.h"
#include "cli/schedule/inputs/parameter_labels.h"
#include "engine/host/machine.h"
#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "hios/graph/sized_networks.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/platform/platform_json.h"
#include "hios/profile/elsewhere.h"
#include "hios/profile/extrapolate.h"
#include "hios/profile/profile_gaps.h"
#include "hios/profile/profile_json.h"
#include "hios/profile/settling.h"
#include "hios/schedule/schedule_json.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

RandomDag random_parameters(const Flags& flags, std::uint64_t seed) {
  const std::string text = flags.text("random");
  RandomDag parameters = parse_random_dag(text);
  const bool own_seed = text.find("seed=") != std::string::npos;
  if (!own_seed) parameters.seed = seed;
  return parameters;
}

/// L of the papers' simulations: the streams of a device where no flag gives them and the graph has
/// costs of operators that run at the same time. With one stream, ios would be sequential and
/// hios-lp would be inter-lp.
constexpr std::int64_t kStreamsForStageCosts = 8;

/// The number of devices and of streams of each, where no flag gives them.
struct Defaults {
  std::optional<std::size_t> devices = {};  ///< absent: the default of --devices
  std::int64_t streams = 1;
};

/// Returns the keys of a --platform file that a profile could also give, by device.
std::vector<SetByPlatform> keys_of_devices(const Json& platform) {
  std::vector<SetByPlatform> keys;
  for (const Json& device : platform.at("devices")) {
    keys.push_back({device.contains("io_charge"), device.contains("fast_memory_bytes")});
  }
  return keys;
}

/// Reads --platform, or the flags instead of it. `of_file`: receives the keys of a --platform file.
Platform read_platform(const Flags& flags, const ReadLimits& limits, const Defaults& defaults,
                       std::vector<SetByPlatform>& of_file) {
  const auto file = flags.optional_text("platform");
  if (!file) {
    const auto count = static_cast<std::size_t>(flags.integer("devices", 1, 65536));
    const std::size_t devices = flags.written("devices") ? count : defaults.devices.value_or(count);
    const std::string kind = flags.text("kind");
    const bool gpu = kind == kGpuKind;
    if (!gpu && !computes_on_cores(kind)) {
      std::string capped;
      std::vector<std::string_view> kinds = {kCpuKind, kGpuKind};
      for (const InstructionCap& cap : kInstructionCaps) {
        capped += ", " + std::string(cap.kind);
        kinds.push_back(cap.kind);
      }
      throw InputError("--kind takes cpu or gpu, not '" + kind + "', or with capped instructions" +
                       capped.substr(1) + "; name others in a --platform" +
                       did_you_mean(kind, kinds));
    }
    const std::int64_t cores = gpu ? 0 : 1;
    if (gpu && flags.optional_integer("threads", 0, 65536).value_or(0) > 0)
      throw InputError("--threads are cores, and devices of --kind gpu have none: leave it out");
    return Platform::homogeneous(
        devices, kind,
        static_cast<int>(flags.optional_integer("threads", 0, 65536).value_or(cores)),
        static_cast<int>(flags.optional_integer("streams", 1, 65536).value_or(defaults.streams)),
        parse_precision(flags.optional_text("math").value_or("fp32")));
  }
  for (const char* flag : {"devices", "kind", "threads", "streams", "math"}) {
    if (!flags.written(flag)) continue;
    throw InputError("--" + std::string(flag) +
                     " and --platform both describe the devices: leave one out (" + *file +
                     " describes each device)");
  }
  const Json json = read_input(*file, limits);
  Platform platform = platform_from_json(JsonView(json, *file));
  of_file = keys_of_devices(json);
  return platform;
}

/// Returns the facts of this machine with which a profile is compared. Backends and MPI are those
/// of the machine where the plan will run.
Surrounding this_machine() {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return {.processor = processor_name(),
          .host = host,
          .version = version(),
          .commit = commit(),
          .build = build_text()};
}

/// Ranks share memory for one inference at a time, whose parameters are there.
Travel travel_for(std::string_view objective) {
  return objective == to_string(Objective::kLatency) ? Travel::kShared : Travel::kCopied;
}

}  // namespace

void require_one_source(const Flags& flags) {
  const int sources = flags.given("model") + flags.given("graph") + flags.given("random");
  if (sources != 1) {
    throw InputError("give the graph with one of --model, --graph and --random (" +
                     std::to_string(sources) + " given)");
  }
  if (flags.given("profile") && !flags.given("model")) {
    throw InputError("--profile has costs of a --model; a graph has its own");
  }
  if (flags.given("random") && (flags.given("inputs") || flags.given("parts"))) {
    throw InputError("--inputs and --parts divide the inputs of a --model or a --graph");
  }
  if (flags.given("fusion") && !flags.given("model")) {
    throw InputError("--fusion joins layers of a --model; a graph has operators already");
  }
  if (flags.given("merge") && !flags.given("model")) {
    throw InputError("--merge joins convolutions of a --model; a graph has operators already");
  }
  if (flags.given("cut") && !flags.given("model")) {
    throw InputError("--cut cuts operators of a --model; a graph has none of its layers");
  }
  if (flags.given("label-parameters") && (!flags.given("model") || flags.given("inputs"))) {
    throw InputError("--label-parameters labels those of a --model without --inputs");
  }
  if (flags.given("export-model") && flags.optional_text("cut").value_or("none") != "none") {
    throw InputError("--export-model writes the model before it is cut: leave --cut out");
  }
  if (flags.given("export-model") && flags.optional_text("merge").value_or("none") != "none") {
    throw InputError("--export-model writes the model without merging: leave --merge out");
  }
  for (const char* flag : {"batch", "height", "width", "dim"}) {
    if (!flags.given(flag) || flags.given("model")) continue;
    throw InputError("--" + std::string(flag) +
                     " is the size of a --model's inputs; a graph has its sizes already");
  }
}

ScheduleInputs::ScheduleInputs(const Flags& flags, const Common& common, const Work& work,
                               const std::optional<Platform>& devices) {
  const bool named = flags.given("platform") || !devices;
  std::optional<RandomDag> random;
  Defaults defaults;
  if (flags.given("random")) {
    random = random_parameters(flags, common.seed);
    if (!random->devices.speeds.empty()) defaults.devices = random->devices.speeds.size();
    defaults.streams = kStreamsForStageCosts;
  }
  platform_ = named ? read_platform(flags, common.limits, defaults, set_by_platform_) : *devices;
  if (devices && devices->element_bytes() != platform_.element_bytes()) {
    throw InputError(
        "the schedule's tensors and those of --platform are not of one size: fp16 goes with fp16");
  }
  if (random) {
    make_random(*random, work);
  } else {
    read_graph(flags, common, work);
  }
  const bool stage_costs = graph().stage_cost().kind == StageCostRule::Kind::kOverlap;
  if (!random && !devices && !flags.given("platform") && stage_costs) {
    platform_ =
        read_platform(flags, common.limits, {.streams = kStreamsForStageCosts}, set_by_platform_);
  }
  read_profile(flags, common.limits);
  travel_ = travel_for(flags.text("objective"));
  if (!devices) take_measured(flags);
  take_measured_store(flags);
}

void ScheduleInputs::make_random(const RandomDag& parameters, const Work& work) {
  require_memory({parameters.operators, parameters.edges_at_most(), platform_.size(),
                  parameters.device_names(platform_.size())},
                 work, 0);
  RandomProblem made = random_problem(parameters, platform_);
  graph_ = std::move(made.graph);
  platform_ = std::move(made.platform);
}

void ScheduleInputs::read_graph(const Flags& flags, const Common& common, const Work& work) {
  if (flags.given("model")) {
    make_network_ = network_maker(flags, common.limits, platform_.element_bytes());
    network_ = with_parameter_labels(make_network_({}), flags, common);
    if (cli::chooses_cuts(flags)) read_cuts(flags, common);
    own_profile_ = profile_name(flags);
    model_words_ = [flags, this](const Graph& graph) {
      return model_words(flags, network_->model, graph, read_divided_inputs(flags));
    };
  } else {
    const std::string file = flags.text("graph");
    {  // the file's tree of values takes more memory than the graph
      const Json json = read_input(file, common.limits);
      own_graph_ = graph_from_json(JsonView(json, file));
    }
    const auto by_size = [](const Operator& op) { return !op.time_by_size.empty(); };
    graph_ = own_graph_->inputs() > 1 || std::ranges::any_of(own_graph_->operators(), by_size)
                 ? *SizedGraphs(*own_graph_, {own_graph_->inputs()}).whole()
                 : *own_graph_;
  }
  read_inputs(flags);
  const ProblemSize size{graph().size(), graph().edge_count(), platform_.size()};
  require_memory(size, work, graph_bytes(size));
}

void ScheduleInputs::read_inputs(const Flags& flags) {
  std::optional<std::int64_t> of_graph;
  if (own_graph_ && (own_graph_->inputs() > 1 || flags.given("inputs"))) {
    of_graph = own_graph_->inputs();
  }
  const auto divided = read_divided_inputs(flags, of_graph);
  if (divided && divided->inputs > 1)
    sized_ = sized_for(batch_sizes(divided->inputs, divided->parts));
}

SizedGraphs ScheduleInputs::sized_for(const BatchSizes& sizes) const {
  return make_network_ ? SizedNetworks(sizes, make_network_).graphs()
                       : SizedGraphs(*own_graph_, sizes);
}

std::shared_ptr<const Graph> ScheduleInputs::divided_as(const JsonView& root) const {
  if (!network_ && !own_graph_) return nullptr;  // a random network has one input
  const std::int64_t inputs = network_ ? network_->model.batch() : own_graph_->inputs();
  std::vector<Batch> batches = schedule_batches(root, graph(), inputs);
  if (batches.empty()) return nullptr;
  try {
    const SizedGraphs sized = sized_for(batch_sizes(inputs, batches));
    return std::make_shared<const Graph>(divide(sized, std::move(batches)));
  } catch (const InputError& error) {
    root.fail(std::string(error.what()) + "; schedule it again");
  }
}

void ScheduleInputs::read_profile(const Flags& flags, const ReadLimits& limits) {
  const auto file = flags.optional_text("profile");
  if (!file) {
    if (!flags.given("extrapolate-ranks")) return;
    throw InputError("--extrapolate-ranks takes the measurements of a --profile: give one");
  }
  if (is_missing(*file)) {
    fail_without_times(printable(*file, 200) + ": there is no such profile", *file);
  }
  const Json json = read_input(*file, limits);
  profile_ = profile_from_json(JsonView(json, *file));
  profile_->file = *file;
  if (flags.given("extrapolate-ranks")) extrapolated_from_ = other_ranks(*profile_, platform_);
  if (extrapolated_from_) profile_ = extrapolated(*profile_, platform_, *extrapolated_from_);
  platform_ = identified_by(*profile_, platform_);
  require_certified_cuts();
  warn_of_elsewhere(measured_elsewhere(*profile_, platform_, std::array{this_machine()}));
}

const CostModel& ScheduleInputs::costs() {
  if (!costs_ && network_ && !profile_) {
    fail_without_times(
        "a --model has no costs of its own: add --profile " + shell_word(own_profile_),
        own_profile_);
  }
  if (!costs_) {
    require_memory(cost_model_bytes(graph(), platform_, profile_.has_value()),
                   "a time for each of " + std::to_string(graph().size()) + " operators on " +
                       std::to_string(platform_.size()) + " devices",
                   "take fewer devices or operators");
    costs_ = costs_of(graph());
    if (profile_) warn_of_unsettled(unsettled_text(*profile_, platform_));
  }
  return *costs_;
}

scheduler::Problem ScheduleInputs::problem(Objective objective) {
  if (make_cut_) return cuttable_problem();
  if (!sized_) return scheduler::Problem(costs(), objective, inputs());
  divisible_ = {&*sized_, &platform_, [this](const Graph& graph) { return costs_of(graph); }};
  return scheduler::Problem(divisible_);
}

std::int64_t ScheduleInputs::inputs() const {
  return network_ ? network_->model.batch() : graph().inputs();
}

CostModel ScheduleInputs::costs_of(const Graph& graph, Objective objective) const {
  return costs_of(graph, travel_for(to_string(objective)));
}

CostModel ScheduleInputs::costs_of(const Graph& graph, Travel travel) const {
  return profile_ ? costs_by_profile(graph, travel) : CostModel::from_graph(graph, platform_);
}

CostModel ScheduleInputs::costs_by_profile(const Graph& graph, Travel travel) const {
  return with_remedies(model_words_(graph), [&] {
    try {
      return CostModel::from_profile(graph, platform_, *profile_, travel);
    } catch (const InputError& error) {
      const auto ranks = other_ranks(*profile_, platform_);
      if (!ranks) throw;
      throw InputError(std::string(error.what()) + "; plan with the measurements of " +
                           std::to_string(*ranks) + " ranks by --extrapolate-ranks",
                       error.need());
    }
  });
}

void ScheduleInputs::fail_without_times(const std::string& text, const std::string& file) const {
  const InputError error(text, measurement_of(DeviceId(0), platform_, file, graph()));
  throw InputError(error_line(error, model_words_(graph())));
}

ScheduleFile ScheduleInputs::blank_file() const {
  ScheduleFile file;
  file.graph_name = graph().name();
  file.graph_digest = graph().digest();
  if (network_) {
    file.batch = network_->model.batch();
    file.height = network_->model.height();
    file.width = network_->model.width();
    file.merge = network_->merge;
    file.cuts = network_->cuts;
  }
  file.devices.assign(platform_.devices().begin(), platform_.devices().end());
  if (const Topology* const topology = platform_.topology()) {
    file.stores.assign(topology->stores().begin(), topology->stores().end());
  }
  return file;
}

po::options_description input_flags() {
  po::options_description group("Graph and machine", 100, 45);
  group.add_options()("profile", input_file("FILE"),
                      daily("measured costs of the model's operators"));
  group.add_options()("extrapolate-ranks",
                      "plan for more or fewer devices than the --profile has ranks: operators and "
                      "stages as measured with the nearest number of ranks, a transfer between any "
                      "two devices as the median of the measured pairs; the schedule records it");
  group.add_options()("store", value("memory|disk"),
                      "cold starts by a --profile that measured them: the store that keeps the "
                      "parameters (the disk where one was measured, else memory)");
  group.add_options()("graph", input_file("FILE"),
                      daily("a hios-graph file: operators, edges and their costs"));
  group.add_options()(
      "random", value("KEYS"),
      "a random network: n=200,edges=400,layers=14,p=0.8,seed=3 (transfer=consumer). family= takes "
      "layered, two-terminal (layers between one source and one sink), forkjoin (width=4), tree "
      "(direction=out or in), chain (width=4), stencil (width=4 cells in a row), cholesky (n at "
      "most), independent and dense (density=0.5); "
      "modules=10,nodes=32,wiring=er0.2,channels=1,ends=strong: modules in a row with times for "
      "gpu0, gpu1 and cpu (wiring=ws4-0.75, ba5; ends=weak); family=regal,base=er: as REGAL's "
      "(base=ba, ws, sbm); networks by formula: family=bert,layers=12,heads=12,hidden=768,"
      "length=128 and family=lstm,layers=4,hidden=1024,length=32. Heterogeneous devices: "
      "speeds=1:1:0.25 (or 1x2:0.25), spread=0.5 (each time on each device is multiplied by a "
      "lognormal number of mean 1), memory=1.02 (of all devices, relative to the memory of all "
      "operators), allowed=0.2, colocate=0.1 (shares of operators). Cold starts: "
      "parameters=0-4000000 (bytes of an operator), in-place=0.5 (share of those with some)");
  group.add_options()(
      "devices", value("M[,M...]")->default_value("2"),
      daily("number of devices, all alike, or several numbers for one table; default: the number "
            "of speeds in --random, if any"));
  group.add_options()("kind", value("cpu|gpu|KIND")->default_value("cpu"),
                      "kind of the devices; with capped instructions cpu-avx2 and similar");
  group.add_options()("threads", value("N"), "cores per device (1; of kind gpu: 0)");
  group.add_options()(
      "streams", value("S"),
      "largest number of groups of operators at once on a device; 8 for a graph whose "
      "stage_cost is overlap (random graphs have it), else 1");
  group.add_options()("math", value("fp32|tf32|fp16"), "arithmetic of the devices (fp32)");
  group.add_options()(
      "platform", input_file("FILE"),
      "a hios-platform file instead of the five above: devices of any kinds, their links, and the "
      "contention on them");
  return group;
}

}  // namespace hios::cli
