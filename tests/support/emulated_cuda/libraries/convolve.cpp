#include "support/emulated_cuda/libraries/convolve.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "engine/backend/layers/functions.h"
#include "hios/base/numbers/half.h"
#include "support/emulated_cuda/runtime/memory.h"
#include "support/emulated_cuda/runtime/streams.h"

namespace hios::cuda_emulation {
namespace {

constexpr int kMostLanes = 8;

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

/// Adds the products of two rows, each to one of the lanes in turn.
void add_products(const float* left, const float* right, int count, int lanes, float* sums) {
  int i = 0;
  if (lanes == kMostLanes) {  // a constant number, so that the compiler can use vectors
    for (; i + kMostLanes <= count; i += kMostLanes) {
      for (int lane = 0; lane < kMostLanes; ++lane) sums[lane] += left[i + lane] * right[i + lane];
    }
  }
  for (; i < count; ++i) sums[i % lanes] += left[i] * right[i];
}

/// Returns the sum of one output value.
float sum_of(const Convolution& c, const float* input, const float* weights, int image, int y,
             int x, int out) {
  const int in_group = c.channels / c.groups, group = out / (c.out_channels / c.groups);
  float sums[kMostLanes] = {};
  for (int kh = 0; kh < c.kernel_h; ++kh) {
    const int row = y * c.stride_h - c.pad_h + kh * c.dilation_h;
    if (row < 0 || row >= c.height) continue;
    for (int kw = 0; kw < c.kernel_w; ++kw) {
      const int column = x * c.stride_w - c.pad_w + kw * c.dilation_w;
      if (column < 0 || column >= c.width) continue;
      const std::size_t pixel =
          (static_cast<std::size_t>(image) * c.height + row) * c.width + column;
      const std::size_t tap = (static_cast<std::size_t>(out) * c.kernel_h + kh) * c.kernel_w + kw;
      add_products(input + pixel * c.channels + group * in_group, weights + tap * in_group,
                   in_group, c.lanes, sums);
    }
  }
  float sum = 0;
  for (int lane = 0; lane < c.lanes; ++lane) sum += sums[lane];
  return sum;
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
  std::size_t at = 0;
  for (int image = 0; image < c.images; ++image) {
    for (int y = 0; y < c.out_height; ++y) {
      for (int x = 0; x < c.out_width; ++x) {
        for (int out = 0; out < c.out_channels; ++out) {
          float value = sum_of(c, input.data(), weights.data(), image, y, x, out);
          if (c.bias) value += bias[static_cast<std::size_t>(out)];
          if (c.addend) value += addend[at];
          if (c.relu) value = std::fmax(value, 0.0f);
          if (c.gelu) value = functions::gelu_tanh(value);
          if (wrong && at == 0) value += 1000;
          write_value(c, data.output, at++, value);
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
