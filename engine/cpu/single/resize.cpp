// Resize of height and width. The input rows of each output row and their weights are computed
// once, and so are the columns. A run then copies a pixel (nearest) or makes a weighted sum of 4 or
// 16 pixels, over channels.
//
// Coordinates are those of ONNX's operator description, in double: a position half-way between two
// pixels must be recognised as half-way.
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

constexpr std::int64_t kMostTaps = 4;  ///< taps of cubic on an axis

/// Taps of the output positions on one axis: `count` each.
struct ResizeTaps {
  std::int64_t count = 1;
  std::vector<std::int64_t> index;  ///< in the input
  std::vector<float> weight;
};

/// One axis of the layer.
struct ResizedAxis {
  std::int64_t in, out;
  double scale;
};

/// Returns the output's extent before it was cut to whole pixels, whose corners ONNX aligns. (A
/// scale that differs from a whole number only by rounding means that number.)
double unrounded_extent(const ResizedAxis& axis) {
  const auto out = static_cast<double>(axis.out);
  const double asked = axis.scale * static_cast<double>(axis.in);
  return std::abs(asked - out) < 1e-6 * out ? out : asked;
}

/// Returns the input position of output position `i`.
double input_position(Resize::Coordinates coordinates, const ResizedAxis& axis, std::int64_t i) {
  using enum Resize::Coordinates;
  const auto x = static_cast<double>(i);
  const auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  switch (coordinates) {
    case kHalfPixel:
      return (x + 0.5) / axis.scale - 0.5;
    case kPytorchHalfPixel:
      return axis.out > 1 ? (x + 0.5) / axis.scale - 0.5 : 0.0;
    case kAlignCorners:
      return axis.out > 1 ? x * (in - 1) / (unrounded_extent(axis) - 1) : 0.0;
    case kAsymmetric:
      return x / axis.scale;
    case kTfHalfPixel:
      return (x + 0.5) / axis.scale;
    case kHalfPixelSymmetric: {
      const double adjustment = out / (axis.scale * in);
      return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
    }
  }
  return x;
}

std::int64_t nearest(Resize::Nearest rounding, double x) {
  using enum Resize::Nearest;
  switch (rounding) {
    case kRoundPreferFloor:
      return static_cast<std::int64_t>(std::ceil(x - 0.5));
    case kRoundPreferCeil:
      return static_cast<std::int64_t>(std::floor(x + 0.5));
    case kFloor:
      return static_cast<std::int64_t>(std::floor(x));
    case kCeil:
      return static_cast<std::int64_t>(std::ceil(x));
  }
  return 0;
}

/// Returns Keys' kernel at distance `d` < 2.
double cubic(double a, double d) {
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/// Adds the taps of position `x`, those outside at the border.
void add_taps(const Resize& resize, std::int64_t extent, double x, ResizeTaps& taps) {
  const auto add = [&](std::int64_t index, double weight) {
    taps.index.push_back(std::clamp<std::int64_t>(index, 0, extent - 1));
    taps.weight.push_back(static_cast<float>(weight));
  };
  if (resize.mode == Resize::Mode::kNearest) return add(nearest(resize.nearest, x), 1);
  const double below = std::floor(x), rest = x - below;
  const auto first = static_cast<std::int64_t>(below);
  if (resize.mode == Resize::Mode::kLinear) {
    add(first, 1 - rest);
    add(first + 1, rest);
    return;
  }
  std::array<double, kMostTaps> weights;
  double sum = 0;
  for (std::int64_t t = 0; t < kMostTaps; ++t) {
    const std::int64_t at = first - 1 + t;
    const bool left_out = resize.exclude_outside && (at < 0 || at >= extent);
    const double distance = std::abs(rest + 1 - static_cast<double>(t));
    weights[t] = left_out ? 0.0 : cubic(resize.cubic_a, distance);
    sum += weights[t];
  }
  const double whole = resize.exclude_outside ? sum : 1.0;
  for (std::int64_t t = 0; t < kMostTaps; ++t) add(first - 1 + t, weights[t] / whole);
}

ResizeTaps taps_of(const Resize& resize, const ResizedAxis& axis) {
  ResizeTaps taps;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    add_taps(resize, axis.in, input_position(resize.coordinates, axis, i), taps);
  }
  taps.count = static_cast<std::int64_t>(taps.index.size()) / axis.out;
  return taps;
}

class ResizeOperator final : public BoundOperator {
 public:
  ResizeOperator(const Binding& binding, const Resize& resize)
      : in_(binding.inputs[InputIndex(0)].shape),
        out_(binding.output_shape()),
        input_(binding.inputs[InputIndex(0)].floats()),
        output_(binding.output),
        threads_(team_for(binding.share, out_.elements())),
        rows_(taps_of(resize, {in_.h, out_.h, resize.scale_h})),
        columns_(taps_of(resize, {in_.w, out_.w, resize.scale_w})) {}

  void run() override {
    parallel_shares(threads_, static_cast<std::size_t>(out_.n * out_.h * out_.w),
                    [this](std::size_t begin, std::size_t end) {
                      for (std::size_t pixel = begin; pixel < end; ++pixel) {
                        run_pixel(static_cast<std::int64_t>(pixel));
                      }
                    });
  }

 private:
  void run_pixel(std::int64_t pixel) const {
    const std::int64_t w = pixel % out_.w, h = pixel / out_.w % out_.h;
    const float* const image = input_ + pixel / (out_.w * out_.h) * (in_.h * in_.w * in_.c);
    float* const to = output_ + pixel * out_.c;
    const auto channels = static_cast<std::size_t>(out_.c);
    std::array<const float*, kMostTaps * kMostTaps> from;
    std::array<float, kMostTaps * kMostTaps> weights;
    std::size_t taps = 0;
    for (std::int64_t i = h * rows_.count; i < (h + 1) * rows_.count; ++i) {
      const float* const row = image + rows_.index[i] * in_.w * in_.c;
      for (std::int64_t j = w * columns_.count; j < (w + 1) * columns_.count; ++j) {
        from[taps] = row + columns_.index[j] * in_.c;
        weights[taps++] = rows_.weight[i] * columns_.weight[j];
      }
    }
    if (taps == 1) {
      std::memcpy(to, from[0], channels * sizeof(float));
    } else {
      kernels().weighted_sum({from.data(), weights.data(), taps, to, channels});
    }
  }

  Shape in_, out_;
  const float* input_;
  float* output_;
  int threads_;
  ResizeTaps rows_, columns_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&,
                                           const Resize& resize) {
  return std::make_unique<ResizeOperator>(binding, resize);
}

}  // namespace hios::cpu
