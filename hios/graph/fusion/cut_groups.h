#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hios/model/model.h"

namespace hios {

using LayerGroups = std::vector<std::vector<LayerId>>;

/// The layers of each operator of a model that was cut: those of the whole model's operators, and
/// their shards'. Layers that move and join are operators of their own. Fused otherwise, a shard
/// might have other bits.
struct CutGroups {
  /// `whole`: the layers of each operator of Model::whole().
  CutGroups(const Model& model, const LayerGroups& whole);

  LayerGroups groups;                                ///< ordered by their last layers
  std::vector<std::optional<std::size_t>> of_whole;  ///< index of the whole's group, by group
};

}  // namespace hios
