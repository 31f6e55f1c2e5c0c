#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "hios/graph/batches.h"
#include "hios/graph/network.h"

namespace hios {

/// A network for several numbers of inputs at a time: the same layers and operators, other shapes
/// and signatures. Immutable; copies share.
class SizedNetworks {
 public:
  /// Takes the network for k inputs from `made(k)`. Throws InputError where a layer computes over
  /// several inputs (hios/graph/separate_inputs.h), or where two sizes do not have the same layers
  /// and operators.
  SizedNetworks(BatchSizes sizes, const std::function<Network(std::int64_t)>& made);

  const SizedGraphs& graphs() const { return graphs_; }
  const Network& whole() const { return *by_size_.rbegin()->second; }
  const Network& of(std::int64_t size) const { return *by_size_.at(size); }
  /// Returns the network whose operators are these batches. Throws InputError as divide() of graphs
  /// does.
  Network divide(std::vector<Batch> batches) const;

 private:
  std::map<std::int64_t, std::shared_ptr<const Network>> by_size_;
  SizedGraphs graphs_;
};

}  // namespace hios
