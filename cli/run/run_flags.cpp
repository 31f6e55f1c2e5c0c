#include "cli/run/run_flags.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "cli/flags/flight_flags.h"
#include "cli/flags/model_flags.h"
#include "cli/flags/rank_flags.h"
#include "cli/process/version.h"
#include "cli/run/inferences_flags.h"
#include "cli/run/inputs/emulated_flags.h"
#include "cli/run/inputs/given_inputs.h"
#include "cli/run/inputs/missing_files.h"
#include "engine/backends.h"
#include "engine/cold/packed_parameters.h"
#include "engine/emulated/backend.h"
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/model/weights/weights_file.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/schedule/schedule_json.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

/// Returns true for "0.npy", "1.npy" … and "outputs.json": the files of --outputs.
bool is_output_of_model(const std::string& name) {
  return name == "outputs.json" || (name.ends_with(".npy") && name.size() > 4 &&
                                    name.find_first_not_of("0123456789") == name.size() - 4);
}

po::options_description run_flags() {
  po::options_description group("Run", 100, 45);
  group.add_options()("schedule", input_file("FILE"),
                      daily("the schedule; rank r is its device r (without it: one rank, in "
                            "order)"));
  group.add_options()(
      "input", named_input_files("[NAME:]FILE"),
      daily("the input, in the model's extents: .npy, or .bin (float32, row-major); "
            "NAME is the input's, repeatable where there are several (default: "
            "from --seed)"));
  group.add_options()("reference", named_input_files("[NAME:]FILE"),
                      "compare output NAME with these values (.npy, .bin), within --atol and "
                      "--rtol; exit 1 if it differs; repeatable");
  group.add_options()("outputs", output_folder("FOLDER", is_output_of_model),
                      daily("write the model's outputs there: 0.npy, 1.npy, ... and outputs.json"));
  group.add_options()(
      "profile", input_file("FILE"),
      daily("costs for the prediction, stage by stage; operators use the algorithms with which "
            "they were measured"));
  group.add_options()("percentiles", value("P[,P...]"),
                      "further percentiles of the latency: 50,90,99.9");
  group.add_options()("verify", value("operators")->implicit_value("outputs"),
                      daily("compare with the reference backend, and bit by bit with one rank "
                            "by the same algorithms; =operators: every operator"));
  group.add_options()(
      "atol", value("X"),
      "tolerance: |value - reference| in the values' own unit (fp32: 1e-3, else by the "
      "arithmetic) ...");
  group.add_options()("rtol", value("X"), "... plus this share of the expected value (the same)");
  group.add_options()("max-error", value("PERCENT"),
                      "fail (exit 1) if the error of the prediction is larger");
  group.add_options()("trace", output_file("FILE"),
                      daily("write a Chrome trace (Perfetto): planned and measured"));
  group.add_options()(
      "layers",
      "print every operator: rank, stage, predicted and measured time, its share of "
      "all operators' on all ranks, bytes");
  group.add_options()(
      "executor", value("fifo|ready")->default_value("fifo"),
      "the order of a rank's stages (ready: on CPUs, one inference at a time): the schedule's, or "
      "the earliest first of those whose inputs and parameters are there");
  group.add_options()("blocking",
                      "GPUs: wait after every operator, to find the one that fails; times are not "
                      "comparable");
  group.add_options()("dry-run", "plan and print; run nothing");
  group.add_options()(
      "weights", input_file("FILE"),
      "weights of the model, a safetensors file as --write-weights makes it, instead "
      "of the model's own or those of --seed");
  group.add_options()(
      "write-weights", output_file("FILE"),
      "write the weights of the model (its own, or of --seed) as a safetensors file; "
      "run nothing");
  group.add_options()("packed",
                      "with --write-weights FILE or --weights FILE: write FILE.packed, the weights "
                      "as this backend computes with them, which a cold start from a disk reads "
                      "(--weights FILE); with --schedule, for that schedule; run nothing");
  group.add_options()("export-onnx", output_file("FILE"),
                      "write the model with its weights (of --seed) as an ONNX file; run nothing");
  return group;
}

job::Verify read_verify(const Flags& flags) {
  const auto word = flags.optional_text("verify");
  if (!word) return job::Verify::kNo;
  if (*word == "outputs") return job::Verify::kOutputs;
  if (*word == "operators") return job::Verify::kOperators;
  throw InputError("--verify takes nothing or =operators, not '" + *word + "'");
}

/// Returns true for the executor that runs stages in any order.
bool read_executor(const Flags& flags, bool many, bool on_gpu) {
  const std::string word = flags.text("executor");
  if (word == "fifo") return false;
  if (word != "ready") throw InputError("--executor takes fifo or ready, not '" + word + "'");
  if (many) {
    throw InputError(
        "--executor ready runs one inference at a time: leave it out, or --inferences and the "
        "other flags of many");
  }
  if (on_gpu) {
    throw InputError(
        "--executor ready is for ranks that compute on CPUs: a GPU is given its stages in the "
        "schedule's order; leave it out, or add --backend cpu");
  }
  return true;
}

std::vector<double> read_percentiles(const Flags& flags) {
  std::vector<double> percentiles;
  if (!flags.given("percentiles")) return percentiles;
  for (const std::string& word : flags.list("percentiles")) {
    percentiles.push_back(parse_number("percentiles", word, 0, 100));
  }
  return percentiles;
}

/// Throws InputError where --threads or --math differ from the schedule's, which a run uses.
void check_repeated_flags(const Flags& flags, const job::RunInputs& inputs) {
  const auto threads = flags.optional_integer("threads", 1, 4096);
  const auto precision = read_math(flags);
  for (std::size_t r = 0; r < inputs.schedule.devices.size(); ++r) {
    const Device& device = inputs.schedule.devices[r];
    const std::string where = inputs.schedule_name + ": $.devices[" + std::to_string(r) + "]: ";
    if (threads && *threads != device.threads) {
      throw InputError(where + "made for " + std::to_string(device.threads) +
                       " threads a rank, and --threads says " + std::to_string(*threads) +
                       ": leave the flag out, or schedule again");
    }
    if (precision && *precision != device.precision) {
      const std::string asked(to_string(*precision));
      throw InputError(where + "made for " + std::string(to_string(device.precision)) +
                       ", and --math says " + asked +
                       ": leave the flag out, or schedule again with --math " + asked);
    }
  }
}

job::RankOptions emulated_ranks() {
  job::RankOptions options;
  options.table = emulated::table();
  options.backends = {std::string(options.table.front().name)};
  options.share_cores = true;
  return options;
}

job::RunOptions read_options(const Flags& flags, std::size_t ranks, std::uint64_t seed) {
  job::RunOptions options;
  options.ranks = emulates(flags) ? emulated_ranks() : read_rank_options(flags, ranks);
  options.route = read_route(flags);
  const bool on_gpu = computes_on_gpu(options.ranks, ranks);
  options.protocol = read_protocol(flags, on_gpu);
  options.inferences = read_inferences(flags);
  if (options.inferences) count_inferences(flags, options.protocol);
  options.any_order = read_executor(flags, options.inferences.has_value(), on_gpu);
  options.seed = seed;
  if (const auto file = flags.optional_text("weights")) {
    options.packed_weights = packed_file_of(*file);
  }
  options.verify = read_verify(flags);
  if (flags.given("atol")) options.atol = flags.number("atol", 0, 1e30);
  if (flags.given("rtol")) options.rtol = flags.number("rtol", 0, 1e30);
  options.blocking = flags.given("blocking");
  options.forget_weights = true;
  options.program = {.version = version(), .commit = commit(), .build = build_text()};
  return options;
}

/// Throws InputError where flags contradict each other.
void check_together(const Flags& flags, const RunCommand& command) {
  const job::RunInputs& inputs = command.inputs;
  const bool cold = inputs.schedule.schedule.weights.has_value();
  const bool predicted = inputs.machine || inputs.schedule.has_prediction;
  if (command.max_error && !predicted && (cold || !inputs.profile)) {
    throw InputError(
        "--max-error judges a prediction, and " + inputs.schedule_name +
        " has none: " + (cold ? "a profile predicts no cold start" : "give --profile FILE"));
  }
  if (command.max_error && command.options.blocking) {
    throw InputError("--max-error judges times, and --blocking spoils them: leave one of them out");
  }
  for (const char* output : {"json", "csv", "trace", "outputs", "layers", "reference"}) {
    if (command.dry_run && flags.given(output)) {
      throw InputError(std::string("--dry-run measures nothing for --") + output);
    }
  }
}

/// Returns the kind of each rank's device.
std::vector<std::string> kinds_of(const job::RankOptions& ranks, std::size_t size) {
  std::vector<std::string> kinds;
  for (const BackendEntry* const backend : job::backends_of_ranks(ranks, size))
    kinds.emplace_back(backend->kind);
  return kinds;
}

/// Returns a rank's device where there is no schedule: one rank, or one rank per copy.
Device lone_device(const Flags& flags, const job::RankOptions& ranks, std::size_t size) {
  const BackendEntry& backend = *job::backends_of_ranks(ranks, size).front();
  Device device;
  device.kind = std::string(backend.kind);
  device.name = device.kind + "0";
  const auto threads = static_cast<int>(flags.optional_integer("threads", 1, 4096).value_or(1));
  device.threads = computes_on_cores(device.kind) ? threads : 0;
  device.precision = read_math(flags).value_or(Precision::kFp32);
  return device;
}

/// Reads model and schedule. Throws InputError where the schedule is for another graph, with the
/// command that plans this one.
job::RunInputs read_scheduled(const Flags& flags, const std::string& schedule,
                              const ReadLimits& limits, const FusionRules& fusion) {
  try {
    return job::read_run_inputs(flags.text("model"), read_input_size(flags), schedule, {}, limits,
                                fusion);
  } catch (const InputError& error) {
    if (!std::holds_alternative<need::ScheduleOfGraph>(error.need())) throw;
    const Json json = read_json(schedule, limits);
    const ScheduleHead head = schedule_head(JsonView(json, schedule));
    const Bytes element_bytes = Platform(head.devices).element_bytes();
    const auto command_by = [&](const Flags& words) {
      return plan_command(words, load_network(words, limits, element_bytes), head.devices,
                          schedule);
    };
    std::string command;
    try {
      command = command_by(with_cuts_of(schedule, head.cuts, flags));
    } catch (const InputError&) {
      command = command_by(flags);  // another model, without the operators that it cuts
    }
    if (command.empty()) throw;
    throw InputError(std::string(error.what()) + ", or replace it with: " + command);
  }
}

/// Gives the network the weights of --weights.
void read_given_weights(const Flags& flags, const InputSize& wanted, job::RunInputs& inputs,
                        const ReadLimits& limits) {
  const auto file = flags.optional_text("weights");
  if (!file) return;
  if (!inputs.network.coarse.batch_models.empty()) {
    throw InputError(
        "--weights: the schedule divides its inputs, and no such run takes weights of "
        "a file yet");
  }
  const InputSize size = flags.given("schedule") ? inputs.size : wanted;
  inputs.network.model = with_weights_of(*file, flags, size, inputs.network.model, limits);
}

job::RunInputs read_inputs(const Flags& flags, const job::RankOptions& ranks, std::size_t size,
                           const ReadLimits& limits) {
  const std::string model = flags.text("model");
  const InputSize wanted = read_input_size(flags);
  const auto schedule = flags.optional_text("schedule");
  const auto profile = flags.optional_text("profile");
  const FusionRules fusion = read_fusion(flags, limits);
  require_schedule(
      flags, limits, kinds_of(ranks, size),
      static_cast<std::size_t>(flags.optional_integer("copies", 1, 65536).value_or(1)));
  job::RunInputs inputs =
      schedule ? read_scheduled(flags, *schedule, limits, fusion)
               : job::inputs_in_order(load_model(model, wanted, limits, layer_kernel()),
                                      lone_device(flags, ranks, size), {}, limits, fusion);
  if (schedule) refuse_to_leave_whole(flags, *schedule, inputs.schedule.cuts);
  read_given_weights(flags, wanted, inputs, limits);
  require_profile(with_cuts_of(schedule.value_or(""), inputs.schedule.cuts, flags), inputs.network,
                  Platform(inputs.schedule.devices));
  inputs.profile = job::read_profile(profile, limits);
  inputs.input = read_given_inputs(flags, inputs.network, limits);
  return inputs;
}

/// Makes the folder if there is none, and checks its files now, not after the run.
void check_outputs(const std::filesystem::path& folder, std::size_t count, Existing existing) {
  std::error_code failure;
  std::filesystem::create_directory(folder, failure);
  if (!std::filesystem::is_directory(folder)) {
    throw InputError("--outputs " + printable(folder.string(), 200) +
                     ": is no folder, and cannot be made one");
  }
  check_writable(folder / "outputs.json", existing);
  for (std::size_t i = 0; i < count; ++i) {
    check_writable(folder / (std::to_string(i) + ".npy"), existing);
  }
}

std::vector<std::string> run_backend_names() {
  std::vector<std::string> names = backend_names();
  for (const BackendEntry& backend : emulated::table()) names.emplace_back(backend.name);
  return names;
}

}  // namespace

Flags run_program_flags() {
  Flags flags(
      {.program = "hios-run",
       .purpose = "run a network on one rank, or a schedule on a rank for each of its devices",
       .usage = "--model NAME|FILE [--schedule FILE --profile FILE] [FLAG...]",
       .examples = {{"hios-run --model squeezenet --verify",
                     "on one rank, compared with plain loops"},
                    two_rank_example("hios-run --model squeezenet --schedule schedule.json "
                                     "--profile profile.json",
                                     "a schedule for two ranks (see hios-schedule)")},
       .note = "A schedule for a machine that is not there: --backend emulated --graph FILE "
               "--schedule FILE --platform FILE. Ctrl-C, SIGTERM and SIGHUP keep what was measured "
               "until then."});
  flags.add(model_flags())
      .add(rank_flags())
      .add(device_flags())
      .add(run_flags())
      .add(inferences_flags())
      .add(emulated_flags())
      .add(flight_flags())
      .add(explain_flags())
      .add(common_flags())
      .add_values("model", model_names())
      .add_values("backend", run_backend_names());
  return flags;
}

RunCommand read_run_command(const Flags& flags, const mpi::Transport& transport,
                            std::optional<Bytes> memory) {
  const bool first = transport.rank() == Rank(0);
  Common common = read_common(flags, !first);
  common.limits.memory = memory;
  const job::RunOptions options = read_options(flags, transport.size(), common.seed);
  RunCommand command(
      common, emulates(flags) ? read_emulated(flags, common.limits)
                              : read_inputs(flags, options.ranks, transport.size(), common.limits));
  command.options = options;
  check_repeated_flags(flags, command.inputs);
  command.percentiles = read_percentiles(flags);
  if (flags.given("max-error")) command.max_error = flags.number("max-error", 0, 1e6);
  command.timeout_s = read_timeout(flags);
  command.dry_run = flags.given("dry-run");
  command.options.plan_only = command.dry_run;
  command.layers = flags.given("layers");
  command.options.time_operators = command.layers;
  check_together(flags, command);
  if (const auto outputs = flags.optional_text("outputs")) {
    command.outputs = *outputs;
    command.options.gather_outputs = true;
    const std::size_t count = command.inputs.network.model.named_outputs().size();
    if (first) check_outputs(*command.outputs, count, common.existing);
  }
  if (flags.given("reference")) {
    command.options.gather_outputs = true;
    if (first) {
      command.references =
          read_references(flags, command.inputs.network.model, command.common.limits);
    }
  }
  if (const auto trace = flags.optional_text("trace")) {
    command.trace = *trace;
    if (first) check_writable(*command.trace, common.existing);
  }
  return command;
}

}  // namespace hios::cli
