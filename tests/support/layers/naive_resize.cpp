#include "support/layers/naive_resize.h"

#include <algorithm>
#include <cmath>

namespace hios::test {
namespace {

/// The border's pixels are continued for this number of pixels.
constexpr std::int64_t kMargin = 8;

/// Returns the coordinate in the original image, by the formulas of the ONNX operator
/// documentation.
double original(const Resize& resize, double x_resized, double length_original,
                double length_resized, double scale) {
  // with a scale from the file, and a fractional number of pixels
  const double scaled = length_original * scale, fraction = scaled - std::round(scaled);
  const double aligned = std::abs(fraction) > 1e-5 ? scaled : length_resized;
  switch (resize.coordinates) {
    case Resize::Coordinates::kHalfPixel:
      return (x_resized + 0.5) / scale - 0.5;
    case Resize::Coordinates::kPytorchHalfPixel:
      return length_resized > 1 ? (x_resized + 0.5) / scale - 0.5 : 0;
    case Resize::Coordinates::kAlignCorners:
      return length_resized > 1 ? x_resized * (length_original - 1) / (aligned - 1) : 0;
    case Resize::Coordinates::kAsymmetric:
      return x_resized / scale;
    case Resize::Coordinates::kTfHalfPixel:
      return (x_resized + 0.5) / scale;
    case Resize::Coordinates::kHalfPixelSymmetric: {
      const double adjustment = length_resized / (scale * length_original);
      const double center = length_original / 2;
      const double offset = center * (1 - adjustment);
      return offset + (x_resized + 0.5) / scale - 0.5;
    }
  }
  return std::nan("");
}

/// Returns true if `x` is rounded to the pixel `i`.
bool is_nearest(Resize::Nearest nearest, double x, double i) {
  switch (nearest) {
    case Resize::Nearest::kRoundPreferFloor:
      return i >= x - 0.5 && i < x + 0.5;
    case Resize::Nearest::kRoundPreferCeil:
      return i > x - 0.5 && i <= x + 0.5;
    case Resize::Nearest::kFloor:
      return i <= x && i > x - 1;
    case Resize::Nearest::kCeil:
      return i >= x && i < x + 1;
  }
  return false;
}

double weight(const Resize& resize, double x, double i) {
  const double d = std::abs(x - i), a = resize.cubic_a;
  if (resize.mode == Resize::Mode::kNearest) return is_nearest(resize.nearest, x, i) ? 1 : 0;
  if (resize.mode == Resize::Mode::kLinear) return std::max(0.0, 1 - d);
  if (d <= 1) return (a + 2) * std::pow(d, 3) - (a + 3) * std::pow(d, 2) + 1;
  if (d < 2) return a * std::pow(d, 3) - 5 * a * std::pow(d, 2) + 8 * a * d - 4 * a;
  return 0;
}

using Matrix = std::vector<std::vector<double>>;  // [output][input]

Matrix matrix(const Resize& resize, std::int64_t in, std::int64_t out, double scale) {
  Matrix rows;
  for (std::int64_t o = 0; o < out; ++o) {
    const double x = original(resize, static_cast<double>(o), static_cast<double>(in),
                              static_cast<double>(out), scale);
    std::vector<double>& row = rows.emplace_back(in);
    double sum = 0;
    for (std::int64_t i = -kMargin; i < in + kMargin; ++i) {
      if (resize.exclude_outside && (i < 0 || i >= in)) continue;
      const double w = weight(resize, x, static_cast<double>(i));
      row[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, in - 1))] += w;
      sum += w;
    }
    if (resize.exclude_outside) {
      for (double& w : row) w /= sum;
    }
  }
  return rows;
}

}  // namespace

Values naive_resize(const Resize& resize, const Values& in) {
  const Shape& s = in.shape;
  const Matrix rows = matrix(resize, s.h, resize.size.h, resize.scale_h);
  const Matrix columns = matrix(resize, s.w, resize.size.w, resize.scale_w);
  Values high({s.n, s.c, resize.size.h, s.w}), out({s.n, s.c, resize.size.h, resize.size.w});
  high.each([&](auto n, auto c, auto h, auto w) {
    for (std::int64_t i = 0; i < s.h; ++i) high.at(n, c, h, w) += rows[h][i] * in.at(n, c, i, w);
  });
  out.each([&](auto n, auto c, auto h, auto w) {
    for (std::int64_t i = 0; i < s.w; ++i) {
      out.at(n, c, h, w) += columns[w][i] * high.at(n, c, h, i);
    }
  });
  return out;
}

}  // namespace hios::test
