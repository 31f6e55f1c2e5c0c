#include <algorithm>
#include <array>

#include "hios/graph/coarsen.h"
#include "hios/model/networks/networks.h"

namespace hios::models {
namespace {

constexpr std::array kEntries = {
    Entry{"inception_v3", "Inception-v3: branches of convolutions, concatenated", 299,
          inception_v3},
    Entry{"nasnet_large", "NASNet-A large: cells of separable convolutions, found by search", 331,
          nasnet_large},
    Entry{"squeezenet", "SqueezeNet with complex bypass: fire modules", 224, squeezenet},
    Entry{"randwire_large", "RandWire large: stages wired at random", 224, randwire_large},
};

}  // namespace

std::span<const Entry> all() { return kEntries; }

const Entry* find(std::string_view name) {
  const auto at = std::find_if(kEntries.begin(), kEntries.end(),
                               [&](const Entry& entry) { return entry.name == name; });
  return at == kEntries.end() ? nullptr : &*at;
}

Summary summarize(const Model& model) {
  const CoarseGraph coarse = coarsen(model);
  Summary summary;
  summary.name = model.name();
  summary.operators = coarse.graph.size();
  summary.dependencies = coarse.graph.edge_count();
  summary.gflop = model.flop() / 1e9;
  summary.parameters = model.parameters();

  const auto consider = [&](const Tensor& tensor) {
    const Bytes size_bytes = tensor.shape.size_bytes(coarse.element_bytes);
    if (size_bytes <= summary.largest_tensor_bytes) return;
    summary.largest_tensor = tensor.name;
    summary.largest_tensor_bytes = size_bytes;
  };
  consider(model.tensor(model.input()));
  for (const OperatorLayers& op : coarse.operators) consider(model.tensor(op.output));
  return summary;
}

}  // namespace hios::models
