#pragma once

#include <string>
#include <vector>

#include "hios/model/model.h"

/// A layer on some rows or channels of its output: the ranges of its inputs that it reads, and the
/// same layer for these alone.
namespace hios {

/// Returns "[0, 74)", rows, or "channels [0, 32)".
std::string to_string(const AxisRange& range);

/// Returns all rows, or all channels.
AxisRange whole_range(const Shape& shape, Axis axis);

/// A layer that computes some rows or channels.
struct LayerOnRange {
  LayerKind kind;                ///< the layer for this range, by rows with uneven padding
  std::vector<AxisRange> reads;  ///< the range that it reads of each input, along the same axis
};

/// Returns the layer for a range of its output; its values are those of the whole layer, by the
/// same operations in the same order. Inputs of one row or channel are read whole by layers that
/// repeat it. Throws InputError that says why it cannot be cut, without its name. REQUIRES: rows or
/// channels that the output has, at least one.
LayerOnRange on_range(const Model& model, const Layer& layer, const AxisRange& range);

}  // namespace hios
