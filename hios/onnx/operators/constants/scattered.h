#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hios/onnx/operators/node.h"

namespace hios::onnx {

/// The slices of its data that a node replaces by its updates, at known indices.
struct Scattered {
  std::size_t depth = 0;             ///< a slice is at one index of each of so many first axes
  std::vector<std::int64_t> slices;  ///< numbers of slices, row-major, in the order of the updates
  std::int64_t length = 0;           ///< values of each
};

/// Return the slices of ScatterND and of ScatterElements. They fail if indices or updates do not
/// fit, and for a `reduction`.
Scattered scattered_by_tuples(const Node& node);
Scattered scattered_elements(const Node& node);

}  // namespace hios::onnx
