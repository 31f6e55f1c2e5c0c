#pragma once

#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// Returns the operators of Model::whole() from which those of a cut graph were made, with their
/// names; every one of them is there, whole or in shards. Source: coarsen.cpp. REQUIRES: the model
/// was cut, and the graph divides no inputs.
CoarseGraph whole_graph(const CoarseGraph& cut, const Model& model);

}  // namespace hios
