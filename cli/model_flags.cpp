#include "cli/model_flags.h"

#include <charconv>

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr std::int64_t kMaxBatch = 65536;
constexpr std::int64_t kMaxPixels = 1 << 20;

}  // namespace

po::options_description model_flags() {
  po::options_description group("Model", 100, 45);
  group.add_options()(
      "model", value("NAME|FILE"),
      "a built-in network, an ONNX file (.onnx) with its weights, or a hios-model file");
  group.add_options()("batch", value("N"), "images at once (1)");
  group.add_options()("height", value("PIXELS"), "of the input (the network's own)");
  group.add_options()("width", value("PIXELS"), "of the input (the height)");
  group.add_options()(
      "dim", boost::program_options::value<std::vector<std::string>>()->value_name("NAME=N"),
      "an extent that an ONNX file leaves open under a name; may stand several times");
  group.add_options()(
      "fusion", value("default|none|FILE"),
      "which layers are one operator: as ever; each by itself; or by the rules of a "
      "hios-fusion file. The same for profile, schedule and run");
  return group;
}

FusionRules read_fusion(const Flags& flags, const ReadLimits& limits) {
  return load_fusion(flags.optional_text("fusion").value_or("default"), limits);
}

InputSize read_input_size(const Flags& flags) {
  InputSize size{flags.optional_integer("batch", 1, kMaxBatch),
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
  const std::string name = flags.text("model");
  const FusionRules fusion = read_fusion(flags, limits);
  return Network(load_model(name, read_input_size(flags), limits), element_bytes, fusion);
}

std::string model_words(const Flags& flags, const Network& network) {
  const Model& model = network.model;
  std::string dims;  // and what else belongs to the model
  for (const std::string& text : flags.repeated("dim")) dims += " --dim " + text;
  if (flags.given("fusion")) dims += " --fusion " + flags.text("fusion");
  return "--model " + flags.text("model") + dims + " --batch " + std::to_string(model.batch()) +
         " --height " + std::to_string(model.height()) + " --width " +
         std::to_string(model.width());
}

}  // namespace hios::cli
