#pragma once

#include <string>
#include <vector>

#include "hios/graph/fusion/coarsen.h"

/// The operators of a whole network that were cut, by their shards.
namespace hios {

/// An operator of a cut network, next to the operator that it is a part of.
struct ShardOperator {
  OpId op;
  AxisRange range;                ///< of the whole operator's output
  std::vector<AxisRange> inputs;  ///< of the whole operator's inputs, one for each
};

struct CutOperator {
  std::string name;                   ///< in the whole network, as in its cuts
  OperatorLayers whole;               ///< of Model::whole()
  std::vector<ShardOperator> shards;  ///< in order
};

/// Returns the operators that were cut, in the order of their first shards; none for a model that
/// was not cut.
std::vector<CutOperator> cut_operators(const CoarseGraph& coarse, const Model& model);

}  // namespace hios
