#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/kernels/layers.h"
#include "hios/model/layer.h"

/// Views and boxes of dense NHWC tensors (engine/cuda/kernels/layers.h). Dimensions of one value
/// are left out, and those that advance through memory alike are merged: a kernel divides once for
/// each that is left.
namespace hios::cuda {

/// Returns the view with these dimensions, outermost first.
View view_of(const std::vector<Move::Dimension>& dimensions, std::int64_t offset = 0);

/// Returns the values of `operand` that belong to those of `output`, in the output's order: an
/// extent of 1 is repeated.
View broadcast_view(const Shape& operand, const Shape& output);

/// Returns the boxes of values that differ in these axes alone. With `groups`, also in the channels
/// of each of so many groups.
Boxes boxes_of(const Shape& shape, const Axes& axes, std::int64_t groups = 0);

}  // namespace hios::cuda
