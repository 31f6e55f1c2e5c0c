#include "cli/model_flags.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr std::int64_t kMaxBatch = 65536;
constexpr std::int64_t kMaxPixels = 1 << 20;

}  // namespace

po::options_description model_flags() {
  po::options_description group("Model", 100, 45);
  group.add_options()("model", value("NAME|FILE"), "a built-in network, or a hios-model file");
  group.add_options()("batch", value("N"), "images at once (1)");
  group.add_options()("height", value("PIXELS"), "of the input (the network's own)");
  group.add_options()("width", value("PIXELS"), "of the input (the height)");
  return group;
}

InputSize read_input_size(const Flags& flags) {
  return {flags.optional_integer("batch", 1, kMaxBatch),
          flags.optional_integer("height", 1, kMaxPixels),
          flags.optional_integer("width", 1, kMaxPixels)};
}

Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes) {
  const std::string name = flags.text("model");
  return Network(load_model(name, read_input_size(flags), limits), element_bytes);
}

std::string model_words(const Flags& flags, const Network& network) {
  const Model& model = network.model;
  return "--model " + flags.text("model") + " --batch " + std::to_string(model.batch()) +
         " --height " + std::to_string(model.height()) + " --width " +
         std::to_string(model.width());
}

}  // namespace hios::cli
