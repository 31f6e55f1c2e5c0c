// The transforms of winograd_body.h, for every instruction set of this processor, against products
// with the matrices that define them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/kernels/kernels_here.h"
#include "hios/base/numbers/random.h"

namespace hios::cpu {
namespace {

constexpr int kIn = 6, kOut = 4;
using Square = std::array<std::array<double, kIn>, kIn>;
constexpr double kNear = kWinogradNear, kFar = kWinogradFar;
constexpr double kProduct = kNear * kNear * kFar * kFar, kSum = kNear * kNear + kFar * kFar;
/// The polynomials (x² − a²)(x² − b²) and those without one of their roots.
constexpr double kB[kIn][kIn] = {{kProduct, 0, -kSum, 0, 1, 0},
                                 {0, -kNear* kFar* kFar, -kFar* kFar, kNear, 1, 0},
                                 {0, kNear* kFar* kFar, -kFar* kFar, -kNear, 1, 0},
                                 {0, -kFar* kNear* kNear, -kNear* kNear, kFar, 1, 0},
                                 {0, kFar* kNear* kNear, -kNear* kNear, -kFar, 1, 0},
                                 {0, kProduct, 0, -kSum, 0, 1}};
constexpr double kA[kOut][kIn] = {
    {1, 1, 1, 1, 1, 0},
    {0, kNear, -kNear, kFar, -kFar, 0},
    {0, kNear* kNear, kNear* kNear, kFar* kFar, kFar* kFar, 0},
    {0, kNear* kNear* kNear, -kNear* kNear* kNear, kFar* kFar* kFar, -kFar* kFar* kFar, 1}};

/// Returns m v mᵀ, of which `Rows` rows and columns count.
template <int Rows>
Square both_sides(const double (&m)[Rows][kIn], const Square& v) {
  Square result = {};
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Rows; ++j) {
      for (int a = 0; a < kIn; ++a) {
        for (int b = 0; b < kIn; ++b) result[i][j] += m[i][a] * v[a][b] * m[j][b];
      }
    }
  }
  return result;
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

class WinogradKernels : public testing::TestWithParam<const Kernels*> {};

struct Image {
  std::ptrdiff_t height, width, channels, pad;
};
const Image kImages[] = {
    {9, 14, 16, 1}, {4, 4, 5, 0}, {7, 23, 35, 1}, {3, 2, 48, 2}, {13, 6, 1, 1}};

TEST_P(WinogradKernels, TransformTheInputsOfTiles) {
  for (const Image& im : kImages) {
    SCOPED_TRACE(std::to_string(im.height) + "x" + std::to_string(im.width) + ", " +
                 std::to_string(im.channels) + " channels");
    const auto image = random_values(im.height * im.width * im.channels, 3);
    const std::ptrdiff_t rows = (im.height + 2 * im.pad - 2 + kOut - 1) / kOut;
    const std::ptrdiff_t tiles = (im.width + 2 * im.pad - 2 + kOut - 1) / kOut;
    const std::ptrdiff_t position = tiles * im.channels + 3;
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      std::vector<float> output(kIn * kIn * position, kUntouched);
      const std::ptrdiff_t top = row * kOut - im.pad;
      GetParam()->winograd_input({image.data(), im.height, im.width, im.channels, top, -im.pad,
                                  tiles, output.data(), position});
      for (std::ptrdiff_t t = 0; t < tiles; ++t) {
        for (std::ptrdiff_t c = 0; c < im.channels; ++c) {
          Square d = {};
          for (int y = 0; y < kIn; ++y) {
            for (int x = 0; x < kIn; ++x) {
              const std::ptrdiff_t at_y = top + y, at_x = t * kOut - im.pad + x;
              const bool inside = at_y >= 0 && at_y < im.height && at_x >= 0 && at_x < im.width;
              d[y][x] = inside ? image[(at_y * im.width + at_x) * im.channels + c] : 0;
            }
          }
          const Square expected = both_sides(kB, d);
          for (int q = 0; q < kIn * kIn; ++q) {
            ASSERT_NEAR(output[q * position + t * im.channels + c], expected[q / kIn][q % kIn],
                        1e-4);
          }
        }
      }
      EXPECT_EQ(output[position - 1], kUntouched);
    }
  }
}

TEST_P(WinogradKernels, TransformProductsIntoTheOutputsOfTheImage) {
  for (const Image& im : kImages) {
    for (const bool adds : {false, true}) {
      SCOPED_TRACE(std::to_string(im.height) + "x" + std::to_string(im.width) + ", " +
                   std::to_string(im.channels) + " channels");
      const std::ptrdiff_t tiles = (im.width + kOut - 1) / kOut;
      const std::ptrdiff_t position = tiles * im.channels + 5;
      const auto products = random_values(kIn * kIn * position, 5);
      const auto bias = random_values(im.channels, 6);
      const std::ptrdiff_t row = im.width * im.channels, values = im.height * row;
      const auto addend = random_values(values, 7);
      const float floor = adds ? 0.0f : -std::numeric_limits<float>::infinity();
      std::vector<float> output(values + 64, kUntouched);
      GetParam()->winograd_output({products.data(), position, tiles, bias.data(),
                                   adds ? addend.data() : nullptr, floor, output.data(), im.height,
                                   im.width, im.channels, row});
      const std::ptrdiff_t rows = std::min<std::ptrdiff_t>(im.height, kOut);
      for (std::ptrdiff_t y = 0; y < rows; ++y) {
        for (std::ptrdiff_t i = 0; i < row; ++i) {
          const std::ptrdiff_t x = i / im.channels, c = i % im.channels;
          Square m;
          for (int q = 0; q < kIn * kIn; ++q) {
            m[q / kIn][q % kIn] = products[q * position + x / kOut * im.channels + c];
          }
          double expected = both_sides(kA, m)[y][x % kOut] + bias[c];
          if (adds) expected += addend[y * row + i];
          ASSERT_NEAR(output[y * row + i], std::max<double>(expected, floor), 1e-4);
        }
      }
      EXPECT_TRUE(std::all_of(output.begin() + rows * row, output.end(),
                              [](float value) { return value == kUntouched; }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WinogradKernels, testing::ValuesIn(kernels_that_run_here()),
                         [](const auto& kernels) { return kernels.param->name; });

}  // namespace
}  // namespace hios::cpu
