// Resize, as the ONNX operator documentation defines it. Each output pixel has a position in the
// input's coordinates and is a weighted sum of the pixels around it, rows and columns separately.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/reference/loops.h"

namespace hios::reference {
namespace {

/// Pixels of one axis and their weights.
struct Taps {
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weight{};
  int count = 0;
};

/// One resized axis.
struct Resized {
  std::int64_t in = 1, out = 1;
  double scale = 1;
};

/// Returns the output's length before it was cut to whole pixels: its corners are the aligned ones,
/// as in ONNX's own test cases. (A scale that differs from a whole number only by rounding means
/// that number.)
double unrounded_length(const Resized& axis) {
  const auto out = static_cast<double>(axis.out);
  const double asked = axis.scale * static_cast<double>(axis.in);
  return std::abs(asked - out) < 1e-6 * out ? out : asked;
}

/// Returns the input position of the output's pixel `x`.
double input_position(Resize::Coordinates coordinates, const Resized& axis, std::int64_t x) {
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

Taps cubic_taps(const Resize& resize, std::int64_t extent, double x) {
  Taps taps;
  taps.count = 4;
  const double first = std::floor(x) - 1;
  double inside_weight = 0;
  for (int i = 0; i < taps.count; ++i) {
    taps.at[i] = static_cast<std::int64_t>(first) + i;
    taps.weight[i] = cubic(resize.cubic_a, x - first - i);
    if (inside(taps.at[i], extent)) inside_weight += taps.weight[i];
  }
  for (int i = 0; i < taps.count; ++i) {
    if (resize.exclude_outside && inside_weight != 0) {
      taps.weight[i] = inside(taps.at[i], extent) ? taps.weight[i] / inside_weight : 0;
    }
    taps.at[i] = std::clamp<std::int64_t>(taps.at[i], 0, extent - 1);
  }
  return taps;
}

/// Returns the taps of the output's pixel `out` of an axis.
Taps taps_of(const Resize& resize, const Resized& axis, std::int64_t out) {
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

}  // namespace

void resize(const Resize& resize, const Input& in, const Output& out) {
  const Resized rows{in.shape.h, out.shape.h, resize.scale_h};
  const Resized columns{in.shape.w, out.shape.w, resize.scale_w};
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    const Taps of_row = taps_of(resize, rows, h), of_column = taps_of(resize, columns, w);
    float* result = pixel(out, n, h, w);
    for (std::int64_t c = 0; c < out.shape.c; ++c) {
      double sum = 0;
      for (int i = 0; i < of_row.count; ++i) {
        for (int j = 0; j < of_column.count; ++j) {
          sum += of_row.weight[i] * of_column.weight[j] *
                 static_cast<double>(pixel(in, n, of_row.at[i], of_column.at[j])[c]);
        }
      }
      result[c] = static_cast<float>(sum);
    }
  });
}

}  // namespace hios::reference
