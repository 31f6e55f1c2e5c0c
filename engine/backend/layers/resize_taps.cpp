#include "engine/backend/layers/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace hios {
namespace {

/// Returns the output's length before it was cut to whole pixels: its corners are the aligned ones,
/// as in ONNX's own test cases. (A scale that differs from a whole number only by rounding means
/// that number.)
double unrounded_length(const ResizedAxis& axis) {
  const auto out = static_cast<double>(axis.out);
  const double asked = axis.scale * static_cast<double>(axis.in);
  return std::abs(asked - out) < 1e-6 * out ? out : asked;
}

/// Returns the input position of the output's pixel `x`.
double input_position(Resize::Coordinates coordinates, const ResizedAxis& axis, std::int64_t x) {
  const auto at = static_cast<double>(x), in = static_cast<double>(axis.in),
             out = static_cast<double>(axis.out);
  const double half_pixel = (at + 0.5) / axis.scale - 0.5;
  switch (coordinates) {
    case Resize::Coordinates::kHalfPixel:
      return half_pixel;
    case Resize::Coordinates::kPytorchHalfPixel:
      return axis.out > 1 ? half_pixel : 0;
    case Resize::Coordinates::kAlignCorners:
      return axis.out > 1 ? at * (in - 1) / (unrounded_length(axis) - 1) : 0;
    case Resize::Coordinates::kAsymmetric:
      return at / axis.scale;
    case Resize::Coordinates::kTfHalfPixel:
      return (at + 0.5) / axis.scale;
    case Resize::Coordinates::kHalfPixelSymmetric: {
      // If the output is not in · scale pixels wide, its centre still lies at the input's.
      const double adjustment = out / (axis.scale * in);
      return in / 2 * (1 - adjustment) + half_pixel;
    }
  }
  return 0;  // no such coordinates
}

double rounded(Resize::Nearest nearest, double x) {
  switch (nearest) {
    case Resize::Nearest::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case Resize::Nearest::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case Resize::Nearest::kFloor:
      return std::floor(x);
    case Resize::Nearest::kCeil:
      return std::ceil(x);
  }
  return x;  // no such rounding
}

/// Returns the cubic convolution kernel at distance `d` from a pixel.
double cubic(double a, double d) {
  d = std::abs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

bool is_pixel(std::int64_t at, std::int64_t extent) { return at >= 0 && at < extent; }

ResizeTaps cubic_taps(const Resize& resize, std::int64_t extent, double x) {
  ResizeTaps taps;
  taps.count = 4;
  const double first = std::floor(x) - 1;
  double inside_weight = 0;
  for (int i = 0; i < taps.count; ++i) {
    taps.at[i] = static_cast<std::int64_t>(first) + i;
    taps.weight[i] = cubic(resize.cubic_a, x - first - i);
    if (is_pixel(taps.at[i], extent)) inside_weight += taps.weight[i];
  }
  for (int i = 0; i < taps.count; ++i) {
    if (resize.exclude_outside && inside_weight != 0) {
      taps.weight[i] = is_pixel(taps.at[i], extent) ? taps.weight[i] / inside_weight : 0;
    }
    taps.at[i] = std::clamp<std::int64_t>(taps.at[i], 0, extent - 1);
  }
  return taps;
}

}  // namespace

ResizeTaps resize_taps(const Resize& resize, const ResizedAxis& axis, std::int64_t out) {
  const auto last = static_cast<double>(axis.in - 1);
  // Further outside, all pixels are those of the border.
  const double x = std::clamp(input_position(resize.coordinates, axis, out), -3.0, last + 3);
  if (resize.mode == Resize::Mode::kCubic) return cubic_taps(resize, axis.in, x);
  if (resize.mode == Resize::Mode::kNearest) {
    const double nearest = std::clamp(rounded(resize.nearest, x), 0.0, last);
    return {{static_cast<std::int64_t>(nearest)}, {1}, 1};
  }
  const double within = std::clamp(x, 0.0, last), floor = std::floor(within);
  const auto left = static_cast<std::int64_t>(floor);
  return {{left, std::min(left + 1, axis.in - 1)}, {1 - (within - floor), within - floor}, 2};
}

}  // namespace hios
