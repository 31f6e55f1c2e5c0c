#pragma once

#include "hios/graph/fusion/cut_groups.h"
#include "hios/model/model.h"

namespace hios {

/// Returns the layers of each operator, ordered by their last layers, as the HIOS paper counts
/// operators (Kundu and Shu, "HIOS", section III-A): the default of coarsen(). O(layers + inputs).
LayerGroups operators_by_patterns(const Model& model);

}  // namespace hios
