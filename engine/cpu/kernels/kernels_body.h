// The loops of kernels.h over a vector type that the including file has defined: Vec, Mask, kLanes,
// kBlockSizes and the few operations on them. Everything here is in an unnamed namespace, so that
// the linker can never use code for one instruction set in the stead of another's. For the same
// reason nothing of the standard library is used.
//
// Windows. A block is P neighbouring output pixels of one chunk of channels, its accumulators in
// registers. For each kernel row its K weights are loaded once, then each of the (P−1)·S+K input
// columns once, and that column feeds all outputs it belongs to: K·P multiply-adds for about P+2K
// loads. A relu before the layer is a maximum with each column as it is loaded, which costs less
// than another pass over the tensor. Columns and rows outside the image are skipped, which is zero
// padding (and, in pools, no padding at all). If P does not divide a width, the last block overlaps
// the one before and writes the same values again.
//
// Rows go from top to bottom, chunks within a row, so the source is read in memory order. (Chunk by
// chunk over a whole plane, which keeps one chunk in the first-level cache, took 1.1 to 2 times as
// long. Prefetches of the next rows took 1.1 to 1.4 times as long on a Xeon, as the first-level
// cache does not hold them until then.)
#pragma once

#include "engine/cpu/kernels/channels_body.h"
#include "engine/cpu/kernels/elementwise_body.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/panels_body.h"
#include "engine/cpu/kernels/winograd_body.h"

namespace hios::cpu {
namespace {

constexpr std::ptrdiff_t smaller(std::ptrdiff_t a, std::ptrdiff_t b) { return a < b ? a : b; }
constexpr std::ptrdiff_t larger(std::ptrdiff_t a, std::ptrdiff_t b) { return a > b ? a : b; }

/// The operation of a window on its inputs. An accumulator begins as start(), takes inputs by
/// step() and gives its result by finish().
struct Depthwise {
  static constexpr bool kWeighted = true;
  static Vec start(const Vec& bias) { return bias; }
  static Vec step(const Vec& acc, const Vec& value, const Vec& weight) {
    return fma(value, weight, acc);
  }
  static Vec finish(const Vec& acc, float, const Vec& lowest, const Vec& highest) {
    return at_most(highest, at_least(lowest, acc));
  }
};

struct Maximum {
  static constexpr bool kWeighted = false;
  static Vec start(const Vec&) { return broadcast(-__builtin_inff()); }
  static Vec step(const Vec& acc, const Vec& value, const Vec&) { return at_least(acc, value); }
  static Vec finish(const Vec& acc, float, const Vec&, const Vec&) { return acc; }
};

struct Average {
  static constexpr bool kWeighted = false;
  static Vec start(const Vec&) { return broadcast(0.0f); }
  static Vec step(const Vec& acc, const Vec& value, const Vec&) { return add(acc, value); }
  static Vec finish(const Vec& acc, float inputs, const Vec&, const Vec&) {
    return mul(acc, broadcast(1.0f / inputs));
  }
};

/// The chunk of a block, and the addresses of its rows.
struct Chunk {
  const float* top;           // channel 0 of the chunk, column 0, input row of kernel row `begin`
  std::ptrdiff_t begin, end;  // kernel rows inside the image
  std::ptrdiff_t row_stride;  // floats from one input row to the next
  const float* weights;
  Vec bias, floor;
  float lowest, highest;
  Mask mask;
};

template <class Op>
inline void finish_block(const RowWindow& w, const Chunk& chunk, std::ptrdiff_t first_column,
                         const Vec* acc, int pixels, float* output) {
  const float rows = static_cast<float>(chunk.end - chunk.begin);
  const Vec lowest = broadcast(chunk.lowest), highest = broadcast(chunk.highest);
  for (int p = 0; p < pixels; ++p) {
    const std::ptrdiff_t left = first_column + p * w.stride_width;
    const std::ptrdiff_t columns = smaller(left + w.kernel_width, w.in_width) - larger(left, 0);
    store(output + p * w.channels,
          Op::finish(acc[p], rows * static_cast<float>(columns), lowest, highest), chunk.mask);
  }
}

/// Computes P outputs of a K × K window with stride S. kInside: all columns lie in the image.
/// kClamped: a relu comes before the layer.
template <class Op, int K, int S, int P, bool kInside, bool kClamped>
inline __attribute__((always_inline)) void fixed_block(const RowWindow& w, const Chunk& chunk,
                                                       std::ptrdiff_t first_column, float* output) {
  const std::ptrdiff_t low = -first_column, high = w.in_width - first_column;
  const std::ptrdiff_t pixel = w.channels;
  Vec acc[P];
  for (int p = 0; p < P; ++p) acc[p] = Op::start(chunk.bias);
  const float* row = chunk.top + first_column * pixel;
  for (std::ptrdiff_t ky = chunk.begin; ky < chunk.end; ++ky, row += chunk.row_stride) {
    Vec weight[K];
    for (int kx = 0; kx < K; ++kx) {
      weight[kx] = Op::kWeighted ? load(chunk.weights + (ky * K + kx) * kLanes) : chunk.bias;
    }
#pragma GCC unroll 64
    for (int x = 0; x < (P - 1) * S + K; ++x) {
      if (!kInside && (x < low || x >= high)) continue;
      Vec value = load(row + x * pixel, chunk.mask);
      if constexpr (kClamped) value = at_least(chunk.floor, value);
#pragma GCC unroll 16
      for (int kx = 0; kx < K; ++kx) {
        const int from = x - kx;
        if (from >= 0 && from % S == 0 && from / S < P) {
          acc[from / S] = Op::step(acc[from / S], value, weight[kx]);
        }
      }
    }
  }
  finish_block<Op>(w, chunk, first_column, acc, P, output);
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
  finish_block<Op>(w, chunk, first_column, acc, P, output);
}

/// Computes a row of outputs, chunk by chunk, in blocks of P. K = 0: any window.
template <class Op, int K, int S, int P, bool kClamped>
void window_row_of(const RowWindow& w, const WindowTask& task) {
  const std::ptrdiff_t top = task.row * w.stride_height - w.pad_height;
  Chunk chunk;
  chunk.begin = larger(0, -top);
  chunk.end = smaller(w.kernel_height, w.in_height - top);
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
      const std::ptrdiff_t first_column = x * w.stride_width - w.pad_width;
      if constexpr (K == 0) {
        any_block<Op, P>(w, chunk, first_column, output + x * w.channels);
      } else {
        constexpr std::ptrdiff_t kColumns = (P - 1) * S + K;
        float* const pixels = output + x * w.channels;
        if (first_column >= 0 && first_column + kColumns <= w.in_width) {
          fixed_block<Op, K, S, P, true, kClamped>(w, chunk, first_column, pixels);
        } else {
          fixed_block<Op, K, S, P, false, kClamped>(w, chunk, first_column, pixels);
        }
      }
    }
  }
}

template <class Op, int K, int S, int P>
void window_row(const RowWindow& w, const WindowTask& task) {
  if (Op::kWeighted && task.floor > -__builtin_inff()) {
    window_row_of<Op, K, S, P, Op::kWeighted>(w, task);
  } else {
    window_row_of<Op, K, S, P, false>(w, task);
  }
}

/// Returns the row function with the block size that wastes least: a block costs its pixels and
/// about one and a half more, and the last may overlap.
template <class Op, int K, int S, int Index = 0>
WindowRow with_block_size(std::ptrdiff_t out_width, int best, double best_cost) {
  constexpr int kCount = sizeof(kBlockSizes) / sizeof(kBlockSizes[0]);
  if constexpr (Index == kCount) {
    return nullptr;
  } else {
    constexpr int kPixels = kBlockSizes[Index];
    const std::ptrdiff_t blocks = (out_width + kPixels - 1) / kPixels;
    const double cost = static_cast<double>(blocks) * (kPixels + 1.5);
    const bool better = kPixels <= out_width && (best < 0 || cost < best_cost);
    const WindowRow later = with_block_size<Op, K, S, Index + 1>(out_width, better ? Index : best,
                                                                 better ? cost : best_cost);
    if (later != nullptr) return later;
    return better ? &window_row<Op, K, S, kPixels> : nullptr;
  }
}

template <class Op, int K, int S>
WindowRow fixed(const RowWindow& w) {
  return with_block_size<Op, K, S>(w.out_width, -1, 0.0);
}

template <class Op>
WindowRow any(const RowWindow& w) {
  return w.out_width >= 4 ? &window_row<Op, 0, 0, 4> : &window_row<Op, 0, 0, 1>;
}

bool square(const RowWindow& w, std::ptrdiff_t kernel, std::ptrdiff_t stride) {
  return w.kernel_height == kernel && w.kernel_width == kernel && w.stride_height == stride &&
         w.stride_width == stride;
}

WindowRow depthwise(const RowWindow& w) {
  if (square(w, 3, 1)) return fixed<Depthwise, 3, 1>(w);
  if (square(w, 3, 2)) return fixed<Depthwise, 3, 2>(w);
  if (square(w, 5, 1)) return fixed<Depthwise, 5, 1>(w);
  if (square(w, 5, 2)) return fixed<Depthwise, 5, 2>(w);
  if (square(w, 7, 1)) return fixed<Depthwise, 7, 1>(w);
  if (square(w, 7, 2)) return fixed<Depthwise, 7, 2>(w);
  return any<Depthwise>(w);
}

template <class Op>
WindowRow pool(const RowWindow& w) {
  if (square(w, 3, 1)) return fixed<Op, 3, 1>(w);
  if (square(w, 3, 2)) return fixed<Op, 3, 2>(w);
  return any<Op>(w);
}

/// Computes one run of `count` neighbouring values. Terms = 0: task.term_count of them.
template <int Terms>
inline void combine_run(const CombineTask& task, std::size_t offset, float* output,
                        std::size_t count) {
  const std::size_t terms = Terms != 0 ? Terms : task.term_count;
  const Vec floor = broadcast(task.floor);
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    Vec sum = load(task.terms[0] + offset + i);
    for (std::size_t t = 1; t < terms; ++t) sum = add(sum, load(task.terms[t] + offset + i));
    store(output + i, at_least(floor, sum));
  }
  if (whole == count) return;
  const Mask mask = mask_of(static_cast<std::ptrdiff_t>(count - whole));
  Vec sum = load(task.terms[0] + offset + whole, mask);
  for (std::size_t t = 1; t < terms; ++t)
    sum = add(sum, load(task.terms[t] + offset + whole, mask));
  store(output + whole, at_least(floor, sum), mask);
}

template <int Terms>
void combine_terms(const CombineTask& task) {
  if (task.term_stride == task.channels && task.output_stride == task.channels) {
    combine_run<Terms>(task, task.term_offset, task.output, task.pixels * task.channels);
    return;
  }
  for (std::size_t p = 0; p < task.pixels; ++p) {
    combine_run<Terms>(task, task.term_offset + p * task.term_stride,
                       task.output + p * task.output_stride, task.channels);
  }
}

void combine(const CombineTask& task) {
  if (task.term_count == 1) return combine_terms<1>(task);
  if (task.term_count == 2) return combine_terms<2>(task);
  if (task.term_count == 3) return combine_terms<3>(task);
  combine_terms<0>(task);
}

void gate(const GateTask& task) {
  const std::size_t whole = task.channels - task.channels % kLanes;
  const Mask rest = mask_of(static_cast<std::ptrdiff_t>(task.channels - whole));
  for (std::size_t p = 0; p < task.pixels; ++p) {
    const float* const input = task.input + p * task.input_stride;
    float* const output = task.output + p * task.channels;
    for (std::size_t c = 0; c < whole; c += kLanes)
      store(output + c, mul(load(input + c), load(task.gate + c)));
    if (whole == task.channels) continue;
    store(output + whole, mul(load(input + whole, rest), load(task.gate + whole, rest)), rest);
  }
}

/// Averages V chunks of channels at a time, over all pixels.
template <int V>
inline void mean_of_chunks(const MeanTask& task, std::size_t channel, Mask last) {
  Vec sum[V];
  for (int v = 0; v < V; ++v) sum[v] = broadcast(0.0f);
  const float* pixel = task.input + channel;
  for (std::size_t p = 0; p < task.pixels; ++p, pixel += task.channels) {
    for (int v = 0; v + 1 < V; ++v) sum[v] = add(sum[v], load(pixel + v * kLanes));
    sum[V - 1] = add(sum[V - 1], load(pixel + (V - 1) * kLanes, last));
  }
  const Vec scale = broadcast(task.scale);
  for (int v = 0; v + 1 < V; ++v) store(task.output + channel + v * kLanes, mul(sum[v], scale));
  store(task.output + channel + (V - 1) * kLanes, mul(sum[V - 1], scale), last);
}

void channel_means(const MeanTask& task) {
  constexpr std::size_t kWide = 4;
  std::size_t channel = task.first_channel;
  for (; channel + kWide * kLanes <= task.last_channel; channel += kWide * kLanes) {
    mean_of_chunks<kWide>(task, channel, mask_of(kLanes));
  }
  for (; channel < task.last_channel; channel += kLanes) {
    mean_of_chunks<1>(task, channel,
                      mask_of(static_cast<std::ptrdiff_t>(task.last_channel - channel)));
  }
}

}  // namespace

const Kernels HIOS_KERNELS = {HIOS_KERNELS_NAME, kLanes,          &runs_here,
                              &depthwise,        &pool<Maximum>,  &pool<Average>,
                              &combine,          &channel_means,  &normalize_channels,
                              &softmax_channels, kUnaryRuns,      kBinaryRuns,
                              &weighted_sum,     &gate,           &winograd_input,
                              &winograd_output,  &multiply_panel, kPanelRows};

}  // namespace hios::cpu
