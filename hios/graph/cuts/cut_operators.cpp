#include "hios/graph/cuts/cut_operators.h"

#include <algorithm>
#include <map>

#include "hios/graph/cuts/layer_range.h"

namespace hios {
namespace {

std::vector<LayerId> origins_of(const OperatorLayers& op, const Model& model) {
  std::vector<LayerId> origins;
  for (const LayerId id : op.layers) origins.push_back(model.layer(id).origin.value());
  return origins;
}

/// Returns the range of each of the whole operator's inputs that a shard reads.
std::vector<AxisRange> inputs_of(const OperatorLayers& shard, const Model& model) {
  std::vector<AxisRange> ranges;
  std::vector<TensorId> made;
  for (const LayerId id : shard.layers) {
    const Layer& layer = model.layer(id);
    const std::vector<AxisRange> reads =
        on_range(*model.whole(), model.whole()->layer(*layer.origin), *layer.range).reads;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      if (std::ranges::find(made, layer.inputs[i]) == made.end()) ranges.push_back(reads[i]);
    }
    made.push_back(layer.output);
  }
  return ranges;
}

}  // namespace

std::vector<CutOperator> cut_operators(const CoarseGraph& coarse, const Model& model) {
  std::vector<CutOperator> all;
  if (model.whole() == nullptr) return all;
  std::map<LayerId, std::size_t> index_of;  // by the whole operator's last layer
  for (std::size_t i = 0; i < coarse.operators.size(); ++i) {
    const OperatorLayers& op = coarse.operators[i];
    const Layer& last = model.layer(op.layers.back());
    if (!last.range) continue;
    const auto [found, is_new] = index_of.emplace(*last.origin, all.size());
    if (is_new) {
      all.push_back({coarse.whole_names.at(i), fuse(*model.whole(), origins_of(op, model)), {}});
    }
    all[found->second].shards.push_back({OpId(i), *last.range, inputs_of(op, model)});
  }
  return all;
}

}  // namespace hios
