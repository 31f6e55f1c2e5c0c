// Our own convolution, bit for bit. For every tile and every division of a sum into parts, an
// output is the fused multiply-adds of its window in the order of rows, taps and channels, and then
// bias, addend and any function. Random windows of every size, step, dilation and group count run
// on the emulated CUDA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/backend/layers/functions.h"
#include "engine/cuda/kernels/kernels.h"
#include "hios/base/numbers/half.h"
#include "hios/model/layer_fields.h"

namespace hios {
namespace {

using cuda::Activation;
using cuda::ConvolutionTask;
using cuda::Element;
using cuda::TaskWindow;

constexpr std::uint64_t kSeed = 17;

/// Values of an element, as a kernel reads them.
class Tensor {
 public:
  Tensor(Element element, std::size_t count)
      : element_(element), bytes_(count * size_of(element)) {}
  std::size_t size() const { return bytes_.size() / size_of(element_); }
  std::byte* data() { return bytes_.data(); }
  float operator[](std::size_t i) const {
    if (element_ == Element::kFloat) return at<float>(i);
    return to_float(at<Half>(i));
  }
  void set(std::size_t i, float value) {
    if (element_ == Element::kFloat) {
      put(i, value);
    } else {
      put(i, to_half(value));
    }
  }

 private:
  template <class Value>
  Value at(std::size_t i) const {
    Value value;
    std::memcpy(&value, bytes_.data() + i * sizeof(value), sizeof(value));
    return value;
  }
  template <class Value>
  void put(std::size_t i, Value value) {
    std::memcpy(bytes_.data() + i * sizeof(value), &value, sizeof(value));
  }

  Element element_;
  std::vector<std::byte> bytes_;  // aligned by operator new: enough for four floats
};

class Case {
 public:
  Case(std::mt19937_64& random, Element element);
  void expect_bits(int tile) const;
  std::string text() const;

 private:
  ConvolutionTask task_;
  mutable Tensor input_, weights_, bias_, addend_;
  bool has_bias_, has_addend_;

  std::size_t pixels() const {
    const TaskWindow& w = task_.window;
    return static_cast<std::size_t>(w.images) * w.out_height * w.out_width;
  }
  float sum(int pixel, int channel, int begin, int end) const;
  float expected(int pixel, int channel) const;
};

int between(std::mt19937_64& random, int least, int most) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1)) + least;
}

/// Returns nothing, a relu or any function, each as often as the others.
Activation random_activation(std::mt19937_64& random) {
  Activation activation{static_cast<Activation::Kind>(between(random, 0, 2))};
  const auto functions = static_cast<int>(Names<Unary::Function>::kAll.size());
  activation.function = static_cast<Unary::Function>(between(random, 0, functions - 1));
  activation.alpha = static_cast<float>(between(random, 1, 8)) / 8;
  activation.beta = activation.alpha + static_cast<float>(between(random, 0, 8)) / 8;
  return activation;
}

ConvolutionTask random_task(std::mt19937_64& random, Element element) {
  ConvolutionTask task;
  task.element = element;
  TaskWindow& w = task.window;
  w.images = between(random, 1, 2);
  w.height = between(random, 1, 9);
  w.width = between(random, 1, 9);
  task.groups = std::vector{1, 1, 1, 2, 3}[random() % 5];
  w.channels = task.groups * std::vector{1, 2, 3, 4, 5, 8, 12, 16, 20, 37}[random() % 10];
  // Sometimes more than one tile's.
  w.out_channels =
      task.groups * (random() % 4 == 0 ? between(random, 60, 140) : between(random, 1, 40));
  const bool one_tap = random() % 4 == 0;
  w.kernel_h = one_tap ? 1 : between(random, 1, 7);
  w.kernel_w = one_tap ? 1 : between(random, 1, 7);
  w.stride_h = between(random, 1, 3);
  w.stride_w = between(random, 1, 3);
  w.dilation_h = between(random, 1, 2);
  w.dilation_w = between(random, 1, 3);
  // More before, after, or both; a last row or column may be outside altogether.
  const int reach_h = (w.kernel_h - 1) * w.dilation_h, reach_w = (w.kernel_w - 1) * w.dilation_w;
  w.pad_h = between(random, 0, reach_h);
  w.pad_w = between(random, 0, reach_w);
  const int most_h = (w.height + w.pad_h) / w.stride_h + 1;
  const int most_w = (w.width + w.pad_w) / w.stride_w + 1;
  w.out_height = random() % 2 == 0 ? most_h : between(random, 1, most_h);
  w.out_width = random() % 2 == 0 ? most_w : between(random, 1, most_w);
  task.relu_before = random() % 2 == 0;
  task.after.activation = random_activation(random);
  const int depth = w.kernel_h * w.kernel_w * (w.channels / task.groups);
  const int steps = (depth + cuda::kTileDepth - 1) / cuda::kTileDepth;
  task.split = random() % 2 == 0 ? 1 : between(random, 1, std::min(steps, 9));
  return task;
}

Tensor random_tensor(std::mt19937_64& random, Element element, std::size_t count) {
  Tensor tensor(element, count);
  for (std::size_t i = 0; i < count; ++i) {
    tensor.set(i, static_cast<float>(between(random, -1000, 1000)) / 512.0f);
  }
  return tensor;
}

std::size_t product(std::initializer_list<int> factors) {
  std::size_t result = 1;
  for (const int factor : factors) result *= static_cast<std::size_t>(factor);
  return result;
}

Case::Case(std::mt19937_64& random, Element element)
    : task_(random_task(random, element)),
      input_(random_tensor(random, element,
                           product({task_.window.images, task_.window.height, task_.window.width,
                                    task_.window.channels}))),
      weights_(
          random_tensor(random, element,
                        product({task_.window.out_channels, task_.window.kernel_h,
                                 task_.window.kernel_w, task_.window.channels / task_.groups}))),
      bias_(random_tensor(random, element, product({task_.window.out_channels}))),
      addend_(random_tensor(random, element,
                            product({task_.window.images, task_.window.out_height,
                                     task_.window.out_width, task_.window.out_channels}))),
      has_bias_(random() % 2 == 0),
      has_addend_(random() % 2 == 0) {}

std::string Case::text() const {
  const TaskWindow& w = task_.window;
  std::ostringstream text;
  text << w.images << 'x' << w.height << 'x' << w.width << 'x' << w.channels << " -> "
       << w.out_height << 'x' << w.out_width << 'x' << w.out_channels << " k" << w.kernel_h << 'x'
       << w.kernel_w << " s" << w.stride_h << 'x' << w.stride_w << " p" << w.pad_h << 'x' << w.pad_w
       << " d" << w.dilation_h << 'x' << w.dilation_w << " g" << task_.groups << " split "
       << task_.split;
  if (has_bias_) text << " bias";
  if (has_addend_) text << " addend";
  const Activation& last = task_.after.activation;
  if (last.kind == Activation::Kind::kRelu) text << " relu";
  if (last.kind == Activation::Kind::kUnary) {
    text << ' ' << name_of(last.function) << '(' << last.alpha << ',' << last.beta << ')';
  }
  return text.str();
}

/// Returns the sum from depth `begin` to `end`, as one thread block computes it.
float Case::sum(int pixel, int channel, int begin, int end) const {
  const TaskWindow& w = task_.window;
  const int x_out = pixel % w.out_width, y_out = pixel / w.out_width % w.out_height;
  const int image = pixel / w.out_width / w.out_height;
  const int group_channels = w.channels / task_.groups;
  const int depth = w.kernel_h * w.kernel_w * group_channels;
  const int first_channel = channel / (w.out_channels / task_.groups) * group_channels;
  float result = 0.0f;
  for (int k = begin; k < end; ++k) {
    const int tap = k / group_channels;
    const int y = y_out * w.stride_h - w.pad_h + tap / w.kernel_w * w.dilation_h;
    const int x = x_out * w.stride_w - w.pad_w + tap % w.kernel_w * w.dilation_w;
    float value = 0.0f;
    if (y >= 0 && y < w.height && x >= 0 && x < w.width) {
      value = input_[static_cast<std::size_t>(((image * w.height + y) * w.width + x) * w.channels +
                                              first_channel + k % group_channels)];
      if (task_.relu_before) value = std::max(value, 0.0f);
    }
    result = std::fma(value, weights_[static_cast<std::size_t>(channel * depth + k)], result);
  }
  return result;
}

float Case::expected(int pixel, int channel) const {
  const TaskWindow& w = task_.window;
  const int depth = w.kernel_h * w.kernel_w * (w.channels / task_.groups);
  const int steps = (depth + cuda::kTileDepth - 1) / cuda::kTileDepth;
  const int part = (steps + task_.split - 1) / task_.split * cuda::kTileDepth;
  float result = sum(pixel, channel, 0, std::min(part, depth));
  for (int i = 1; i < task_.split; ++i) {
    result += sum(pixel, channel, std::min(i * part, depth), std::min((i + 1) * part, depth));
  }
  if (has_bias_) result += bias_[static_cast<std::size_t>(channel)];
  if (has_addend_) {
    result += addend_[static_cast<std::size_t>(pixel * w.out_channels + channel)];
  }
  const Activation& last = task_.after.activation;
  if (last.kind == Activation::Kind::kRelu) return std::max(result, 0.0f);
  if (last.kind == Activation::Kind::kNone) return result;
  return functions::value_of<float>(last.function, last.alpha, last.beta, result);
}

void Case::expect_bits(int tile) const {
  const auto channels = static_cast<std::size_t>(task_.window.out_channels);
  Tensor output(task_.element, pixels() * channels), right(task_.element, output.size());
  std::vector<float> partials(static_cast<std::size_t>(task_.split) * output.size(), NAN);
  for (std::size_t i = 0; i < output.size(); ++i) output.set(i, NAN);
  ConvolutionTask task = task_;
  task.input = input_.data();
  task.weights = weights_.data();
  task.after.bias = has_bias_ ? bias_.data() : nullptr;
  task.after.addend = has_addend_ ? addend_.data() : nullptr;
  task.output = output.data();
  task.partials = partials.data();
  ASSERT_EQ(cuda::convolution(task, tile, nullptr), cudaSuccess);
  for (std::size_t i = 0; i < output.size(); ++i) {
    right.set(i, expected(static_cast<int>(i / channels), static_cast<int>(i % channels)));
    if (std::isnan(right[i])) {  // of a function that is not defined there
      ASSERT_TRUE(std::isnan(output[i])) << "value " << i << " is " << output[i];
      continue;
    }
    // Compared as numbers: a sum may reach zero from either side, and its reciprocal infinity.
    if (std::isinf(output[i]) && std::isinf(right[i])) continue;
    ASSERT_EQ(output[i], right[i]) << "value " << i;
  }
}

class OwnConvolutions : public testing::TestWithParam<Element> {};

TEST_P(OwnConvolutions, AddUpInOrderOnEveryTile) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 120; ++round) {
    const Case one(random, GetParam());
    for (int tile = 0; tile < cuda::kTileCount; ++tile) {
      SCOPED_TRACE(one.text() + ", tile " + std::to_string(tile) + ", seed " +
                   std::to_string(kSeed) + ", round " + std::to_string(round));
      ASSERT_NO_FATAL_FAILURE(one.expect_bits(tile));
    }
  }
}

std::string name_of(const testing::TestParamInfo<Element>& info) {
  return info.param == Element::kHalf ? "Halves" : "Floats";
}

INSTANTIATE_TEST_SUITE_P(In, OwnConvolutions, testing::Values(Element::kFloat, Element::kHalf),
                         name_of);

}  // namespace
}  // namespace hios
