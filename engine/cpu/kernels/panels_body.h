// Products of few rows and many weights over the vector type of the including file (see
// kernels_body.h). Where rows are few, weights come from memory as fast as they are used, and a
// library's loops wait for them: 49 rows with 1232×1232 weights take 1.5 times the time of their
// multiply-adds. So each step also asks for the weights that are used some thousand cycles later.
//
// Loops: the weights of a panel in blocks of the depth; for each the rows in tiles, whose sums are
// in registers. Sums go to the output between blocks. A tile asks for its share of the next block,
// one line at a time. The weights of a block come from the second-level cache for each tile.
// With three chunks a step of nine rows takes 27 multiply-adds and three lines of weights.
#pragma once

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {
namespace {

constexpr std::ptrdiff_t kPanelLine = 16;  // of a cache line

/// The most rows of a tile with V chunks of columns. More than 14 gained nothing.
template <int V>
constexpr int kPanelRows = kPanelSums / V < 14 ? kPanelSums / V : 14;

/// A tile: some rows of a panel's block.
struct PanelTile {
  const float* input;
  const float* weights;
  std::ptrdiff_t depth;
  bool first, last;  ///< blocks of the depth
  const float* addend;
  float* output;
};

/// The weights to ask for: `lines` for every four steps of the depth, up to `end`.
struct PanelAhead {
  const float* next;
  const float* end;
  std::ptrdiff_t lines;

  inline void ask() {
    for (std::ptrdiff_t i = 0; i < lines && next < end; ++i, next += kPanelLine) {
      __builtin_prefetch(next, 0, 2);
    }
  }
};

/// Adds one step of the depth to P rows of V vectors.
template <int P, int V>
inline __attribute__((always_inline)) void panel_step(Vec (&sums)[P][V], const float* input,
                                                      std::ptrdiff_t stride, const float* weights) {
  Vec weight[V];
  for (int v = 0; v < V; ++v) weight[v] = load(weights + v * kLanes);
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) {
    const Vec value = broadcast(input[p * stride]);
    for (int v = 0; v < V; ++v) sums[p][v] = fma(value, weight[v], sums[p][v]);
  }
}

template <int P, int V>
inline void panel_tile(const PanelTask& task, const PanelTile& tile, PanelAhead& ahead) {
  constexpr int kSteps = 4;
  Mask masks[V];
  for (int v = 0; v < V; ++v) masks[v] = mask_of(task.columns - v * kLanes);
  Vec sums[P][V];
  for (int p = 0; p < P; ++p) {
    for (int v = 0; v < V; ++v) {
      const float* const output = tile.output + p * task.output_stride + v * kLanes;
      sums[p][v] = tile.first ? broadcast(0.0f) : load(output, masks[v]);
    }
  }
  std::ptrdiff_t k = 0;
  for (; k + kSteps <= tile.depth; k += kSteps) {
    ahead.ask();
#pragma GCC unroll 4
    for (int step = 0; step < kSteps; ++step) {
      panel_step<P, V>(sums, tile.input + k + step, task.input_stride,
                       tile.weights + (k + step) * V * kLanes);
    }
  }
  for (; k < tile.depth; ++k) {
    panel_step<P, V>(sums, tile.input + k, task.input_stride, tile.weights + k * V * kLanes);
  }
  for (int p = 0; p < P; ++p) {
    const std::ptrdiff_t row = p * task.output_stride;
    for (int v = 0; v < V; ++v) {
      Vec sum = sums[p][v];
      if (tile.last) {
        sum = add(sum, load(task.bias + v * kLanes));
        if (tile.addend != nullptr) {
          sum = add(sum, load(tile.addend + row + v * kLanes, masks[v]));
        }
        sum = at_most(broadcast(task.ceiling), at_least(broadcast(task.floor), sum));
      }
      store(tile.output + row + v * kLanes, sum, masks[v]);
    }
  }
}

/// Computes a tile of `rows` ≤ P.
template <int P, int V>
void panel_rows(std::ptrdiff_t rows, const PanelTask& task, const PanelTile& tile,
                PanelAhead& ahead) {
  if constexpr (P > 0) {
    if (rows == P) return panel_tile<P, V>(task, tile, ahead);
    panel_rows<P - 1, V>(rows, task, tile, ahead);
  }
}

template <int V>
void panel_of(const PanelTask& task) {
  const std::ptrdiff_t width = V * kLanes;
  const std::ptrdiff_t blocks = (task.depth + task.block_depth - 1) / task.block_depth;
  const std::ptrdiff_t each = ((task.depth + blocks - 1) / blocks + 3) / 4 * 4;
  const std::ptrdiff_t tiles = (task.rows + kPanelRows<V> - 1) / kPanelRows<V>;
  const std::ptrdiff_t lines = 4 * width / kPanelLine;
  for (std::ptrdiff_t k = 0; k < task.depth; k += each) {
    const std::ptrdiff_t left = task.depth - k;
    const std::ptrdiff_t depth = left < each ? left : each;
    const float* const weights = task.weights + k * width;
    const float* const next = weights + depth * width;
    PanelAhead ahead{next, next + each * width, (lines + tiles - 1) / tiles};
    for (std::ptrdiff_t t = 0; t < tiles; ++t) {
      const std::ptrdiff_t begin = task.rows * t / tiles, end = task.rows * (t + 1) / tiles;
      const std::ptrdiff_t at = begin * task.output_stride;
      panel_rows<kPanelRows<V>, V>(
          end - begin, task,
          {task.input + begin * task.input_stride + k, weights, depth, k == 0, left <= each,
           task.addend != nullptr ? task.addend + at : nullptr, task.output + at},
          ahead);
    }
  }
}

void multiply_panel(const PanelTask& task) {
  if constexpr (kPanelChunks > 2) {
    if (task.columns > 2 * kLanes) return panel_of<3>(task);
  }
  if (task.columns > kLanes) return panel_of<2>(task);
  panel_of<1>(task);
}

}  // namespace
}  // namespace hios::cpu
