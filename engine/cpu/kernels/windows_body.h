// Windows over the vector type of the including file (see kernels_body.h): depthwise convolutions
// and pools.
//
// A block is P neighbouring output pixels of one chunk of channels, in one output row or in two,
// its accumulators in registers. Each input column is loaded once for a block's row and feeds all
// outputs it belongs to. A relu before the layer is a maximum with each column as it is loaded,
// which costs less than another pass over the tensor. Columns and rows outside the image are
// skipped, which is zero padding (and, in pools, no padding at all). If P does not divide a width,
// the last block overlaps the one before and writes the same values again.
//
// Two output rows at once, if the stride is 1, read K+1 input rows in the stead of 2K, which come
// from the second-level cache. On a Xeon with AVX-512, in ns for a vector of outputs: 5×5 over 168
// channels 42×42 with a relu 7.6 against 8.8; 3×3 over 336 channels 21×21 3.0 against 3.4; averages
// of 3×3 3.3 against 4.0. Three and four rows gained no more, and two gained nothing with AVX2.
//
// Rows go from top to bottom, chunks within a row, so the source is read in memory order. (Chunk by
// chunk over a whole plane, which keeps one chunk in the first-level cache, took 1.1 to 2 times as
// long. Prefetches of the next rows took 1.1 to 1.4 times as long on a Xeon, as the first-level
// cache does not hold them until then.)
#pragma once

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {
namespace {

constexpr std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) { return a < b ? a : b; }
constexpr std::ptrdiff_t larger(std::ptrdiff_t a, std::ptrdiff_t b) { return a > b ? a : b; }

/// The operation of a window on its inputs. An accumulator begins as start(), takes inputs by
/// step() and gives its result by finish(), with the share of one of so many inputs.
struct Depthwise {
  static constexpr bool kWeighted = true;
  static Vec start(const Vec& bias) { return bias; }
  static Vec step(const Vec& acc, const Vec& value, const Vec& weight) {
    return fma(value, weight, acc);
  }
  static Vec share(float) { return broadcast(0.0f); }
  static Vec finish(const Vec& acc, const Vec&, const Vec& lowest, const Vec& highest) {
    return at_most(highest, at_least(lowest, acc));
  }
};

struct Maximum {
  static constexpr bool kWeighted = false;
  static Vec start(const Vec&) { return broadcast(-__builtin_inff()); }
  static Vec step(const Vec& acc, const Vec& value, const Vec&) { return at_least(acc, value); }
  static Vec share(float) { return broadcast(0.0f); }
  static Vec finish(const Vec& acc, const Vec&, const Vec&, const Vec&) { return acc; }
};

struct Average {
  static constexpr bool kWeighted = false;
  static Vec start(const Vec&) { return broadcast(0.0f); }
  static Vec step(const Vec& acc, const Vec& value, const Vec&) { return add(acc, value); }
  static Vec share(float inputs) { return broadcast(1.0f / inputs); }
  static Vec finish(const Vec& acc, const Vec& share, const Vec&, const Vec&) {
    return mul(acc, share);
  }
};

/// The form of a block. kRows: output rows. kInside: all columns lie in the image. kClamped: a relu
/// comes before the layer.
template <class O, int K, int S, int P, int R, bool inside, bool clamped>
struct BlockForm {
  static_assert(R == 1 || (R == 2 && S == 1), "the rows of a pair read input rows one apart");
  using Op = O;
  static constexpr int kKernel = K, kStride = S, kPixels = P, kRows = R;
  static constexpr int kColumns = (P - 1) * S + K;  // of the input
  static constexpr bool kInside = inside, kClamped = clamped;
};

/// The chunk of a block, and the addresses of its rows.
struct Chunk {
  const float* top;           // channel 0 of the chunk, column 0, input row of kernel row `begin`
  std::ptrdiff_t begin, end;  // input rows inside the image, from the first kernel row on
  std::ptrdiff_t row_stride;  // floats from one input row to the next
  const float* weights;
  Vec bias, floor;
  float lowest, highest;
  Mask mask;
};

/// Returns the weight of a column of a kernel row.
template <class Form>
inline Vec weight_at(const Chunk& chunk, std::ptrdiff_t row, int column) {
  return Form::Op::kWeighted ? load(chunk.weights + (row * Form::kKernel + column) * kLanes)
                             : chunk.bias;
}

template <class Form>
inline Vec column_at(const Chunk& chunk, const float* address) {
  const Vec value = load(address, chunk.mask);
  return Form::kClamped ? at_least(chunk.floor, value) : value;
}

/// Adds input row `row` to output rows [From, To) of a block, column by column.
template <class Form, int From, int To>
inline __attribute__((always_inline)) void add_columns(const RowWindow& w, const Chunk& chunk,
                                                       std::ptrdiff_t first_column,
                                                       std::ptrdiff_t row, const float* input,
                                                       Vec (&acc)[Form::kRows][Form::kPixels]) {
  constexpr int kKernel = Form::kKernel, kStride = Form::kStride;
  const std::ptrdiff_t low = -first_column, high = w.in_width - first_column;
  Vec weight[Form::kRows][kKernel];
  for (int i = From; i < To; ++i) {
    for (int kx = 0; kx < kKernel; ++kx) weight[i][kx] = weight_at<Form>(chunk, row - i, kx);
  }
#pragma GCC unroll 64
  for (int x = 0; x < Form::kColumns; ++x) {
    if (!Form::kInside && (x < low || x >= high)) continue;
    const Vec value = column_at<Form>(chunk, input + x * w.channels);
#pragma GCC unroll 16
    for (int kx = 0; kx < kKernel; ++kx) {
      const int from = x - kx;
      if (from < 0 || from % kStride != 0 || from / kStride >= Form::kPixels) continue;
      for (int i = From; i < To; ++i) {
        acc[i][from / kStride] = Form::Op::step(acc[i][from / kStride], value, weight[i][kx]);
      }
    }
  }
}

/// The same for columns inside the image, weight by weight: all columns are in registers. With two
/// rows that needs fewer of them.
template <class Form, int From, int To>
inline __attribute__((always_inline)) void add_weights(const RowWindow& w, const Chunk& chunk,
                                                       std::ptrdiff_t row, const float* input,
                                                       Vec (&acc)[Form::kRows][Form::kPixels]) {
  Vec value[Form::kColumns];
#pragma GCC unroll 64
  for (int x = 0; x < Form::kColumns; ++x) {
    value[x] = column_at<Form>(chunk, input + x * w.channels);
  }
#pragma GCC unroll 16
  for (int kx = 0; kx < Form::kKernel; ++kx) {
    for (int i = From; i < To; ++i) {
      const Vec weight = weight_at<Form>(chunk, row - i, kx);
#pragma GCC unroll 16
      for (int p = 0; p < Form::kPixels; ++p) {
        acc[i][p] = Form::Op::step(acc[i][p], value[p * Form::kStride + kx], weight);
      }
    }
  }
}

template <class Form, int From, int To>
inline __attribute__((always_inline)) void add_row(const RowWindow& w, const Chunk& chunk,
                                                   std::ptrdiff_t first_column, std::ptrdiff_t row,
                                                   const float* input,
                                                   Vec (&acc)[Form::kRows][Form::kPixels]) {
  if constexpr (Form::kRows > 1 && Form::kInside) {
    add_weights<Form, From, To>(w, chunk, row, input, acc);
  } else {
    add_columns<Form, From, To>(w, chunk, first_column, row, input, acc);
  }
}

/// Writes an output row of a block. `rows`: its input rows inside the image. kInside: all columns
/// are.
template <class Op, bool kInside>
inline __attribute__((always_inline)) void finish_block(const RowWindow& w, const Chunk& chunk,
                                                        std::ptrdiff_t first_column,
                                                        std::ptrdiff_t rows, const Vec* acc,
                                                        int pixels, float* output) {
  const Vec lowest = broadcast(chunk.lowest), highest = broadcast(chunk.highest);
  std::ptrdiff_t before = 0;
  Vec share = broadcast(0.0f);
#pragma GCC unroll 16  // otherwise the accumulators are in memory
  for (int p = 0; p < pixels; ++p) {
    const std::ptrdiff_t left = first_column + p * w.stride_width;
    const std::ptrdiff_t columns =
        kInside ? w.kernel_width : smaller(left + w.kernel_width, w.in_width) - larger(left, 0);
    if (p == 0 || columns != before) {  // a division for each pixel would cost as much as its sum
      share = Op::share(static_cast<float>(rows) * static_cast<float>(columns));
      before = columns;
    }
    store(output + p * w.channels, Op::finish(acc[p], share, lowest, highest), chunk.mask);
  }
}

template <class Form>
inline __attribute__((always_inline)) void fixed_block(const RowWindow& w, const Chunk& chunk,
                                                       std::ptrdiff_t first_column, float* output) {
  constexpr std::ptrdiff_t kKernel = Form::kKernel;
  Vec acc[Form::kRows][Form::kPixels];
  for (auto& row : acc) {
    for (Vec& one : row) one = Form::Op::start(chunk.bias);
  }
  const float* input = chunk.top + first_column * w.channels;
  std::ptrdiff_t row = chunk.begin;
  if constexpr (Form::kRows == 1) {
    for (; row < chunk.end; ++row, input += chunk.row_stride) {
      add_row<Form, 0, 1>(w, chunk, first_column, row, input, acc);
    }
  } else {
    if (row == 0 && chunk.end > 0) {
      add_row<Form, 0, 1>(w, chunk, first_column, row, input, acc);
      ++row;
      input += chunk.row_stride;
    }
    const std::ptrdiff_t both = smaller(chunk.end, kKernel);
    for (; row < both; ++row, input += chunk.row_stride) {
      add_row<Form, 0, 2>(w, chunk, first_column, row, input, acc);
    }
    if (row < chunk.end) add_row<Form, 1, 2>(w, chunk, first_column, row, input, acc);
  }
#pragma GCC unroll 2
  for (std::ptrdiff_t i = 0; i < Form::kRows; ++i) {
    const std::ptrdiff_t rows = smaller(chunk.end, kKernel + i) - larger(chunk.begin, i);
    finish_block<typename Form::Op, Form::kInside>(
        w, chunk, first_column, rows, acc[i], Form::kPixels, output + i * w.out_width * w.channels);
  }
}

/// Computes P outputs of any window.
template <class Op, int P>
inline void any_block(const RowWindow& w, const Chunk& chunk, std::ptrdiff_t first_column,
                      float* output) {
  Vec acc[P];
  for (int p = 0; p < P; ++p) acc[p] = Op::start(chunk.bias);
  const float* row = chunk.top;
  for (std::ptrdiff_t ky = chunk.begin; ky < chunk.end; ++ky, row += chunk.row_stride) {
    for (std::ptrdiff_t kx = 0; kx < w.kernel_width; ++kx) {
      const Vec weight =
          Op::kWeighted ? load(chunk.weights + (ky * w.kernel_width + kx) * kLanes) : chunk.bias;
      for (int p = 0; p < P; ++p) {
        const std::ptrdiff_t column = first_column + p * w.stride_width + kx;
        if (column < 0 || column >= w.in_width) continue;
        Vec value = load(row + column * w.channels, chunk.mask);
        if constexpr (Op::kWeighted) value = at_least(chunk.floor, value);
        acc[p] = Op::step(acc[p], value, weight);
      }
    }
  }
  finish_block<Op, false>(w, chunk, first_column, chunk.end - chunk.begin, acc, P, output);
}

/// Computes P pixels of R output rows. K = 0: any window.
template <class Op, int K, int S, int P, int R, bool kClamped>
inline __attribute__((always_inline)) void block(const RowWindow& w, const Chunk& chunk,
                                                 std::ptrdiff_t first_column, float* output) {
  if constexpr (K == 0) {
    any_block<Op, P>(w, chunk, first_column, output);
  } else {
    using Inside = BlockForm<Op, K, S, P, R, true, kClamped>;
    if (first_column >= 0 && first_column + Inside::kColumns <= w.in_width) {
      fixed_block<Inside>(w, chunk, first_column, output);
    } else {
      fixed_block<BlockForm<Op, K, S, P, R, false, kClamped>>(w, chunk, first_column, output);
    }
  }
}

/// Computes R rows of outputs, chunk by chunk, in blocks of P.
template <class Op, int K, int S, int P, int R, bool kClamped>
void rows_of(const RowWindow& w, const WindowTask& task) {
  const std::ptrdiff_t top = task.row * w.stride_height - w.pad_height;
  Chunk chunk;
  chunk.begin = larger(0, -top);
  chunk.end = smaller(w.kernel_height + (R - 1) * w.stride_height, w.in_height - top);
  chunk.row_stride = w.in_width * w.channels;
  chunk.floor = broadcast(task.floor);
  chunk.lowest = task.lowest;
  chunk.highest = task.highest;
  const float* rows = task.rows + (top + chunk.begin - task.first_row) * chunk.row_stride;
  const std::ptrdiff_t taps = w.kernel_height * w.kernel_width;
  for (std::ptrdiff_t c = task.first_chunk; c < task.last_chunk; ++c) {
    chunk.top = rows + c * kLanes;
    chunk.mask = mask_of(w.channels - c * kLanes);
    chunk.weights = Op::kWeighted ? task.weights + c * taps * kLanes : nullptr;
    chunk.bias = Op::kWeighted ? load(task.bias + c * kLanes) : broadcast(0.0f);
    float* output = task.output + c * kLanes;
    for (std::ptrdiff_t x = 0; x < w.out_width; x += P) {
      if (x + P > w.out_width) x = w.out_width - P;
      block<Op, K, S, P, R, kClamped>(w, chunk, x * w.stride_width - w.pad_width,
                                      output + x * w.channels);
    }
  }
}

template <class Op, int K, int S, int P, int R>
void window_rows(const RowWindow& w, const WindowTask& task) {
  if (Op::kWeighted && task.floor > -__builtin_inff()) {
    rows_of<Op, K, S, P, R, Op::kWeighted>(w, task);
  } else {
    rows_of<Op, K, S, P, R, false>(w, task);
  }
}

/// Returns the function for R rows with the block size that wastes least: a block costs its pixels
/// and about one and a half more, and the last may overlap. Null: no block is so small.
template <class Op, int K, int S, int R, int Index = 0>
WindowRow with_block_size(std::ptrdiff_t out_width, int best, double best_cost) {
  constexpr int kPixels = R == 1 ? kBlockSizes[Index] : kPairSizes[Index];
  if constexpr (kPixels == 0) {
    return nullptr;
  } else {
    const std::ptrdiff_t blocks = (out_width + kPixels - 1) / kPixels;
    const double cost = static_cast<double>(blocks) * (kPixels + 1.5);
    const bool better = kPixels <= out_width && (best < 0 || cost < best_cost);
    const WindowRow later = with_block_size<Op, K, S, R, Index + 1>(
        out_width, better ? Index : best, better ? cost : best_cost);
    if (later != nullptr) return later;
    return better ? &window_rows<Op, K, S, kPixels, R> : nullptr;
  }
}

template <class Op, int K, int S>
WindowRows fixed(const RowWindow& w) {
  const WindowRow one = with_block_size<Op, K, S, 1>(w.out_width, -1, 0.0);
  if constexpr (S == 1) return {one, with_block_size<Op, K, S, 2>(w.out_width, -1, 0.0)};
  return {one, nullptr};
}

template <class Op>
WindowRows any(const RowWindow& w) {
  return {w.out_width >= 4 ? &window_rows<Op, 0, 0, 4, 1> : &window_rows<Op, 0, 0, 1, 1>, nullptr};
}

bool square(const RowWindow& w, std::ptrdiff_t kernel, std::ptrdiff_t stride) {
  return w.kernel_height == kernel && w.kernel_width == kernel && w.stride_height == stride &&
         w.stride_width == stride;
}

WindowRows depthwise(const RowWindow& w) {
  if (square(w, 3, 1)) return fixed<Depthwise, 3, 1>(w);
  if (square(w, 3, 2)) return fixed<Depthwise, 3, 2>(w);
  if (square(w, 5, 1)) return fixed<Depthwise, 5, 1>(w);
  if (square(w, 5, 2)) return fixed<Depthwise, 5, 2>(w);
  if (square(w, 7, 1)) return fixed<Depthwise, 7, 1>(w);
  if (square(w, 7, 2)) return fixed<Depthwise, 7, 2>(w);
  return any<Depthwise>(w);
}

template <class Op>
WindowRows pool(const RowWindow& w) {
  if (square(w, 3, 1)) return fixed<Op, 3, 1>(w);
  if (square(w, 3, 2)) return fixed<Op, 3, 2>(w);
  return any<Op>(w);
}

}  // namespace
}  // namespace hios::cpu
