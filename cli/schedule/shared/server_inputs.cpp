#include "cli/schedule/shared/server_inputs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "cli/schedule/inputs/memory_need.h"
#include "cli/schedule/objective.h"
#include "cli/schedule/results/sweep.h"
#include "hios/base/error.h"
#include "scheduler/option_specs.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr std::string_view kModelPlaceholder = "{model}";
constexpr double kBytesOfGb = 1e9;
constexpr double kMostGb = 1e6;
constexpr double kMostShare = 1e9;

/// Returns the flags that go with --models.
const std::set<std::string_view>& flags_of_servers() {
  static const std::set<std::string_view> known{
      "models",    "shares",     "keep",    "platform",
      "objective", "profile",    "batch",   "height",
      "width",     "dim",        "fusion",  "merge",
      "option",    "time-limit", "output",  "label-parameters",
      "json",      "csv",        "seed",    "force",
      "max-input", "quiet",      "verbose", "extrapolate-ranks",
      "store"};
  return known;
}

void require_flags_of_server(const Flags& flags) {
  for (const char* needed : {"shares", "keep", "platform"}) {
    if (flags.given(needed)) continue;
    throw InputError("--models shares a server: give --" + std::string(needed) + ", too");
  }
  if (flags.text("objective") != to_string(Objective::kColdStart)) {
    throw InputError(
        "--models plans which parameters devices keep for cold starts: give --objective "
        "cold-start");
  }
  const std::vector<std::string> others = flags.written_except(flags_of_servers());
  if (others.empty()) return;
  throw InputError("--models plans the cold starts of several models: leave out --" +
                   others.front());
}

/// Returns true for a network by name, or a file of a model; else the file is a graph's.
bool names_model(const std::string& word, const ReadLimits& limits) {
  const std::vector<std::string> names = model_names();
  if (std::ranges::find(names, word) != names.end() || !has_dot_or_slash(word)) return true;
  if (word.ends_with(".onnx")) return true;
  const Json json = read_input(word, limits);
  return json.is_object() && json.contains("format") && json["format"] == "hios-model";
}

std::vector<double> read_shares(const Flags& flags, std::size_t models) {
  std::vector<double> shares;
  double sum = 0;
  for (const std::string& word : flags.list("shares")) {
    shares.push_back(parse_number("shares", word, 0, kMostShare));
    sum += shares.back();
  }
  if (shares.size() != models) {
    throw InputError("--shares has " + std::to_string(shares.size()) + " numbers, and --models " +
                     std::to_string(models) + " models: give each model its share of the requests");
  }
  if (!(sum > 0)) throw InputError("--shares are all 0: give models that have requests");
  return shares;
}

Options server_option_values(const Flags& flags) {
  const scheduler::Specs specs;
  const OptionSpec exchanges{"exchanges", std::int64_t{300}, 0, 1e9,
                             "exchanges of kept parameters that the search tries"};
  const std::vector<OptionSpec> all = {exchanges, specs.iterations, specs.islands, specs.threads};
  Options options(all);
  for (const std::string& word : flags.repeated("option")) options.set(word);
  return options;
}

void check_output_name(const Flags& flags) {
  const auto output = flags.optional_text("output");
  if (!output || output->find(kModelPlaceholder) != std::string::npos) return;
  throw InputError(
      "--output writes a schedule for each of the --models: put {model} into its name "
      "(plan-{model}.json)");
}

/// Checks the files that are written once the models' names are known.
void check_served_outputs(const Flags& flags, const Common& common, const ServedInputs& model) {
  const auto check_distinct_from_models = [&](const std::optional<std::string>& output) {
    for (const std::string& word : flags.list("models")) {
      std::vector<std::pair<std::string, std::string>> named{
          {has_dot_or_slash(word) && !word.ends_with(".onnx") ? "graph" : "model", word}};
      if (output) named.emplace_back("output", *output);
      check_distinct_files(flags.with(named).files());
    }
  };
  const std::string& name = model.inputs->graph().name();
  const auto file = schedule_file_of(flags, name);
  check_distinct_from_models(file);
  if (!file) return;
  if (name.empty() || name.find('/') != std::string::npos) {
    throw InputError("the model's name " + quote(name) +
                     " is no part of a file's name: rename the graph");
  }
  check_writable(*file, common.existing);
}

}  // namespace

po::options_description server_flags() {
  po::options_description group("Several models that share a server", 100, 45);
  group.add_options()(
      "models", value("A,B[,...]"),
      "graphs (hios-graph files), or models with --profile: plan which of their parameters the "
      "devices of the --platform keep between requests, so that the expected latency of a cold "
      "start is small, and write each model's schedule (--output plan-{model}.json)");
  group.add_options()("shares", value("W,W[,...]"),
                      "with --models: each model's share of the requests, divided by their sum");
  group.add_options()("keep", value("GB"),
                      "with --models: the most that each device keeps, in 10^9 bytes");
  return group;
}

ServerInputs read_server(const Flags& flags, const Common& common) {
  require_flags_of_server(flags);
  check_output_name(flags);
  const std::vector<std::string> words = flags.list("models");
  const std::vector<double> shares = read_shares(flags, words.size());
  ServerInputs server;
  server.options = server_option_values(flags);
  server.keep_bytes =
      static_cast<Bytes>(std::floor(flags.number("keep", 0, kMostGb) * kBytesOfGb + 0.5));
  const Work work{.islands = static_cast<std::size_t>(server.options.integer("islands")),
                  .json_schedules = words.size()};
  std::set<std::string> files;
  for (std::size_t m = 0; m < words.size(); ++m) {
    const std::string flag = names_model(words[m], common.limits) ? "model" : "graph";
    ServedInputs model{flags.with({{flag, words[m]}}), nullptr, shares[m]};
    require_one_source(model.flags);
    model.inputs = std::make_unique<ScheduleInputs>(model.flags, common, work);
    read_objective(model.flags, *model.inputs);
    check_served_outputs(flags, common, model);
    const auto file = schedule_file_of(flags, model.inputs->graph().name());
    if (file && !files.insert(*file).second) {
      throw InputError("two of the --models have the name " + quote(model.inputs->graph().name()) +
                       ": give a model once, with all of its share, and two models two names");
    }
    server.models.push_back(std::move(model));
  }
  return server;
}

std::optional<std::string> schedule_file_of(const Flags& flags, const std::string& model) {
  const auto output = flags.optional_text("output");
  return output ? std::optional(with_placeholder(*output, kModelPlaceholder, model)) : std::nullopt;
}

scheduler::cold::ServerOptions server_options(const Options& options) {
  scheduler::cold::ServerOptions made;
  made.exchanges = options.integer("exchanges");
  made.search.iterations = options.integer("iterations");
  made.search.islands = static_cast<std::size_t>(options.integer("islands"));
  made.search.threads = static_cast<std::size_t>(options.integer("threads"));
  return made;
}

}  // namespace hios::cli
