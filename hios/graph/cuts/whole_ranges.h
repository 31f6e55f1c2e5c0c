#pragma once

#include <span>
#include <vector>

#include "hios/model/model.h"

namespace hios {

/// The rows or channels of a tensor of Model::whole().
struct WholeRange {
  TensorId tensor;
  AxisRange range;
};

/// Returns the range that each tensor of a cut model is, by TensorId. REQUIRES: it was cut.
std::vector<WholeRange> whole_ranges(const Model& model);

/// Returns the values of some rows or channels of a tensor, in the order of memory (NHWC).
std::vector<float> values_in(std::span<const float> whole, const Shape& shape,
                             const AxisRange& range);

}  // namespace hios
