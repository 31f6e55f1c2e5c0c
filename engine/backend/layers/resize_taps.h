#pragma once

#include <array>
#include <cstdint>

#include "hios/model/layer.h"

/// The input pixels that each output pixel of a Resize is made of, in double: a position half-way
/// between two pixels must be recognised as half-way.
namespace hios {

/// Pixels of one axis and their weights.
struct ResizeTaps {
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weight{};
  int count = 0;
};

/// One resized axis.
struct ResizedAxis {
  std::int64_t in = 1, out = 1;
  double scale = 1;
};

/// Returns the taps of the output's pixel `out` of an axis: one for nearest, two for linear, four
/// for cubic.
ResizeTaps resize_taps(const Resize& resize, const ResizedAxis& axis, std::int64_t out);

}  // namespace hios
