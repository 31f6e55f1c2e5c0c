// Every sum is a double, begun with the bias (or zero), extended in a fixed order (kernel row,
// kernel column, input channel) and rounded to fp32 once. The product of two floats is exact in
// double precision, so it makes no difference whether the compiler fuses it with the addition, and
// vectors run across output channels, never along a sum: the result is the same on every machine.
//
// Cost: a convolution works on tiles of a few pixels by a few output channels, so that a weight is
// read and widened once for all pixels of the tile and the innermost loop is a vector operation.
// Depthwise convolutions and pools are bound by memory and go pixel by pixel over all channels.
//
// Tests: tests/engine/reference/reference_test.cpp, by hand and against an independent NCHW
// convolution.
#include "engine/reference/kernels.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hios::reference {
namespace {

constexpr std::int64_t kTilePixels = 4;
constexpr std::int64_t kTileChannels = 16;
constexpr std::int64_t kBlock =
    64;  ///< channels that pools and depthwise convolutions take at once

using Tile = double[kTilePixels][kTileChannels];
using Pixels = std::array<const float*, kTilePixels>;

/// tile[p][c] += Σ_i pixels[p][i] · weights[i][c]
void add_products(Tile& tile, const Pixels& pixels, const float* weights, std::int64_t inputs) {
  Tile sums;
  std::copy_n(&tile[0][0], kTilePixels * kTileChannels, &sums[0][0]);
  for (std::int64_t i = 0; i < inputs; ++i, weights += kTileChannels) {
    for (std::int64_t p = 0; p < kTilePixels; ++p) {
      const double x = pixels[p][i];
      for (std::int64_t c = 0; c < kTileChannels; ++c) sums[p][c] += x * weights[c];
    }
  }
  std::copy_n(&sums[0][0], kTilePixels * kTileChannels, &tile[0][0]);
}

/// sums[c] += x[c] · weights[c]
void add_channelwise(double* sums, const float* x, const float* weights, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c) {
    sums[c] += static_cast<double>(x[c]) * static_cast<double>(weights[c]);
  }
}

const float* pixel(const Input& in, std::int64_t n, std::int64_t h, std::int64_t w) {
  return in.data + ((n * in.shape.h + h) * in.shape.w + w) * in.shape.c;
}

float* pixel(const Output& out, std::int64_t n, std::int64_t h, std::int64_t w) {
  return out.data + ((n * out.shape.h + h) * out.shape.w + w) * out.shape.c;
}

bool inside(std::int64_t i, std::int64_t size) { return i >= 0 && i < size; }

/// visit(n, h, w) for every output pixel.
template <class Visit>
void for_each_pixel(const Shape& shape, Visit visit) {
  for (std::int64_t n = 0; n < shape.n; ++n) {
    for (std::int64_t h = 0; h < shape.h; ++h) {
      for (std::int64_t w = 0; w < shape.w; ++w) visit(n, h, w);
    }
  }
}

/// A window over the input: where it starts for an output pixel, and its taps inside the image.
struct TapWindow {
  Extent kernel, stride, padding;

  /// visit(kernel h, kernel w, input h, input w) for each tap that lies inside the image.
  template <class Visit>
  void for_each_tap(const Shape& in, std::int64_t h, std::int64_t w, Visit visit) const {
    for (std::int64_t kh = 0; kh < kernel.h; ++kh) {
      const std::int64_t ih = h * stride.h + kh - padding.h;
      if (!inside(ih, in.h)) continue;
      for (std::int64_t kw = 0; kw < kernel.w; ++kw) {
        const std::int64_t iw = w * stride.w + kw - padding.w;
        if (inside(iw, in.w)) visit(kh, kw, ih, iw);
      }
    }
  }
};

void max_pool(const TapWindow& window, const Input& in, const Output& out) {
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    float* result = pixel(out, n, h, w);
    std::fill_n(result, out.shape.c, -std::numeric_limits<float>::infinity());
    window.for_each_tap(in.shape, h, w, [&](auto, auto, std::int64_t ih, std::int64_t iw) {
      const float* x = pixel(in, n, ih, iw);
      for (std::int64_t c = 0; c < out.shape.c; ++c) result[c] = std::max(result[c], x[c]);
    });
  });
}

/// Calls `add(sums, first channel, channels)` for each block of channels, then stores the sums
/// divided by `divisor`.
template <class Add>
void average_blocks(float* result, std::int64_t channels, std::int64_t divisor, Add add) {
  for (std::int64_t first = 0; first < channels; first += kBlock) {
    const std::int64_t count = std::min(kBlock, channels - first);
    std::array<double, kBlock> sums{};
    add(sums.data(), first, count);
    for (std::int64_t c = 0; c < count; ++c) {
      result[first + c] = static_cast<float>(sums[c] / static_cast<double>(divisor));
    }
  }
}

void add_pixel(double* sums, const float* x, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c) sums[c] += x[c];
}

void average_pool(const TapWindow& window, const Input& in, const Output& out) {
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    std::int64_t taps = 0;
    window.for_each_tap(in.shape, h, w, [&](auto...) { ++taps; });
    average_blocks(pixel(out, n, h, w), out.shape.c, taps,
                   [&](double* sums, std::int64_t first, std::int64_t count) {
                     window.for_each_tap(in.shape, h, w,
                                         [&](auto, auto, std::int64_t ih, std::int64_t iw) {
                                           add_pixel(sums, pixel(in, n, ih, iw) + first, count);
                                         });
                   });
  });
}

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

PackedConv::PackedConv(const Conv& conv, std::int64_t in_channels, std::span<const float> weights,
                       std::span<const float> bias)
    : conv_(conv),
      group_inputs_(in_channels / conv.groups),
      group_outputs_(conv.out_channels / conv.groups),
      bias_(bias.begin(), bias.end()),
      padding_(static_cast<std::size_t>(group_inputs_)) {
  bias_.resize(static_cast<std::size_t>(conv.out_channels));
  if (depthwise()) {
    pack_depthwise(weights);
  } else {
    pack_tiles(weights);
  }
}

void PackedConv::pack_depthwise(std::span<const float> weights) {
  const std::int64_t taps = conv_.kernel.h * conv_.kernel.w, channels = conv_.out_channels;
  weights_.resize(static_cast<std::size_t>(taps * channels));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t t = 0; t < taps; ++t) weights_[t * channels + c] = weights[c * taps + t];
  }
}

void PackedConv::pack_tiles(std::span<const float> weights) {
  const std::int64_t taps = conv_.kernel.h * conv_.kernel.w;
  tiles_ = round_up(group_outputs_, kTileChannels) / kTileChannels;
  weights_.resize(
      static_cast<std::size_t>(conv_.groups * tiles_ * taps * group_inputs_ * kTileChannels));
  const float* next = weights.data();
  for (std::int64_t group = 0; group < conv_.groups; ++group) {
    for (std::int64_t o = 0; o < group_outputs_; ++o) {
      const std::int64_t tile = group * tiles_ + o / kTileChannels;
      for (std::int64_t i = 0; i < group_inputs_; ++i) {
        for (std::int64_t t = 0; t < taps; ++t) {
          weights_[((tile * taps + t) * group_inputs_ + i) * kTileChannels + o % kTileChannels] =
              *next++;
        }
      }
    }
  }
}

void PackedConv::run(const Input& in, const Output& out) const {
  if (depthwise()) {
    run_depthwise(in, out);
  } else {
    run_tiled(in, out);
  }
}

void PackedConv::run_depthwise(const Input& in, const Output& out) const {
  const TapWindow window{conv_.kernel, conv_.stride, conv_.padding.begin};
  const std::int64_t channels = out.shape.c;
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    float* result = pixel(out, n, h, w);
    for (std::int64_t first = 0; first < channels; first += kBlock) {
      const std::int64_t count = std::min(kBlock, channels - first);
      std::array<double, kBlock> sums;
      std::copy_n(&bias_[first], count, sums.data());
      window.for_each_tap(in.shape, h, w, [&](auto kh, auto kw, auto ih, auto iw) {
        const float* weights = &weights_[(kh * conv_.kernel.w + kw) * channels + first];
        add_channelwise(sums.data(), pixel(in, n, ih, iw) + first, weights, count);
      });
      for (std::int64_t c = 0; c < count; ++c) result[first + c] = static_cast<float>(sums[c]);
    }
  });
}

void PackedConv::run_tiled(const Input& in, const Output& out) const {
  for (std::int64_t n = 0; n < out.shape.n; ++n) {
    for (std::int64_t group = 0; group < conv_.groups; ++group) {
      for (std::int64_t tile = 0; tile < tiles_; ++tile) {
        for (std::int64_t h = 0; h < out.shape.h; ++h) run_row(in, out, n, h, group, tile);
      }
    }
  }
}

void PackedConv::run_row(const Input& in, const Output& out, std::int64_t n, std::int64_t row,
                         std::int64_t group, std::int64_t tile) const {
  const std::int64_t tap_size = group_inputs_ * kTileChannels;
  const float* tile_weights =
      &weights_[(group * tiles_ + tile) * conv_.kernel.h * conv_.kernel.w * tap_size];
  const std::int64_t first_output = group * group_outputs_ + tile * kTileChannels;
  const std::int64_t outputs = std::min(kTileChannels, group_outputs_ - tile * kTileChannels);
  const std::int64_t first_input = group * group_inputs_;

  for (std::int64_t w = 0; w < out.shape.w; w += kTilePixels) {
    Tile sums{};
    for (auto& sum : sums) std::copy_n(&bias_[first_output], outputs, sum);
    for (std::int64_t kh = 0; kh < conv_.kernel.h; ++kh) {
      const std::int64_t ih = row * conv_.stride.h + kh - conv_.padding.begin.h;
      if (!inside(ih, in.shape.h)) continue;
      for (std::int64_t kw = 0; kw < conv_.kernel.w; ++kw) {
        Pixels pixels;
        for (std::int64_t p = 0; p < kTilePixels; ++p) {
          const std::int64_t iw = (w + p) * conv_.stride.w + kw - conv_.padding.begin.w;
          pixels[p] = inside(iw, in.shape.w) ? pixel(in, n, ih, iw) + first_input : padding_.data();
        }
        const float* weights = tile_weights + (kh * conv_.kernel.w + kw) * tap_size;
        add_products(sums, pixels, weights, group_inputs_);
      }
    }
    for (std::int64_t p = 0; p < std::min(kTilePixels, out.shape.w - w); ++p) {
      float* result = pixel(out, n, row, w + p) + first_output;
      for (std::int64_t c = 0; c < outputs; ++c) result[c] = static_cast<float>(sums[p][c]);
    }
  }
}

void pool(const Pool& pool, const Input& in, const Output& out) {
  const TapWindow window{pool.kernel, pool.stride, pool.padding.begin};
  if (pool.kind == Pool::Kind::kMax) {
    max_pool(window, in, out);
  } else {
    average_pool(window, in, out);
  }
}

void global_average_pool(const Input& in, const Output& out) {
  const std::int64_t pixels = in.shape.h * in.shape.w;
  for (std::int64_t n = 0; n < in.shape.n; ++n) {
    average_blocks(pixel(out, n, 0, 0), in.shape.c, pixels,
                   [&](double* sums, std::int64_t first, std::int64_t count) {
                     for (std::int64_t i = 0; i < pixels; ++i) {
                       add_pixel(sums, pixel(in, n, 0, i) + first, count);
                     }
                   });
  }
}

void relu(const Input& in, const Output& out) {
  for (std::int64_t i = 0; i < out.shape.elements(); ++i) out.data[i] = std::max(in.data[i], 0.0f);
}

void sum(std::span<const Input> in, const Output& out) {
  for (std::int64_t first = 0; first < out.shape.elements(); first += kBlock) {
    const std::int64_t count = std::min(kBlock, out.shape.elements() - first);
    std::array<double, kBlock> sums{};
    for (const Input& term : in) add_pixel(sums.data(), term.data + first, count);
    for (std::int64_t i = 0; i < count; ++i) out.data[first + i] = static_cast<float>(sums[i]);
  }
}

void concat(std::span<const Input> in, const Output& out) {
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    float* next = pixel(out, n, h, w);
    for (const Input& part : in) next = std::copy_n(pixel(part, n, h, w), part.shape.c, next);
  });
}

}  // namespace hios::reference
