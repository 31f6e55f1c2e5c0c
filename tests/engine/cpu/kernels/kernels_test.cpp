// The loops of kernels_body.h and windows_body.h, for every instruction set of this processor,
// against the simplest loops with the same meaning.
#include "engine/cpu/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/kernels/kernels_here.h"
#include "hios/base/numbers/random.h"

namespace hios::cpu {
namespace {

using Floats = std::vector<float>;

constexpr float kNone = -std::numeric_limits<float>::infinity();

Floats random_floats(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Floats result(count);
  for (float& value : result) value = static_cast<float>(random.uniform(-1, 1));
  return result;
}

class CpuKernels : public testing::TestWithParam<const Kernels*> {};

/// Calls visit(y, x, channel, inputs under the window, with their tap) for every output.
template <class Visit>
void for_outputs(const RowWindow& w, const Floats& input, Visit&& visit) {
  for (std::ptrdiff_t y = 0; y < w.out_height; ++y) {
    for (std::ptrdiff_t x = 0; x < w.out_width; ++x) {
      for (std::ptrdiff_t c = 0; c < w.channels; ++c) {
        std::vector<std::pair<double, std::ptrdiff_t>> under;
        for (std::ptrdiff_t ky = 0; ky < w.kernel_height; ++ky) {
          for (std::ptrdiff_t kx = 0; kx < w.kernel_width; ++kx) {
            const std::ptrdiff_t iy = y * w.stride_height - w.pad_height + ky;
            const std::ptrdiff_t ix = x * w.stride_width - w.pad_width + kx;
            if (iy < 0 || iy >= w.in_height || ix < 0 || ix >= w.in_width) continue;
            under.emplace_back(input[(iy * w.in_width + ix) * w.channels + c],
                               ky * w.kernel_width + kx);
          }
        }
        visit((y * w.out_width + x) * w.channels + c, c, under);
      }
    }
  }
}

/// Calls a function for a task's rows, their chunks in two calls.
void run_rows(const Kernels& k, WindowRow function, const RowWindow& w, WindowTask task) {
  const std::ptrdiff_t chunks = (w.channels + k.lanes - 1) / k.lanes;
  task.first_chunk = chunks / 2;
  task.last_chunk = chunks;
  function(w, task);
  task.first_chunk = 0;
  task.last_chunk = chunks / 2;
  function(w, task);
}

/// Computes every row between guards: one at a time, but from row `from` on two.
Floats run_rows_from(const Kernels& k, const WindowRows& functions, const RowWindow& w,
                     WindowTask task, std::ptrdiff_t from) {
  const std::ptrdiff_t guard = 64, row_values = w.out_width * w.channels;
  Floats output(w.out_height * row_values + 2 * guard, kUntouched);
  for (task.row = 0; task.row < w.out_height;) {
    const bool two = task.row >= from && task.row + 1 < w.out_height;
    task.output = output.data() + guard + task.row * row_values;
    run_rows(k, two ? functions.two : functions.one, w, task);
    task.row += two ? 2 : 1;
  }
  EXPECT_TRUE(std::all_of(output.begin(), output.begin() + guard,
                          [](float value) { return value == kUntouched; }));
  EXPECT_TRUE(std::all_of(output.end() - guard, output.end(),
                          [](float value) { return value == kUntouched; }));
  return {output.begin() + guard, output.end() - guard};
}

/// Computes every row. Two rows at once must have the bits of one row after the other.
Floats run_window(const Kernels& k, const WindowRows& functions, const RowWindow& w,
                  const WindowTask& task) {
  Floats output = run_rows_from(k, functions, w, task, w.out_height);
  for (const std::ptrdiff_t from : {0, 1}) {
    if (functions.two == nullptr) continue;
    const Floats pairs = run_rows_from(k, functions, w, task, from);
    EXPECT_EQ(std::memcmp(output.data(), pairs.data(), output.size() * sizeof(float)), 0)
        << "pairs from row " << from;
  }
  return output;
}

/// Windows with widths on both sides of every block size, with whole and partial chunks, with all
/// strides of the special cases and some of the general one.
std::vector<RowWindow> windows() {
  std::vector<RowWindow> result;
  const auto add = [&](std::ptrdiff_t channels, std::ptrdiff_t height, std::ptrdiff_t width,
                       std::ptrdiff_t kh, std::ptrdiff_t kw, std::ptrdiff_t sh, std::ptrdiff_t sw,
                       std::ptrdiff_t ph, std::ptrdiff_t pw) {
    result.push_back({channels, height, width, kh, kw, sh, sw, ph, pw,
                      (height + 2 * ph - kh) / sh + 1, (width + 2 * pw - kw) / sw + 1});
  };
  for (const std::ptrdiff_t kernel : {3, 5, 7}) {
    for (const std::ptrdiff_t stride : {1, 2}) {
      for (const std::ptrdiff_t width : {1, 3, 4, 5, 8, 14, 17, 29}) {
        add(21, 6, width, kernel, kernel, stride, stride, kernel / 2, kernel / 2);
      }
      add(48, 9, 23, kernel, kernel, stride, stride, 0, 0);
    }
  }
  add(5, 4, 9, 2, 2, 2, 2, 0, 0);
  add(19, 7, 6, 1, 7, 1, 1, 0, 3);
  add(33, 7, 2, 4, 3, 3, 1, 1, 1);
  add(21, 2, 9, 7, 7, 1, 1, 3, 3);  // taps above and below the image at once
  add(21, 2, 9, 3, 3, 1, 1, 4, 4);  // rows and columns of padding alone
  return result;
}

std::string text(const RowWindow& w) {
  return std::to_string(w.channels) + " channels " + std::to_string(w.in_height) + "x" +
         std::to_string(w.in_width) + " k" + std::to_string(w.kernel_height) + "x" +
         std::to_string(w.kernel_width) + " s" + std::to_string(w.stride_height);
}

TEST_P(CpuKernels, DepthwiseWithAndWithoutAReluBeforeAndBoundsAfter) {
  const Kernels& k = *GetParam();
  for (const RowWindow& w : windows()) {
    if (w.out_height < 1 || w.out_width < 1) continue;
    SCOPED_TRACE(text(w));
    const Floats input = random_floats(w.in_height * w.in_width * w.channels, 1);
    const std::ptrdiff_t taps = w.kernel_height * w.kernel_width;
    const std::ptrdiff_t padded = (w.channels + k.lanes - 1) / k.lanes * k.lanes;
    const Floats weights = random_floats(padded * taps, 2), bias = random_floats(padded, 3);
    for (const float floor : {0.0f, kNone}) {
      const bool bounded = floor == 0;
      const float lowest = bounded ? -0.25f : kNone, highest = bounded ? 0.75f : -kNone;
      const Floats output = run_window(k, k.depthwise(w), w,
                                       {.rows = input.data(),
                                        .first_row = 0,
                                        .row = 0,
                                        .first_chunk = 0,
                                        .last_chunk = 0,
                                        .output = nullptr,
                                        .weights = weights.data(),
                                        .bias = bias.data(),
                                        .floor = floor,
                                        .lowest = lowest,
                                        .highest = highest});
      for_outputs(w, input, [&](std::ptrdiff_t at, std::ptrdiff_t c, const auto& under) {
        double expected = bias[c];
        for (const auto& [value, tap] : under) {
          const std::ptrdiff_t weight = (c / k.lanes * taps + tap) * k.lanes + c % k.lanes;
          expected += std::max<double>(value, floor) * weights[weight];
        }
        expected = std::clamp<double>(expected, lowest, highest);
        ASSERT_NEAR(output[at], expected, 1e-5) << "at " << at;
      });
    }
  }
}

TEST_P(CpuKernels, DepthwiseFromRowsInTheMiddleOfTheImage) {
  const Kernels& k = *GetParam();
  const RowWindow w{k.lanes, 9, 5, 3, 3, 1, 1, 1, 1, 9, 5};
  const Floats input = random_floats(w.in_height * w.in_width * w.channels, 1);
  const Floats weights = random_floats(9 * k.lanes, 2), bias = random_floats(k.lanes, 3);
  const WindowRows functions = k.depthwise(w);
  for (const WindowRow function : {functions.one, functions.two}) {
    if (function == nullptr) continue;
    const std::ptrdiff_t rows = function == functions.two ? 2 : 1;
    Floats whole(rows * w.out_width * w.channels), part(whole.size());
    WindowTask task{input.data(),   0,           5,    0,     1,     whole.data(),
                    weights.data(), bias.data(), 0.0f, kNone, -kNone};
    function(w, task);
    task.rows += 4 * w.in_width * w.channels;
    task.first_row = 4;
    task.output = part.data();
    function(w, task);
    EXPECT_EQ(whole, part);
  }
}

TEST_P(CpuKernels, Pools) {
  const Kernels& k = *GetParam();
  for (const RowWindow& w : windows()) {
    if (w.out_height < 1 || w.out_width < 1) continue;
    SCOPED_TRACE(text(w));
    const Floats input = random_floats(w.in_height * w.in_width * w.channels, 1);
    WindowTask task{};
    task.rows = input.data();
    const Floats most = run_window(k, k.max_pool(w), w, task);
    const Floats mean = run_window(k, k.average_pool(w), w, task);
    for_outputs(w, input, [&](std::ptrdiff_t at, std::ptrdiff_t, const auto& under) {
      if (under.empty()) return;
      double expected_most = kNone, sum = 0;
      for (const auto& [value, tap] : under) {
        expected_most = std::max(expected_most, value);
        sum += value;
      }
      ASSERT_EQ(most[at], static_cast<float>(expected_most)) << "at " << at;
      ASSERT_NEAR(mean[at], sum / static_cast<double>(under.size()), 1e-6) << "at " << at;
    });
  }
}

TEST_P(CpuKernels, CombineSumsTermsIntoASlice) {
  const Kernels& k = *GetParam();
  constexpr std::size_t kPixels = 5, kOutputStride = 50, kOffset = 3;
  for (const std::size_t terms : {1u, 2u, 3u, 5u}) {
    for (const std::size_t channels : {1u, 7u, 16u, 33u, 50u}) {
      for (const float floor : {0.0f, kNone}) {
        SCOPED_TRACE(std::to_string(terms) + " terms, " + std::to_string(channels) + " channels");
        std::vector<Floats> values;
        std::vector<const float*> pointers;
        for (std::size_t t = 0; t < terms; ++t) {
          values.push_back(random_floats(kOffset + kPixels * channels, t));
        }
        for (const Floats& v : values) pointers.push_back(v.data());
        Floats output(kPixels * kOutputStride, kUntouched);
        k.combine({pointers.data(), terms, kOffset, channels, output.data(), kOutputStride, kPixels,
                   channels, floor});
        for (std::size_t p = 0; p < kPixels; ++p) {
          for (std::size_t c = 0; c < kOutputStride; ++c) {
            float expected = kUntouched;
            if (c < channels) {
              expected = 0;
              for (const Floats& v : values) expected += v[kOffset + p * channels + c];
              expected = std::max(expected, floor);
            }
            ASSERT_FLOAT_EQ(output[p * kOutputStride + c], expected);
          }
        }
      }
    }
  }
}

TEST_P(CpuKernels, ChannelMeans) {
  const Kernels& k = *GetParam();
  constexpr std::size_t kPixels = 6;
  for (const std::size_t channels : {1u, 15u, 64u, 101u}) {
    SCOPED_TRACE(channels);
    const Floats input = random_floats(kPixels * channels, 4);
    Floats output(channels + 16, kUntouched);
    const std::size_t cut = channels / 2;
    k.channel_means({input.data(), kPixels, channels, 0, cut, 1.0f / kPixels, output.data()});
    k.channel_means(
        {input.data(), kPixels, channels, cut, channels, 1.0f / kPixels, output.data()});
    for (std::size_t c = 0; c < output.size(); ++c) {
      double sum = 0;
      for (std::size_t p = 0; p < kPixels && c < channels; ++p) sum += input[p * channels + c];
      ASSERT_NEAR(output[c], c < channels ? sum / kPixels : kUntouched, 1e-6) << "channel " << c;
    }
  }
}

TEST_P(CpuKernels, NormalizesChannels) {
  const Kernels& k = *GetParam();
  constexpr std::size_t kPixels = 5;
  constexpr double kEpsilon = 1e-5;
  for (const std::size_t channels : {1u, 2u, 15u, 64u, 101u, 768u}) {
    for (const float center : {0.0f, 3.0f, 1000.0f}) {  // next to distances of at most 1
      SCOPED_TRACE(testing::Message() << channels << " channels around " << center);
      Floats input = random_floats(kPixels * channels, 5);
      for (float& value : input) value += center;
      const Floats scale = random_floats(channels, 6), bias = random_floats(channels, 7);
      for (const bool moves : {true, false}) {
        Floats output(kPixels * channels + 16, kUntouched), parts = output;
        const auto normalize = [&](Floats& to, std::size_t first, std::size_t count) {
          k.normalize_channels({input.data() + first * channels, to.data() + first * channels,
                                count, channels, scale.data(), bias.data(), moves, moves,
                                kEpsilon});
        };
        normalize(output, 0, kPixels);
        normalize(parts, 0, 2), normalize(parts, 2, kPixels - 2);
        EXPECT_EQ(output, parts);
        for (std::size_t p = 0; p < kPixels; ++p) {
          double sum = 0, squares = 0;
          for (std::size_t c = 0; c < channels; ++c) sum += input[p * channels + c];
          const double count = static_cast<double>(channels), mean = sum / count;
          for (std::size_t c = 0; c < channels; ++c)
            squares += std::pow(input[p * channels + c] - mean, 2);
          const double rate = 1 / std::sqrt(squares / count + kEpsilon);
          for (std::size_t c = 0; c < channels; ++c) {
            const double expected = (input[p * channels + c] - mean) * rate * scale[moves ? c : 0] +
                                    bias[moves ? c : 0];
            ASSERT_NEAR(output[p * channels + c], expected, 1e-5) << "pixel " << p << ", " << c;
          }
        }
        for (std::size_t i = kPixels * channels; i < output.size(); ++i)
          ASSERT_EQ(output[i], kUntouched);
      }
    }
  }
}

TEST_P(CpuKernels, SoftmaxOfChannels) {
  const Kernels& k = *GetParam();
  constexpr std::size_t kPixels = 5, kLost = 3;
  for (const std::size_t channels : {1u, 2u, 15u, 16u, 17u, 64u, 101u, 197u, 2500u}) {
    for (const float center : {0.0f, -1000.0f, 1000.0f}) {  // exp() of which is 0 or infinite
      SCOPED_TRACE(testing::Message() << channels << " channels around " << center);
      Floats input = random_floats(kPixels * channels, 8);
      for (float& value : input) value = 20 * value + center;
      input[kLost * channels + channels / 2] = std::numeric_limits<float>::quiet_NaN();
      Floats output(kPixels * channels + 16, kUntouched), parts = output, in_place = input;
      const auto softmax = [&](const Floats& from, Floats& to, std::size_t first,
                               std::size_t count) {
        k.softmax_channels(
            {from.data() + first * channels, to.data() + first * channels, count, channels});
      };
      softmax(input, output, 0, kPixels);
      softmax(input, parts, 0, 2), softmax(input, parts, 2, kPixels - 2);
      softmax(in_place, in_place, 0, kPixels);
      for (std::size_t p = 0; p < kPixels; ++p) {
        const float* const pixel = input.data() + p * channels;
        const float most = *std::max_element(pixel, pixel + channels);
        double sum = 0;
        for (std::size_t c = 0; c < channels; ++c) sum += std::exp(double{pixel[c] - most});
        for (std::size_t c = 0; c < channels; ++c) {
          const std::size_t i = p * channels + c;
          if (p == kLost) {
            ASSERT_TRUE(std::isnan(output[i]) && std::isnan(parts[i]) && std::isnan(in_place[i]))
                << c;
            continue;
          }
          ASSERT_EQ(output[i], parts[i]);
          ASSERT_EQ(output[i], in_place[i]);
          const double expected = std::exp(double{pixel[c] - most}) / sum;
          ASSERT_NEAR(output[i], expected, 1e-6 * expected + 1e-37) << "pixel " << p << ", " << c;
        }
      }
      for (std::size_t i = kPixels * channels; i < output.size(); ++i)
        ASSERT_EQ(output[i], kUntouched);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, CpuKernels,
                         testing::ValuesIn(kernels_that_run_here()),
                         [](const auto& c) { return std::string(c.param->name); });

}  // namespace
}  // namespace hios::cpu
