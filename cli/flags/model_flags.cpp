#include "cli/flags/model_flags.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "cli/process/commands.h"
#include "engine/backends.h"
#include "engine/host/available_memory.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/batches.h"
#include "hios/model/networks/networks.h"
#include "hios/model/weights/weights_file.h"
#include "hios/onnx/read/import.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr std::int64_t kMaxPixels = 1 << 20;

/// Returns the files next to a model's that hold its weights.
std::vector<std::filesystem::path> weights_files(const std::string& model) {
  if (!model.ends_with(".onnx")) return {};
  return onnx::external_files(model, {.memory = available_memory()});
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const models::Entry& model : models::all()) names.emplace_back(model.name);
  return names;
}

po::options_description model_flags() {
  po::options_description group("Model", 100, 45);
  group.add_options()(
      "model", input_file("NAME|FILE", has_dot_or_slash)->reads_also(weights_files),
      daily("a built-in network, an ONNX file (.onnx) with its weights, or a hios-model file; "
            "the word --model may be left out"));
  group.add_options()("batch", value("N"),
                      "inputs at once (the file's where it is fixed, otherwise 1)");
  group.add_options()(
      "height", value("PIXELS"),
      "height of the input (the file's where it is fixed, otherwise that of --width, "
      "or the network's own)");
  group.add_options()(
      "width", value("PIXELS"),
      "width of the input (the file's where it is fixed, otherwise the height, by --height "
      "or the network's own)");
  group.add_options()(
      "dim", boost::program_options::value<std::vector<std::string>>()->value_name("NAME=N"),
      "an extent that an ONNX file leaves open, by its name or its index, repeatable");
  group.add_options()(
      "fusion", input_file("default|none|FILE", has_dot_or_slash),
      "layers that form one operator: by the built-in rules; none; or by the rules of a "
      "hios-fusion file. The same for profile, schedule and run");
  group.add_options()(
      "merge", input_file("none|siblings|FILE", has_dot_or_slash),
      "1x1 convolutions that read the same tensor: separate (none), or as one wide convolution "
      "(siblings), or those that a hios-schedule file merges. The same for profile, schedule and "
      "run");
  group.add_options()(
      "cut", input_file("none|auto|auto:N|auto:S:S|FILE", has_dot_or_slash),
      "operators that are cut into shards of some rows or channels each, so that devices share "
      "them: by a hios-cuts file, or as a hios-schedule file has them; auto: profile measures all "
      "that "
      "can be cut, into N shards (as many as there are ranks or devices), and schedule chooses; "
      "run takes the schedule's. auto:2:1 gives the first shard twice the rows of the second, for "
      "devices that are not alike");
  return group;
}

FusionRules read_fusion(const Flags& flags, const ReadLimits& limits) {
  FusionRules fusion = load_fusion(flags.optional_text("fusion").value_or("default"), limits);
  fusion.merge = load_merge(flags.optional_text("merge").value_or("none"), limits);
  if (chooses_cuts(flags)) {
    (void)shares_of_cuts(flags, 2);  // refuses what is no number
  } else {
    const std::string cuts = flags.optional_text("cut").value_or("none");
    if (cuts != "none" && !has_dot_or_slash(cuts) && !is_standard_input(cuts)) {
      throw InputError("--cut " + printable(cuts, 200) +
                       ": neither none nor auto, and no file (a file's name has a '.' or a '/')" +
                       did_you_mean(cuts, {"none", "auto"}));
    }
    fusion.cuts = load_cuts(cuts, limits);
  }
  return fusion;
}

void refuse_to_leave_whole(const Flags& flags, const std::string& schedule, const Cuts& cuts) {
  if (cuts.empty() || flags.optional_text("cut") != "none") return;
  throw InputError("--cut none: " + printable(schedule, 200) +
                   ": $.graph.cuts: the schedule cuts " + std::to_string(cuts.size()) +
                   " operators: leave --cut out");
}

Flags with_cuts_of(const std::string& schedule, const Cuts& cuts, const Flags& flags) {
  return cuts.empty() || flags.given("cut") ? flags : flags.with({{"cut", schedule}});
}

bool chooses_cuts(const Flags& flags) {
  const std::string text = flags.optional_text("cut").value_or("none");
  return text == "auto" || text.starts_with("auto:");
}

std::vector<std::int64_t> shares_of_cuts(const Flags& flags, std::size_t shards) {
  constexpr std::int64_t kMost = 1000;
  const std::string text = flags.text("cut");
  const std::vector<std::string> words = split(text, ':');
  if (words.size() == 1) return std::vector<std::int64_t>(shards, 1);
  std::vector<std::int64_t> shares;
  for (const std::string& word : std::span(words).subspan(1)) {
    const char* const end = word.data() + word.size();
    std::int64_t& share = shares.emplace_back(0);
    const auto read = std::from_chars(word.data(), end, share);
    const int least = words.size() == 2 ? 2 : 1;  // one shard is the whole
    if (read.ec != std::errc() || read.ptr != end || share < least || share > kMost) {
      throw InputError("--cut " + printable(text, 200) + ": " + quote(word) +
                       " is no whole number from " + std::to_string(least) + " to " +
                       std::to_string(kMost));
    }
  }
  if (shares.size() > 1) return shares;
  return std::vector<std::int64_t>(static_cast<std::size_t>(shares.front()), 1);
}

InputSize read_input_size(const Flags& flags) {
  InputSize size{flags.optional_integer("batch", 1, kMostInputs),
                 flags.optional_integer("height", 1, kMaxPixels),
                 flags.optional_integer("width", 1, kMaxPixels),
                 {}};
  for (const std::string& text : flags.repeated("dim")) {
    const std::size_t equals = text.rfind('=');
    std::int64_t extent = 0;
    const char* const end = text.data() + text.size();
    const bool number = equals != std::string::npos && equals > 0 &&
                        std::from_chars(text.data() + equals + 1, end, extent).ptr == end;
    if (!number || extent < 1 || extent > kMaxPixels) {
      throw InputError("--dim takes NAME=N, N from 1 to " + std::to_string(kMaxPixels) + ", not " +
                       quote(text));
    }
    if (!size.dims.emplace(text.substr(0, equals), extent).second) {
      throw InputError("--dim names " + quote(text.substr(0, equals)) + " twice");
    }
  }
  return size;
}

Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes) {
  return network_maker(flags, limits, element_bytes)({});
}

Model with_weights_of(const std::string& file, const Flags& flags, const InputSize& size,
                      const Model& model, const ReadLimits& limits) {
  const Model plain = load_model(flags.text("model"), size, limits, layer_kernel());
  return model.with_weights(read_weights(file, plain, limits));
}

po::options_description inputs_flags() {
  po::options_description group("Many inputs at once", 100, 45);
  group.add_options()(
      "inputs", value("N"),
      "inputs that are there at once (instead of --batch), of which operators may run "
      "some at a time");
  group.add_options()(
      "parts", value("P"),
      "parts into which the inputs are divided at most: operators run N/P of them at "
      "a time, or multiples (4, or the next smaller number that divides them)");
  return group;
}

std::optional<DividedInputs> read_divided_inputs(const Flags& flags,
                                                 std::optional<std::int64_t> of_graph) {
  const auto given = flags.optional_integer("inputs", 1, kMostInputs);
  if (given && flags.given("batch")) {
    throw InputError("--inputs and --batch both give the number of inputs: leave one out");
  }
  if (given && of_graph && given != of_graph) {
    throw InputError("--inputs says " + std::to_string(*given) + ", and the graph has " +
                     std::to_string(*of_graph) + ": leave it out");
  }
  const auto inputs = of_graph ? of_graph : given;
  const auto parts = flags.optional_integer("parts", 1, kMostInputs);
  if (!inputs && parts) throw InputError("--parts divides --inputs: give their number");
  if (!inputs) return {};
  // 4 parts, like DiviML's evaluation.
  std::int64_t default_parts = 4;
  while (*inputs % default_parts != 0) --default_parts;
  const DividedInputs divided{*inputs, parts.value_or(default_parts)};
  try {
    (void)batch_sizes(divided.inputs, divided.parts);
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) + ": --parts must divide --inputs");
  }
  return divided;
}

std::function<Network(std::optional<std::int64_t>)> network_maker(const Flags& flags,
                                                                  const ReadLimits& limits,
                                                                  Bytes element_bytes) {
  InputSize size = read_input_size(flags);
  if (const auto divided = read_divided_inputs(flags)) size.batch = divided->inputs;
  return [=, name = flags.text("model"),
          fusion = read_fusion(flags, limits)](std::optional<std::int64_t> at_a_time) {
    InputSize some = size;
    if (at_a_time) some.batch = at_a_time;
    return Network(load_model(name, some, limits, layer_kernel()), element_bytes, fusion);
  };
}

namespace {

/// Returns the smallest number of parts of which all batches of the graph are made.
DividedInputs parts_of(const Batching& batching) {
  std::int64_t part = batching.inputs;
  for (const Batch& batch : batching.batches) part = std::gcd(part, batch.inputs.size());
  return {batching.inputs, batching.inputs / part};
}

/// Returns the flags of the number of inputs with which the graph's operators can be measured.
std::string inputs_words(std::optional<DividedInputs> divided, const Model& model,
                         const Graph& graph) {
  if (graph.batching()) {
    const DividedInputs needed = parts_of(*graph.batching());
    if (!divided || divided->parts % needed.parts != 0) divided = needed;
  }
  if (!divided) return " --batch " + std::to_string(model.batch());
  return " --inputs " + std::to_string(divided->inputs) + " --parts " +
         std::to_string(divided->parts);
}

}  // namespace

std::string profile_name(const Flags& flags) {
  return std::filesystem::path(flags.text("model")).stem().string() + ".profile.json";
}

std::string model_words(const Flags& flags, const Model& model, const Graph& graph,
                        std::optional<DividedInputs> divided) {
  std::string others;
  for (const std::string& text : flags.repeated("dim")) others += " --dim " + shell_word(text);
  for (const char* flag : {"fusion", "merge", "cut", "max-input"}) {
    if (flags.written(flag))
      others += std::string(" --") + flag + " " + shell_word(flags.text(flag));
  }
  // 1x1 is the size of inputs that are no images, too, which refuse the flags.
  const bool image = model.height() != 1 || model.width() != 1;
  const std::string size = image ? " --height " + std::to_string(model.height()) + " --width " +
                                       std::to_string(model.width())
                                 : "";
  return "--model " + shell_word(flags.text("model")) + others +
         inputs_words(divided, model, graph) + size;
}

}  // namespace hios::cli
