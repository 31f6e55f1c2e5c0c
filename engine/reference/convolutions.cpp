// Convolutions.
//
// Every sum is a double. It begins with the bias (or zero), is extended in a fixed order (kernel
// row, kernel column, input channel) and rounded to fp32 once. The product of two floats is exact
// in double precision, so it makes no difference whether the compiler fuses it with the addition.
// Vectors run across output channels, never along a sum, so the result is the same on every
// machine.
//
// Cost: a convolution works on tiles of a few pixels by a few output channels. A weight is read and
// widened once for all pixels of the tile, and the innermost loop is a vector operation. Depthwise
// and transposed convolutions go pixel by pixel over all channels.
//
// Tests: tests/engine/reference/, by hand and against independent NCHW loops.
#include <algorithm>
#include <array>

#include "engine/reference/loops.h"

namespace hios::reference {
namespace {

constexpr std::int64_t kTilePixels = 4;
constexpr std::int64_t kTileChannels = 16;

using Tile = double[kTilePixels][kTileChannels];
using Pixels = std::array<const float*, kTilePixels>;

/// Adds products: tile[p][c] += Σ_i pixels[p][i] · weights[i][c].
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

/// Adds products of channels: sums[c] += x[c] · weights[c].
void add_channelwise(double* sums, const float* x, const float* weights, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c) {
    sums[c] += static_cast<double>(x[c]) * static_cast<double>(weights[c]);
  }
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
  const TapWindow window{conv_.kernel, conv_.stride, conv_.padding.begin, conv_.dilation};
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
      const std::int64_t ih = row * conv_.stride.h + kh * conv_.dilation.h - conv_.padding.begin.h;
      if (!inside(ih, in.shape.h)) continue;
      for (std::int64_t kw = 0; kw < conv_.kernel.w; ++kw) {
        Pixels pixels;
        for (std::int64_t p = 0; p < kTilePixels; ++p) {
          const std::int64_t iw =
              (w + p) * conv_.stride.w + kw * conv_.dilation.w - conv_.padding.begin.w;
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

PackedConvTranspose::PackedConvTranspose(const ConvTranspose& conv, std::int64_t in_channels,
                                         std::span<const float> weights,
                                         std::span<const float> bias)
    : conv_(conv),
      group_inputs_(in_channels / conv.groups),
      group_outputs_(conv.out_channels / conv.groups),
      weights_(weights.size()),
      bias_(bias.begin(), bias.end()) {
  bias_.resize(static_cast<std::size_t>(conv.out_channels));
  const std::int64_t taps = conv.kernel.h * conv.kernel.w;
  const float* next = weights.data();
  for (std::int64_t i = 0; i < in_channels; ++i) {
    for (std::int64_t o = 0; o < group_outputs_; ++o) {
      for (std::int64_t t = 0; t < taps; ++t) {
        weights_[(t * in_channels + i) * group_outputs_ + o] = *next++;
      }
    }
  }
}

void PackedConvTranspose::run(const Input& in, const Output& out) const {
  for_each_pixel(out.shape, [&](std::int64_t n, std::int64_t h, std::int64_t w) {
    float* result = pixel(out, n, h, w);
    for (std::int64_t group = 0; group < conv_.groups; ++group) {
      for (std::int64_t first = 0; first < group_outputs_; first += kBlock) {
        const std::int64_t count = std::min(kBlock, group_outputs_ - first);
        const std::int64_t channel = group * group_outputs_ + first;
        std::array<double, kBlock> sums;
        std::copy_n(&bias_[channel], count, sums.data());
        for_each_source(in.shape, h, w, [&](std::int64_t tap, std::int64_t ih, std::int64_t iw) {
          for (std::int64_t i = group * group_inputs_; i < (group + 1) * group_inputs_; ++i) {
            const double x = pixel(in, n, ih, iw)[i];
            const float* weights = &weights_[(tap * in.shape.c + i) * group_outputs_ + first];
            for (std::int64_t o = 0; o < count; ++o) sums[o] += x * weights[o];
          }
        });
        for (std::int64_t o = 0; o < count; ++o) result[channel + o] = static_cast<float>(sums[o]);
      }
    }
  });
}

/// Solves an equation for ih and iw: by tap (kh, kw), input pixel (ih, iw) contributes to output
/// pixel (ih · stride + kh · dilation − padding, …).
template <class Visit>
void PackedConvTranspose::for_each_source(const Shape& in, std::int64_t h, std::int64_t w,
                                          Visit visit) const {
  for (std::int64_t kh = 0; kh < conv_.kernel.h; ++kh) {
    const std::int64_t row = h + conv_.padding.begin.h - kh * conv_.dilation.h;
    if (row % conv_.stride.h != 0 || !inside(row, in.h * conv_.stride.h)) continue;
    for (std::int64_t kw = 0; kw < conv_.kernel.w; ++kw) {
      const std::int64_t column = w + conv_.padding.begin.w - kw * conv_.dilation.w;
      if (column % conv_.stride.w != 0 || !inside(column, in.w * conv_.stride.w)) continue;
      visit(kh * conv_.kernel.w + kw, row / conv_.stride.h, column / conv_.stride.w);
    }
  }
}

}  // namespace hios::reference
