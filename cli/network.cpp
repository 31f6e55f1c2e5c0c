#include "cli/network.h"

#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/model/networks/networks.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

struct Size {
  std::optional<std::int64_t> batch, height, width;
};

constexpr std::int64_t kMaxBatch = 65536;
constexpr std::int64_t kMaxPixels = 1 << 20;

Size size_flags(const Flags& flags) {
  return {flags.optional_integer("batch", 1, kMaxBatch),
          flags.optional_integer("height", 1, kMaxPixels),
          flags.optional_integer("width", 1, kMaxPixels)};
}

std::string built_in_names() {
  std::string names;
  for (const models::Entry& entry : models::all())
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

Model load_model(const std::string& name, const Size& size, const ReadLimits& limits) {
  if (const models::Entry* entry = models::find(name)) {
    const std::int64_t height = size.height.value_or(size.width.value_or(entry->default_size));
    return entry->build(size.batch.value_or(1), height, size.width.value_or(height));
  }
  if (name.find_first_of("./") == std::string::npos) {
    throw InputError("--model " + name + ": no built-in of that name (" + built_in_names() +
                     "), and no file (a file's name has a '.' or a '/')");
  }
  const Json json = read_json(name, limits);
  return model_from_json(JsonView(json, name), size.batch, size.height, size.width);
}

Network make_network(const std::string& name, Model model, Bytes element_bytes) {
  CoarseGraph coarse = coarsen(model, element_bytes);
  std::string flags = "--model " + name + " --batch " + std::to_string(model.batch()) +
                      " --height " + std::to_string(model.height()) + " --width " +
                      std::to_string(model.width());
  return {std::move(model), std::move(coarse), std::move(flags)};
}

}  // namespace

po::options_description model_flags() {
  po::options_description group("Model", 100, 45);
  group.add_options()("model", value("NAME|FILE"), "a built-in network, or a hios-model file");
  group.add_options()("batch", value("N"), "images at once (1)");
  group.add_options()("height", value("PIXELS"), "of the input (the network's own)");
  group.add_options()("width", value("PIXELS"), "of the input (the height)");
  return group;
}

std::string Network::digest() const {
  return Digest().add(coarse.graph.digest()).add(to_json(model).dump()).hex();
}

Network load_network(const Flags& flags, const ReadLimits& limits, Bytes element_bytes) {
  const std::string name = flags.text("model");
  return make_network(name, load_model(name, size_flags(flags), limits), element_bytes);
}

Network load_network(const Flags& flags, const ReadLimits& limits, const ScheduleHead& head) {
  Size size = size_flags(flags);
  if (!size.batch && !size.height && !size.width && head.batch > 0) {
    size = {head.batch, head.height, head.width};
  }
  const std::string name = flags.text("model");
  return make_network(name, load_model(name, size, limits), Platform(head.devices).element_bytes());
}

std::string describe(const Model& model) {
  return model.name() + " " + model.tensor(model.input()).shape.to_string();
}

}  // namespace hios::cli
