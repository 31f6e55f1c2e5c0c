#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "hios/base/ids.h"

namespace hios {

/// The largest extent, kernel, stride or padding: sums of a few of them and products of two fit 64
/// bits.
inline constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int32_t>::max();

/// The shape of a tensor, in ONNX's order (N, C, H, W). On every device the values lie densely in
/// NHWC order, channels fastest; the device's arithmetic decides their size
/// (hios/base/numbers/precision.h). Tensors of other ranks lie in row-major order; their Shape is
/// any four extents whose NHWC order equals it. A matrix of r rows and c columns is (r, c, 1, 1),
/// and may be read as (1, c, 1, r) (Layer::input_shapes).
struct Shape {
  std::int64_t n = 0;
  std::int64_t c = 0;
  std::int64_t h = 0;
  std::int64_t w = 0;

  std::int64_t elements() const { return n * c * h * w; }
  Bytes size_bytes(Bytes element_bytes) const {
    return static_cast<Bytes>(elements()) * element_bytes;
  }
  /// Returns "1x64x35x35" (N, C, H, W).
  std::string to_string() const {
    return std::to_string(n) + 'x' + std::to_string(c) + 'x' + std::to_string(h) + 'x' +
           std::to_string(w);
  }
  bool operator==(const Shape&) const = default;
};

/// An axis of a Shape.
enum class Axis { kN, kC, kH, kW };

/// Neighbouring rows or channels of a tensor: [begin, end) of an axis.
struct AxisRange {
  Axis axis = Axis::kH;
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
  bool holds(const AxisRange& other) const {
    return axis == other.axis && begin <= other.begin && other.end <= end;
  }
  auto operator<=>(const AxisRange&) const = default;
};

/// Some of the axes of a Shape.
struct Axes {
  bool n = false;
  bool c = false;
  bool h = false;
  bool w = false;
  bool operator==(const Axes&) const = default;
};

}  // namespace hios
