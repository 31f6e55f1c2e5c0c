#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/run/plan/plan.h"

/// The memory of its host that a rank will hold, known from its plan alone.
namespace hios {

/// A tensor, or the weights of an operator.
struct NeededTensor {
  std::string name;   ///< "conv_3's output"
  std::string shape;  ///< "1x64x56x56"; empty: none is shown
  Bytes size_bytes = 0;
  static auto fields(auto& self) { return std::tie(self.name, self.shape, self.size_bytes); }
};

/// A lower bound of the memory that a rank holds at one time, outside of devices.
struct HostNeed {
  Bytes size_bytes = 0;
  std::vector<NeededTensor> largest;  ///< at most kNamedTensors, the largest first
  static auto fields(auto& self) { return std::tie(self.size_bytes, self.largest); }
};
inline constexpr std::size_t kNamedTensors = 3;

/// Keeps the largest tensors, in order, each name once; none of 0 bytes.
void keep_largest(std::vector<NeededTensor>& tensors);

/// The steps around a plan's runs that hold memory, too.
struct HostSteps {
  bool draws_input = true;    ///< the input is made from a seed, which takes three times its values
  bool keeps_outputs = true;  ///< the graph's outputs are copied at the end
  // Verification computes every operator again, and keeps all outputs at the same time.
  bool verifies_all = false;        ///< in a further run that keeps all tensors
  bool by_reference = false;        ///< on one rank by the reference backend
  bool on_one_rank = false;         ///< on one rank by the backend itself
  std::vector<StoreId> disks = {};  ///< the stores whose parameters are not kept in memory
};

/// Returns the need of a plan: tensors in all buffers, inputs, outputs and weights, or what its
/// input or its verification holds, where that is more. Tensors and weights of a device are not
/// counted, but their copies on the host.
HostNeed host_need(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                   Backend& backend, const HostSteps& steps);

}  // namespace hios
