// The transforms of Winograd's method F(4×4, 3×3) over the vector type that the including file has
// defined: a tile of 4×4 outputs reads 6×6 inputs, and has a product for each of 36 positions
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", section 4.3, for the points
// 0, ±1, ±2). A vector holds channels, so both transforms are sums of whole vectors, and both
// tensors stay NHWC. kernels_body.h includes this, and its rules hold here: everything is in an
// unnamed namespace, and nothing of the standard library is used.
#pragma once

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {
namespace {

constexpr std::ptrdiff_t kTileOutputs = kWinogradTile, kTileInputs = 6;

constexpr float kNear2 = kWinogradNear * kWinogradNear, kFar2 = kWinogradFar * kWinogradFar;

/// Computes Bᵀ d.
inline __attribute__((always_inline)) void transform_input(const Vec* d, Vec* result) {
  const Vec product = broadcast(kNear2 * kFar2), sum = broadcast(-(kNear2 + kFar2));
  result[0] = fma(product, d[0], fma(sum, d[2], d[4]));
  const Vec near_even = fma(broadcast(-kFar2), d[2], d[4]);
  const Vec near_odd = fma(broadcast(-kFar2), d[1], d[3]);
  result[1] = fma(broadcast(kWinogradNear), near_odd, near_even);
  result[2] = fma(broadcast(-kWinogradNear), near_odd, near_even);
  const Vec far_even = fma(broadcast(-kNear2), d[2], d[4]);
  const Vec far_odd = fma(broadcast(-kNear2), d[1], d[3]);
  result[3] = fma(broadcast(kWinogradFar), far_odd, far_even);
  result[4] = fma(broadcast(-kWinogradFar), far_odd, far_even);
  result[5] = fma(product, d[1], fma(sum, d[3], d[5]));
}

/// Computes Aᵀ m.
inline __attribute__((always_inline)) void transform_output(const Vec* m, Vec* result) {
  const Vec minus = broadcast(-1);
  const Vec near = add(m[1], m[2]), near_difference = fma(minus, m[2], m[1]);
  const Vec far = add(m[3], m[4]), far_difference = fma(minus, m[4], m[3]);
  result[0] = add(add(m[0], near), far);
  result[1] =
      fma(broadcast(kWinogradFar), far_difference, mul(broadcast(kWinogradNear), near_difference));
  result[2] = fma(broadcast(kFar2), far, mul(broadcast(kNear2), near));
  result[3] = add(fma(broadcast(kFar2 * kWinogradFar), far_difference,
                      mul(broadcast(kNear2 * kWinogradNear), near_difference)),
                  m[5]);
}

/// Transforms a tile whose input begins at this row and column. `kInside`: all of it is in the
/// image.
template <bool kInside>
inline void input_tile(const WinogradInput& task, std::ptrdiff_t left, float* output) {
  for (std::ptrdiff_t c = 0; c < task.channels; c += kLanes) {
    const Mask mask = mask_of(task.channels - c);
    Vec half[kTileInputs][kTileInputs];  // rows transformed, by position and column
    for (std::ptrdiff_t x = 0; x < kTileInputs; ++x) {
      Vec column[kTileInputs], transformed[kTileInputs];
      const bool in_width = kInside || (left + x >= 0 && left + x < task.width);
      for (std::ptrdiff_t y = 0; y < kTileInputs; ++y) {
        const bool inside =
            kInside || (in_width && task.top + y >= 0 && task.top + y < task.height);
        const std::ptrdiff_t pixel = (task.top + y) * task.width + left + x;
        column[y] = inside ? load(task.image + pixel * task.channels + c, mask) : broadcast(0);
      }
      transform_input(column, transformed);
      for (std::ptrdiff_t y = 0; y < kTileInputs; ++y) half[y][x] = transformed[y];
    }
    float* to = output + c;
    for (std::ptrdiff_t y = 0; y < kTileInputs; ++y) {
      Vec row[kTileInputs];
      transform_input(half[y], row);
      for (std::ptrdiff_t x = 0; x < kTileInputs; ++x, to += task.position) store(to, row[x], mask);
    }
  }
}

void winograd_input(const WinogradInput& task) {
  const bool rows_inside = task.top >= 0 && task.top + kTileInputs <= task.height;
  for (std::ptrdiff_t tile = 0; tile < task.tiles; ++tile) {
    const std::ptrdiff_t left = task.left + tile * kTileOutputs;
    float* const output = task.output + tile * task.channels;
    if (rows_inside && left >= 0 && left + kTileInputs <= task.width) {
      input_tile<true>(task, left, output);
    } else {
      input_tile<false>(task, left, output);
    }
  }
}

/// Writes a tile's outputs in the image: rows × columns of them.
inline void output_tile(const WinogradOutput& task, std::ptrdiff_t tile, std::ptrdiff_t rows,
                        std::ptrdiff_t columns) {
  const Vec floor = broadcast(task.floor);
  const std::ptrdiff_t offset = tile * kTileOutputs * task.channels;
  for (std::ptrdiff_t c = 0; c < task.channels; c += kLanes) {
    const Mask mask = mask_of(task.channels - c);
    const Vec bias = load(task.bias + c, mask);
    const float* from = task.input + tile * task.channels + c;
    Vec half[kTileOutputs][kTileInputs];
    for (std::ptrdiff_t x = 0; x < kTileInputs; ++x) {
      Vec column[kTileInputs], transformed[kTileOutputs];
      for (std::ptrdiff_t y = 0; y < kTileInputs; ++y)
        column[y] = load(from + (y * kTileInputs + x) * task.position, mask);
      transform_output(column, transformed);
      for (std::ptrdiff_t y = 0; y < kTileOutputs; ++y) half[y][x] = transformed[y];
    }
    for (std::ptrdiff_t y = 0; y < rows; ++y) {
      Vec row[kTileOutputs];
      transform_output(half[y], row);
      const std::ptrdiff_t at = y * task.row + offset + c;
      for (std::ptrdiff_t x = 0; x < columns; ++x) {
        Vec value = add(row[x], bias);
        if (task.addend != nullptr) {
          value = add(value, load(task.addend + at + x * task.channels, mask));
        }
        store(task.output + at + x * task.channels, at_least(floor, value), mask);
      }
    }
  }
}

void winograd_output(const WinogradOutput& task) {
  const std::ptrdiff_t rows = task.height < kTileOutputs ? task.height : kTileOutputs;
  for (std::ptrdiff_t tile = 0; tile < task.tiles; ++tile) {
    const std::ptrdiff_t columns = task.width - tile * kTileOutputs;
    if (rows == kTileOutputs && columns >= kTileOutputs) {
      output_tile(task, tile, kTileOutputs, kTileOutputs);
    } else {
      output_tile(task, tile, rows, columns < kTileOutputs ? columns : kTileOutputs);
    }
  }
}

}  // namespace
}  // namespace hios::cpu
