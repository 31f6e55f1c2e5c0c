#include "support/emulated_cuda/libraries/convolve.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/backend/layers/functions.h"
#include "hios/base/numbers/half.h"
#include "support/emulated_cuda/runtime/memory.h"
#include "support/emulated_cuda/runtime/streams.h"

namespace hios::cuda_emulation {
namespace {

constexpr int kMostLanes = 8, kNeighbours = 4;

std::size_t product(int a, int b, int c, int d) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c) *
         static_cast<std::size_t>(d);
}

/// Reads values as the arithmetic sees them.
std::vector<float> operand(const Convolution& convolution, const void* data, std::size_t bytes) {
  std::vector<float> values(bytes / convolution.element_bytes());
  if (convolution.halves) {
    const auto* const halves = static_cast<const Half*>(data);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = to_float(halves[i]);
  } else {
    std::memcpy(values.data(), data, bytes);
  }
  if (convolution.rounds_to_tf32) {
    for (float& value : values) value = round_to_tf32(value);
  }
  return values;
}

void write_value(const Convolution& convolution, void* output, std::size_t at, float value) {
  if (convolution.halves) {
    static_cast<Half*>(output)[at] = to_half(value);
  } else {
    static_cast<float*>(output)[at] = value;
  }
}

/// Sums of neighbouring output values, by lane. They do not wait for each other's additions.
using Sums = std::array<std::array<float, kMostLanes>, kNeighbours>;

/// Adds the products of a row with those of several filters, which lie `step` apart, each to one of
/// the lanes in turn.
template <int kFilters>
void add_products(const float* row, const float* filters, std::size_t step, int count, int lanes,
                  Sums& sums) {
  int i = 0;
  if (lanes == kMostLanes) {  // a constant number, so that the compiler can use vectors
    Sums local = sums;
    for (; i + kMostLanes <= count; i += kMostLanes) {
      for (int filter = 0; filter < kFilters; ++filter) {
        const float* const right = filters + static_cast<std::size_t>(filter) * step + i;
        for (int lane = 0; lane < kMostLanes; ++lane)
          local[filter][lane] += row[i + lane] * right[lane];
      }
    }
    sums = local;
  }
  for (; i < count; ++i) {
    for (int filter = 0; filter < kFilters; ++filter) {
      sums[filter][i % lanes] += row[i] * filters[static_cast<std::size_t>(filter) * step + i];
    }
  }
}

/// Returns the sums of one pixel's output values from channel `out` on, all of one group.
template <int kFilters>
std::array<float, kNeighbours> sums_of(const Convolution& c, const float* input,
                                       const float* weights, int image, int y, int x, int out) {
  const int in_group = c.channels / c.groups, group = out / (c.out_channels / c.groups);
  const std::size_t step = product(c.kernel_h, c.kernel_w, in_group, 1);
  Sums sums{};
  for (int kh = 0; kh < c.kernel_h; ++kh) {
    const int row = y * c.stride_h - c.pad_h + kh * c.dilation_h;
    if (row < 0 || row >= c.height) continue;
    for (int kw = 0; kw < c.kernel_w; ++kw) {
      const int column = x * c.stride_w - c.pad_w + kw * c.dilation_w;
      if (column < 0 || column >= c.width) continue;
      const std::size_t pixel =
          (static_cast<std::size_t>(image) * c.height + row) * c.width + column;
      const std::size_t tap = (static_cast<std::size_t>(out) * c.kernel_h + kh) * c.kernel_w + kw;
      add_products<kFilters>(input + pixel * c.channels + group * in_group,
                             weights + tap * in_group, step, in_group, c.lanes, sums);
    }
  }
  std::array<float, kNeighbours> all{};
  for (int filter = 0; filter < kFilters; ++filter) {
    for (int lane = 0; lane < c.lanes; ++lane) all[filter] += sums[filter][lane];
  }
  return all;
}

void compute(const Convolution& c, const ConvolutionData& data, bool wrong) {
  const std::vector<float> input = operand(c, data.input, c.input_bytes());
  const std::vector<float> weights = operand(c, data.weights, c.weight_bytes());
  Convolution plain = c;
  plain.rounds_to_tf32 = false;
  std::vector<float> bias;
  if (c.bias) {
    bias = operand(plain, data.bias, static_cast<std::size_t>(c.out_channels) * c.element_bytes());
  }
  std::vector<float> addend;
  if (c.addend) addend = operand(plain, data.addend, c.output_bytes());
  const auto finish = [&](float value, int out, std::size_t at) {
    if (c.bias) value += bias[static_cast<std::size_t>(out)];
    if (c.addend) value += addend[at];
    if (c.relu) value = std::fmax(value, 0.0f);
    if (c.gelu) value = functions::gelu_tanh(value);
    if (wrong && at == 0) value += 1000;
    write_value(c, data.output, at, value);
  };
  // Some filters' weights stay in the host's nearest cache, whatever the images' size.
  const bool together = c.out_channels / c.groups % kNeighbours == 0;
  const int step = together ? kNeighbours : 1;
  for (int out = 0; out < c.out_channels; out += step) {
    std::size_t at = static_cast<std::size_t>(out);
    for (int image = 0; image < c.images; ++image) {
      for (int y = 0; y < c.out_height; ++y) {
        for (int x = 0; x < c.out_width; ++x, at += static_cast<std::size_t>(c.out_channels)) {
          const auto sums =
              together ? sums_of<kNeighbours>(c, input.data(), weights.data(), image, y, x, out)
                       : sums_of<1>(c, input.data(), weights.data(), image, y, x, out);
          for (int i = 0; i < step; ++i) finish(sums[i], out + i, at + static_cast<std::size_t>(i));
        }
      }
    }
  }
}

}  // namespace

std::size_t Convolution::input_bytes() const {
  return product(images, height, width, channels) * element_bytes();
}
std::size_t Convolution::weight_bytes() const {
  return product(out_channels, kernel_h, kernel_w, channels / groups) * element_bytes();
}
std::size_t Convolution::output_bytes() const {
  return product(images, out_height, out_width, out_channels) * element_bytes();
}

cudaError_t queue_convolution(const char* name, const Convolution& described,
                              const ConvolutionData& data, cudaStream_t stream) {
  const std::unique_lock held(Device::get().lock());
  Convolution convolution = described;
  if (!convolution.halves && settings().rounds == name) convolution.rounds_to_tf32 = true;
  return enqueue(
      stream, {name, [convolution, data, wrong = settings().wrong == name] {
                 require_on_device(data.input, convolution.input_bytes(), kPromisedAlignment);
                 require_on_device(data.weights, convolution.weight_bytes(), kPromisedAlignment);
                 require_on_device(data.output, convolution.output_bytes(), kPromisedAlignment);
                 if (convolution.bias) {
                   require_on_device(data.bias,
                                     static_cast<std::size_t>(convolution.out_channels) *
                                         convolution.element_bytes(),
                                     kPromisedAlignment);
                 }
                 if (convolution.addend) {
                   require_on_device(data.addend, convolution.output_bytes(), kPromisedAlignment);
                 }
                 if (data.workspace_bytes > 0) {
                   require_on_device(data.workspace, data.workspace_bytes, kPromisedAlignment);
                   std::memset(data.workspace, 0xff, data.workspace_bytes);
                 }
                 compute(convolution, data, wrong);
               }});
}

}  // namespace hios::cuda_emulation
