#include "hios/graph/network.h"

#include <nlohmann/json.hpp>

#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/cuts/shard.h"
#include "hios/model/model_json.h"
#include "hios/model/networks/networks.h"
#include "hios/onnx/read/import.h"

namespace hios {

namespace {

Model merged(Model model, const Merge& merge) {
  return merge.none() ? std::move(model) : merge_siblings(model, merge);
}

/// Merges siblings, then cuts operators of the result.
Model transformed(Model model, Bytes element_bytes, const FusionRules& fusion) {
  Model whole = merged(std::move(model), fusion.merge);
  if (fusion.cuts.empty()) return whole;
  return shard(whole, coarsen(whole, element_bytes, fusion), fusion.cuts);
}

std::string built_in_names() {
  std::string names;
  for (const models::Entry& entry : models::all())
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

}  // namespace

Network::Network(Model the_model, Bytes element_bytes, const FusionRules& fusion)
    : model(transformed(std::move(the_model), element_bytes, fusion)),
      coarse(coarsen(model, element_bytes, fusion)),
      merge(fusion.merge),
      cuts(fusion.cuts) {}

std::string Network::digest() const {
  Digest digest;
  digest.add(coarse.graph.digest()).add(to_json(model).dump());
  if (model.weights() != nullptr) digest.add(model.weights()->digest());
  return digest.hex();
}

std::string Network::description() const {
  return model.name() + " " + model.tensor(model.input()).shape.to_string();
}

Model load_model(const std::string& name_or_file, const InputSize& size, const ReadLimits& limits,
                 const LayerKernel& kernel) {
  if (!size.dims.empty() && !name_or_file.ends_with(".onnx")) {
    throw InputError("model " + name_or_file + ": only extents of ONNX files have names");
  }
  if (const models::Entry* entry = models::find(name_or_file)) {
    const std::int64_t height = size.height.value_or(size.width.value_or(entry->default_size));
    return entry->build(size.batch.value_or(1), height, size.width.value_or(height));
  }
  if (name_or_file.find_first_of("./") == std::string::npos) {
    std::vector<std::string_view> names;
    for (const models::Entry& entry : models::all()) names.push_back(entry.name);
    throw InputError("model " + name_or_file + ": no built-in of that name (" + built_in_names() +
                     "), and no file (a file's name has a '.' or a '/')" +
                     did_you_mean(name_or_file, names));
  }
  if (name_or_file.ends_with(".onnx")) {
    return onnx::import_model(name_or_file,
                              {size.batch, size.height, size.width, size.dims, limits, kernel});
  }
  const Json json = read_json(name_or_file, limits);
  return model_from_json(JsonView(json, name_or_file), size.batch, size.height, size.width);
}

}  // namespace hios
