// The products of panels_body.h, for every instruction set of this processor, against sums in
// double.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/kernels/kernels_here.h"
#include "hios/base/numbers/random.h"

namespace hios::cpu {
namespace {

constexpr float kBoundless = std::numeric_limits<float>::infinity();

std::vector<float> uniform_floats(std::ptrdiff_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

/// A panel with its operands; the output has two columns more than the panel.
struct PanelCase {
  PanelCase(const Kernels& k, std::ptrdiff_t of_rows, std::ptrdiff_t of_depth,
            std::ptrdiff_t of_columns)
      : rows(of_rows),
        depth(of_depth),
        columns(of_columns),
        width((columns + k.lanes - 1) / k.lanes * k.lanes),
        stride(columns + 2),
        input(uniform_floats(rows * (depth + 3), 1)),
        weights(uniform_floats(depth * width, 2)),
        bias(uniform_floats(width, 3)),
        addend(uniform_floats(rows * stride, 4)) {}

  PanelTask task(bool adds, std::vector<float>& output) const {
    output.assign(static_cast<std::size_t>(rows * stride), kUntouched);
    return {.input = input.data(),
            .input_stride = depth + 3,
            .weights = weights.data(),
            .bias = bias.data(),
            .addend = adds ? addend.data() : nullptr,
            .output = output.data(),
            .output_stride = stride,
            .rows = rows,
            .depth = depth,
            .columns = columns,
            .block_depth = 256,
            .floor = adds ? -1.0f : -kBoundless,
            .ceiling = adds ? 2.0f : kBoundless};
  }

  double expected(std::ptrdiff_t row, std::ptrdiff_t column, const PanelTask& task) const {
    double sum = bias[column];
    for (std::ptrdiff_t k = 0; k < depth; ++k) {
      sum += static_cast<double>(input[row * (depth + 3) + k]) * weights[k * width + column];
    }
    if (task.addend != nullptr) sum += addend[row * stride + column];
    return std::clamp<double>(sum, task.floor, task.ceiling);
  }

  std::ptrdiff_t rows, depth, columns, width, stride;
  std::vector<float> input, weights, bias, addend;
};

class PanelKernels : public testing::TestWithParam<const Kernels*> {
 protected:
  /// Calls test(case) for sizes on both sides of tiles, chunks and blocks of the depth.
  template <class Test>
  void for_cases(Test&& test) {
    const Kernels& k = *GetParam();
    for (const std::ptrdiff_t rows : {1, 2, 5, 6, 7, 9, 10, 14, 15, 49}) {
      for (const std::ptrdiff_t depth : {1, 3, 4, 31, 256, 257, 600}) {
        for (const std::ptrdiff_t columns :
             {std::ptrdiff_t{1}, k.lanes, k.lanes + 1, 2 * k.lanes, k.panel_chunks * k.lanes - 1,
              k.panel_chunks * k.lanes}) {
          SCOPED_TRACE(std::to_string(rows) + " rows, depth " + std::to_string(depth) + ", " +
                       std::to_string(columns) + " columns");
          test(PanelCase(k, rows, depth, columns));
        }
      }
    }
  }
};

TEST_P(PanelKernels, MultiplyAddAndBound) {
  for_cases([&](const PanelCase& c) {
    for (const bool adds : {false, true}) {
      std::vector<float> output;
      const PanelTask task = c.task(adds, output);
      GetParam()->multiply_panel(task);
      for (std::ptrdiff_t row = 0; row < c.rows; ++row) {
        for (std::ptrdiff_t column = 0; column < c.stride; ++column) {
          const float value = output[static_cast<std::size_t>(row * c.stride + column)];
          if (column < c.columns) {
            ASSERT_NEAR(value, c.expected(row, column, task), 1e-4);
          } else {
            ASSERT_EQ(value, kUntouched);
          }
        }
      }
    }
  });
}

TEST_P(PanelKernels, GiveARowTheSameBitsAloneAndInOtherBlocks) {
  for_cases([&](const PanelCase& c) {
    std::vector<float> together, alone;
    GetParam()->multiply_panel(c.task(true, together));
    PanelTask whole = c.task(true, alone);
    whole.block_depth = 64;
    for (std::ptrdiff_t row = 0; row < c.rows; ++row) {
      PanelTask one = whole;
      one.rows = 1;
      one.input += row * one.input_stride;
      one.addend += row * one.output_stride;
      one.output += row * one.output_stride;
      GetParam()->multiply_panel(one);
    }
    ASSERT_EQ(together, alone);
  });
}

INSTANTIATE_TEST_SUITE_P(All, PanelKernels, testing::ValuesIn(kernels_that_run_here()),
                         [](const auto& kernels) { return kernels.param->name; });

}  // namespace
}  // namespace hios::cpu
