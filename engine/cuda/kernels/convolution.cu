// A convolution (kernels.h) as the product of a matrix of windows (a row for each output pixel, a
// column for each tap and input channel) with the weights. The windows are read directly from the
// input; no matrix is written. A thread block computes a tile of output pixels x output channels,
// depth step after depth step, from two buffers in shared memory. While one is multiplied, the next
// step's operands travel through registers into the other. A thread computes a few rows and columns
// of the tile.
// One inference has few pixels, so tiles alone often leave most of the GPU idle. Then each sum is
// cut into `split` parts, computed by blocks of their own and written separately, and a second
// kernel (finish) adds them in order. Nothing is added atomically: the bits are the same each time.
//
// There are no divisions between two steps: the position of a depth in the window is carried along.
// A multiprocessor shall have room for 512 threads, two blocks of the largest tile: while the
// threads of one wait at a barrier, the other multiplies. That gives a thread 128 registers, and
// none may be spilled (tests/engine/cuda/kernels/registers.py checks).
//
// The best tile and split for a shape is measured, not guessed
// (engine/cuda/operators/autotune.cpp). Compared with cuDNN and cuBLASLt, the relu before it and
// the bias, addend and function after it cost no pass, whichever function it is, and any group
// count and any number of channels are possible.
// tests/engine/cuda/kernels/convolution_test.cpp compares the bits with plain loops.
#include <limits>

#include "engine/cuda/kernels/epilogue.cuh"

namespace hios::cuda {
namespace {

constexpr int kNowhere = std::numeric_limits<int>::min();

/// The first tap of an output pixel's window, which may be outside the image. If there is no such
/// pixel, y is kNowhere, and all its taps are outside.
struct Corner {
  unsigned base;  // its first value; it wraps below zero, and back where a tap is inside
  int y, x;
};

__device__ __forceinline__ Corner corner_of(const TaskWindow& window, int pixel, int pixels) {
  if (pixel >= pixels) return {0, kNowhere, 0};
  const int row = pixel / window.out_width, w = pixel - row * window.out_width;
  const int image = row / window.out_height, h = row - image * window.out_height;
  const int y = h * window.stride_h - window.pad_h, x = w * window.stride_w - window.pad_w;
  const unsigned line = static_cast<unsigned>(image) * static_cast<unsigned>(window.height) +
                        static_cast<unsigned>(y);
  return {(line * static_cast<unsigned>(window.width) + static_cast<unsigned>(x)) *
              static_cast<unsigned>(window.channels),
          y, x};
}

/// Numbers that are the same for all threads and need divisions: computed once, on the host.
struct Counts {
  int pixels, group_channels, group_outputs;
  int depth, part_depth;  // the depth of a sum, and of one of its parts
  // kTileDepth in rows of taps, taps and channels.
  int step_h, step_w, step_channel;
};

/// The tap and channel of a depth. All loads of a thread are at one depth and advance by
/// kTileDepth, by additions and carries. A tap is smaller than twice the window's, a channel
/// smaller than twice the group's, so one carry each suffices.
template <bool pointwise>
struct Walk {
  int channel = 0, kh = 0, kw = 0;

  __device__ __forceinline__ Walk(const TaskWindow& window, const Counts& counts, int depth) {
    if constexpr (pointwise) {
      channel = depth;
    } else {
      const int tap = depth / counts.group_channels;
      channel = depth - tap * counts.group_channels;
      kh = tap / window.kernel_w;
      kw = tap - kh * window.kernel_w;
    }
  }
  __device__ __forceinline__ void step(const TaskWindow& window, const Counts& counts) {
    if constexpr (pointwise) {
      channel += kTileDepth;
      return;
    }
    channel += counts.step_channel;
    const bool next_tap = channel >= counts.group_channels;
    if (next_tap) channel -= counts.group_channels;
    kw += counts.step_w + (next_tap ? 1 : 0);
    const bool next_row = kw >= window.kernel_w;
    if (next_row) kw -= window.kernel_w;
    kh += counts.step_h + (next_row ? 1 : 0);
  }
};

__device__ __forceinline__ void read_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

/// A block of threads and its tile: each thread computes `rows` x `columns` of it.
template <int tile_m, int tile_n, int rows, int columns, int vector>
struct Shape {
  static constexpr int kAcross = tile_n / columns;  // threads
  static constexpr int kBlock = tile_m / rows * kAcross;
  static constexpr int kChunks = kTileDepth / vector;  // chunks of a tile's line along the depth
  static constexpr int kLoadsM = (tile_m * kChunks + kBlock - 1) / kBlock;
  static constexpr int kLoadsN = (tile_n * kChunks + kBlock - 1) / kBlock;
  static_assert(tile_m * kChunks % kBlock == 0 && tile_n * kChunks % kBlock == 0);
  /// Blocks that share a multiprocessor, whose 65,536 registers give each thread 128.
  static constexpr int kBlocks = 512 / kBlock;
  /// The largest share needs half of the registers for its sums and must keep less in the others.
  static constexpr bool kShort = rows * columns >= 64;
  static constexpr bool kCornersShared = kShort && vector == 1;
  static constexpr int kUnroll = kShort ? 2 : kTileDepth;
};

/// Writes a thread's sums, or parts of them; fours of columns are `apart`.
template <class T, int rows, int columns, int apart>
__device__ __forceinline__ void write_sums(const ConvolutionTask& task, const Counts& counts,
                                           const float (&sums)[rows][columns], int group, int part,
                                           int first_pixel, int first_output) {
  const bool last = task.split == 1;  // no second kernel computes the epilogue
  auto* const output = static_cast<T*>(task.output);
  const int channels = task.window.out_channels;
  const long long part_at = static_cast<long long>(part) * counts.pixels * channels;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int pixel = first_pixel + r;
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const int in_group = first_output + c / 4 * apart + c % 4;
      if (pixel >= counts.pixels || in_group >= counts.group_outputs) continue;
      const int channel = group * counts.group_outputs + in_group;
      const long long at = static_cast<long long>(pixel) * channels + channel;
      Values<1> value = {{sums[r][c]}};
      if (!last) {
        task.partials[part_at + at] = sums[r][c];
        continue;
      }
      add_bias<T>(task.after, channel, value);
      add_and_activate<T>(task.after, at, value);
      store_one(output + at, value.v[0]);
    }
  }
}

template <class T, int tile_m, int tile_n, int rows, int columns, int vector, bool pointwise>
__global__ void __launch_bounds__(Shape<tile_m, tile_n, rows, columns, vector>::kBlock,
                                  Shape<tile_m, tile_n, rows, columns, vector>::kBlocks)
    convolution_kernel(const ConvolutionTask task, const Counts counts) {
  using Is = Shape<tile_m, tile_n, rows, columns, vector>;
  constexpr int kPadding = 4;
  __shared__ __align__(16) float left[2][kTileDepth][tile_m + kPadding];
  __shared__ __align__(16) float right[2][kTileDepth][tile_n + kPadding];

  const TaskWindow& window = task.window;
  const int group = static_cast<int>(blockIdx.z) / task.split;
  const int part = static_cast<int>(blockIdx.z) - group * task.split;
  const int begin = part * counts.part_depth;
  const int end = min(counts.depth, begin + counts.part_depth);
  const int first_pixel = static_cast<int>(blockIdx.x) * tile_m;
  const int first_output = static_cast<int>(blockIdx.y) * tile_n;  // in the group
  const int thread = static_cast<int>(threadIdx.x);
  const int chunk = thread % Is::kChunks * vector;  // the same for all loads of a thread
  const int line = thread / Is::kChunks;  // the first load's; the others' are kLines apart
  constexpr int kLines = Is::kBlock / Is::kChunks;
  static_assert(Is::kBlock % Is::kChunks == 0);

  // Corners of the lines that a thread loads, in its registers; if these are scarce, of all lines,
  // shared.
  Corner corners[Is::kCornersShared ? 1 : Is::kLoadsM];
  __shared__ Corner shared_corners[Is::kCornersShared ? tile_m : 1];
  if constexpr (Is::kCornersShared) {
    for (int i = thread; i < tile_m; i += Is::kBlock) {
      shared_corners[i] = corner_of(window, first_pixel + i, counts.pixels);
    }
    __syncthreads();
  } else {
#pragma unroll
    for (int i = 0; i < Is::kLoadsM; ++i) {
      corners[i] = corner_of(window, first_pixel + line + i * kLines, counts.pixels);
    }
  }
  Walk<pointwise> walk(window, counts, begin + chunk);
  const T* const input = static_cast<const T*>(task.input) + group * counts.group_channels;
  const unsigned weights_at =
      static_cast<unsigned>(group * counts.group_outputs + first_output + line) *
          static_cast<unsigned>(counts.depth) +
      static_cast<unsigned>(chunk);

  // In their memory format: they are widened and clipped when they are stored, so that nothing
  // waits for them before the step during which they travel has been multiplied.
  Pack<T, vector> next_left[Is::kLoadsM], next_right[Is::kLoadsN];
  const auto fetch = [&](int k) {  // the begin first, then advancing by kTileDepth
    const bool within = k + chunk < end;
    const int down = pointwise ? 0 : walk.kh * window.dilation_h;
    const int across = pointwise ? 0 : walk.kw * window.dilation_w;
    const unsigned offset = (static_cast<unsigned>(down) * static_cast<unsigned>(window.width) +
                             static_cast<unsigned>(across)) *
                                static_cast<unsigned>(window.channels) +
                            static_cast<unsigned>(walk.channel);
#pragma unroll
    for (int i = 0; i < Is::kLoadsM; ++i) {
      const Corner& corner = Is::kCornersShared ? shared_corners[line + i * kLines]
                                                : corners[Is::kCornersShared ? 0 : i];
      const int y = corner.y + down, x = corner.x + across;
      const bool inside =
          pointwise ? y >= 0 : y >= 0 && y < window.height && x >= 0 && x < window.width;
      next_left[i] =
          within && inside ? load_pack<vector>(input + (corner.base + offset)) : Pack<T, vector>{};
    }
#pragma unroll
    for (int i = 0; i < Is::kLoadsN; ++i) {
      const bool there = within && first_output + line + i * kLines < counts.group_outputs;
      next_right[i] = there
                          ? load_pack<vector>(
                                static_cast<const T*>(task.weights) +
                                (weights_at + static_cast<unsigned>(i * kLines * counts.depth + k)))
                          : Pack<T, vector>{};
    }
    walk.step(window, counts);
  };
  const auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < Is::kLoadsM; ++i) {
      Values<vector> values = widen(next_left[i]);
      if (task.relu_before) relu(values);
#pragma unroll
      for (int v = 0; v < vector; ++v) left[buffer][chunk + v][line + i * kLines] = values.v[v];
    }
#pragma unroll
    for (int i = 0; i < Is::kLoadsN; ++i) {
      const Values<vector> values = widen(next_right[i]);
#pragma unroll
      for (int v = 0; v < vector; ++v) right[buffer][chunk + v][line + i * kLines] = values.v[v];
    }
  };

  // A thread's columns are fours that are kAcross fours apart: neighbouring threads read
  // neighbouring fours.
  const int my_column = thread % Is::kAcross * 4;
  const int my_row = thread / Is::kAcross * rows;
  float sums[rows][columns] = {};
  const auto multiply = [&](int buffer) {
#pragma unroll Is::kUnroll
    for (int k = 0; k < kTileDepth; ++k) {
      float a[rows], b[columns];
#pragma unroll
      for (int r = 0; r < rows; r += 4) read_four(&left[buffer][k][my_row + r], a + r);
#pragma unroll
      for (int c = 0; c < columns; c += 4) {
        read_four(&right[buffer][k][my_column + c * Is::kAcross], b + c);
      }
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int c = 0; c < columns; ++c) sums[r][c] = fmaf(a[r], b[c], sums[r][c]);
      }
    }
  };

  fetch(begin);
  put(0);
  __syncthreads();
  int buffer = 0;
  for (int k = begin; k < end; k += kTileDepth, buffer ^= 1) {
    const bool more = k + kTileDepth < end;
    if (more) fetch(k + kTileDepth);
    multiply(buffer);
    if (more) put(buffer ^ 1);
    __syncthreads();
  }

  write_sums<T, rows, columns, 4 * Is::kAcross>(task, counts, sums, group, part,
                                                first_pixel + my_row, first_output + my_column);
}

Counts counts_of(const ConvolutionTask& task) {
  const TaskWindow& window = task.window;
  Counts counts;
  counts.pixels = window.images * window.out_height * window.out_width;
  counts.group_channels = window.channels / task.groups;
  counts.group_outputs = window.out_channels / task.groups;
  counts.depth = window.kernel_h * window.kernel_w * counts.group_channels;
  const int steps = (counts.depth + kTileDepth - 1) / kTileDepth;
  counts.part_depth = (steps + task.split - 1) / task.split * kTileDepth;
  const int taps = kTileDepth / counts.group_channels;
  counts.step_channel = kTileDepth - taps * counts.group_channels;
  counts.step_h = taps / window.kernel_w;
  counts.step_w = taps - counts.step_h * window.kernel_w;
  return counts;
}

/// Rows and columns of a thread, by tile.
struct Share {
  int rows, columns;
};
constexpr Share kShares[kTileCount] = {{8, 8}, {8, 4}, {4, 4}, {4, 4}, {4, 4}};

template <class T, int index, int vector, bool pointwise>
constexpr auto kKernel =
    convolution_kernel<T, kTiles[index].pixels, kTiles[index].channels, kShares[index].rows,
                       kShares[index].columns, vector, pointwise>;

template <class T, int index, int vector, bool pointwise>
cudaError_t launch(const ConvolutionTask& task, cudaStream_t stream) {
  constexpr Tile kTile = kTiles[index];
  constexpr Share kShare = kShares[index];
  constexpr int kBlock =
      Shape<kTile.pixels, kTile.channels, kShare.rows, kShare.columns, vector>::kBlock;
  const Counts counts = counts_of(task);
  const dim3 grid(
      static_cast<unsigned>((counts.pixels + kTile.pixels - 1) / kTile.pixels),
      static_cast<unsigned>((counts.group_outputs + kTile.channels - 1) / kTile.channels),
      static_cast<unsigned>(task.groups * task.split));
  return queue_kernel(kKernel<T, index, vector, pointwise>, grid, kBlock, stream, task, counts);
}

template <class T, int vector, bool pointwise>
cudaError_t launch_tile(const ConvolutionTask& task, int tile, cudaStream_t stream) {
  switch (tile) {
    case 0:
      return launch<T, 0, vector, pointwise>(task, stream);
    case 1:
      return launch<T, 1, vector, pointwise>(task, stream);
    case 2:
      return launch<T, 2, vector, pointwise>(task, stream);
    case 3:
      return launch<T, 3, vector, pointwise>(task, stream);
    default:
      return launch<T, 4, vector, pointwise>(task, stream);
  }
}

/// Returns true if input channels come in fours in each group, as fours along the depth need.
bool in_fours(const ConvolutionTask& task) { return task.window.channels % (4 * task.groups) == 0; }

/// Returns true for one tap, if no pixel of the output reads outside the image.
bool is_pointwise(const TaskWindow& window) {
  return window.kernel_h == 1 && window.kernel_w == 1 && window.pad_h == 0 && window.pad_w == 0 &&
         (window.out_height - 1) * window.stride_h < window.height &&
         (window.out_width - 1) * window.stride_w < window.width;
}

template <class T, int index>
cudaError_t load_tile() {
  return first_error({load_kernel(kKernel<T, index, 4, true>),
                      load_kernel(kKernel<T, index, 4, false>),
                      load_kernel(kKernel<T, index, 1, false>)});
}

template <class T>
cudaError_t load_all() {
  return first_error({load_tile<T, 0>(), load_tile<T, 1>(), load_tile<T, 2>(), load_tile<T, 3>(),
                      load_tile<T, 4>()});
}

}  // namespace

cudaError_t convolution(const ConvolutionTask& task, int tile, cudaStream_t stream) {
  const cudaError_t error = with_element(task.element, [&](auto element) {
    using T = decltype(element);
    if (!in_fours(task)) return launch_tile<T, 1, false>(task, tile, stream);
    return is_pointwise(task.window) ? launch_tile<T, 4, true>(task, tile, stream)
                                     : launch_tile<T, 4, false>(task, tile, stream);
  });
  if (error != cudaSuccess || task.split == 1) return error;
  return finish({.element = task.element,
                 .partials = task.partials,
                 .count = task.split,
                 .after = task.after,
                 .output = task.output,
                 .pixels = task.window.images * task.window.out_height * task.window.out_width,
                 .channels = task.window.out_channels},
                stream);
}

cudaError_t load_convolution() { return first_error({load_all<float>(), load_all<__half>()}); }

}  // namespace hios::cuda
