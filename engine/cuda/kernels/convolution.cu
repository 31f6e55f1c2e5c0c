// Part of engine/cuda/kernels/kernels.h.
// A convolution as the product of a matrix of windows (a row an output pixel, a column a tap and
// input channel) with the weights; the windows are read where they lie, no matrix is written. A
// thread block makes a tile of output pixels x output channels, depth step after depth step, from
// two buffers in shared memory: while one is multiplied, the next step's operands are on their way
// through registers into the other. A thread makes a few rows and columns of the tile.
//
// One inference has few pixels, so tiles alone often leave most of the GPU idle: then each sum is
// cut into `split` parts, made by blocks of their own and written side by side, and a second kernel
// (finish) adds them up in order. Nothing is added atomically: the bits are the same each time.
//
// Which tile and split is best for a shape is measured, not guessed (choice.cpp). What cuDNN and
// cuBLASLt lack here: the relu in front costs no pass, bias and relu behind neither, any group
// count, and channels that fill no vector.
#include "engine/cuda/kernels/common.cuh"

namespace hios::cuda {
namespace {

/// What a thread needs of one output pixel to read its window: where it starts.
struct Corner {
  long long image;  // in values
  int y, x;         // of the window's first tap; may lie outside
  bool inside;      // false: no such pixel
};

__device__ __forceinline__ Corner corner_of(const TaskWindow& window, int pixel, int pixels) {
  const int row = pixel / window.out_width, w = pixel - row * window.out_width;
  const int image = row / window.out_height, h = row - image * window.out_height;
  return {static_cast<long long>(image) * window.height * window.width * window.channels,
          h * window.stride_h - window.pad_h, w * window.stride_w - window.pad_w, pixel < pixels};
}

/// The window's values at depth k (and the next ones): zero outside the image, or past the end.
template <class T, int vector, bool pointwise>
__device__ __forceinline__ Values<vector> window_values(const ConvolutionTask& task,
                                                        const Corner& corner, int k, int end,
                                                        int group_channels, int first_channel) {
  const TaskWindow& window = task.window;
  if (!corner.inside || k >= end) return filled<vector>(0.0f);
  int y = corner.y, x = corner.x, channel = k;
  if constexpr (!pointwise) {
    const int tap = k / group_channels;
    channel = k - tap * group_channels;
    const int kh = tap / window.kernel_w;
    y += kh;
    x += tap - kh * window.kernel_w;
    if (y < 0 || y >= window.height || x < 0 || x >= window.width) return filled<vector>(0.0f);
  }
  const long long pixel = static_cast<long long>(y) * window.width + x;
  Values<vector> values = load<vector>(static_cast<const T*>(task.input) + corner.image +
                                       pixel * window.channels + first_channel + channel);
  if (task.relu_before) relu(values);
  return values;
}

template <int tile_m, int tile_n, int rows, int vector, bool pointwise>
struct Shape {
  static constexpr int kColumns = 4;                 // of a thread
  static constexpr int kAcross = tile_n / kColumns;  // threads
  static constexpr int kBlock = tile_m / rows * kAcross;
  static constexpr int kChunks = kTileDepth / vector;  // of a tile's line along the depth
  static constexpr int kLoadsM = (tile_m * kChunks + kBlock - 1) / kBlock;
  static constexpr int kLoadsN = (tile_n * kChunks + kBlock - 1) / kBlock;
  static_assert(tile_m * kChunks % kBlock == 0 && tile_n * kChunks % kBlock == 0);
};

template <class T, int tile_m, int tile_n, int rows, int vector, bool pointwise>
__global__ void __launch_bounds__(Shape<tile_m, tile_n, rows, vector, pointwise>::kBlock)
    convolution_kernel(const ConvolutionTask task) {
  using Is = Shape<tile_m, tile_n, rows, vector, pointwise>;
  constexpr int kPadding = 4;
  __shared__ __align__(16) float left[2][kTileDepth][tile_m + kPadding];
  __shared__ __align__(16) float right[2][kTileDepth][tile_n + kPadding];

  const TaskWindow& window = task.window;
  const int group = static_cast<int>(blockIdx.z) / task.split;
  const int part = static_cast<int>(blockIdx.z) - group * task.split;
  const int group_channels = window.channels / task.groups;
  const int group_outputs = window.out_channels / task.groups;
  const int pixels = window.images * window.out_height * window.out_width;
  const int depth = window.kernel_h * window.kernel_w * group_channels;
  const int steps = (depth + kTileDepth - 1) / kTileDepth;
  const int part_steps = (steps + task.split - 1) / task.split;
  const int begin = part * part_steps * kTileDepth;
  const int end = min(depth, begin + part_steps * kTileDepth);
  const int first_pixel = static_cast<int>(blockIdx.x) * tile_m;
  const int first_output = static_cast<int>(blockIdx.y) * tile_n;  // of the group
  const int thread = static_cast<int>(threadIdx.x);

  Corner corners[Is::kLoadsM];
#pragma unroll
  for (int i = 0; i < Is::kLoadsM; ++i) {
    const int line = (thread + i * Is::kBlock) / Is::kChunks;
    corners[i] = corner_of(window, first_pixel + line, pixels);
  }
  const int chunk = thread % Is::kChunks * vector;  // the same for all loads of a thread
  static_assert(Is::kBlock % Is::kChunks == 0);

  Values<vector> next_left[Is::kLoadsM], next_right[Is::kLoadsN];
  const auto fetch = [&](int k) {
#pragma unroll
    for (int i = 0; i < Is::kLoadsM; ++i) {
      next_left[i] = window_values<T, vector, pointwise>(task, corners[i], k + chunk, end,
                                                         group_channels, group * group_channels);
    }
#pragma unroll
    for (int i = 0; i < Is::kLoadsN; ++i) {
      const int output = first_output + (thread + i * Is::kBlock) / Is::kChunks;
      const bool there = output < group_outputs && k + chunk < end;
      next_right[i] =
          there ? load<vector>(static_cast<const T*>(task.weights) +
                               static_cast<long long>(group * group_outputs + output) * depth + k +
                               chunk)
                : filled<vector>(0.0f);
    }
  };
  const auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < Is::kLoadsM; ++i) {
      const int line = (thread + i * Is::kBlock) / Is::kChunks;
#pragma unroll
      for (int v = 0; v < vector; ++v) left[buffer][chunk + v][line] = next_left[i].v[v];
    }
#pragma unroll
    for (int i = 0; i < Is::kLoadsN; ++i) {
      const int line = (thread + i * Is::kBlock) / Is::kChunks;
#pragma unroll
      for (int v = 0; v < vector; ++v) right[buffer][chunk + v][line] = next_right[i].v[v];
    }
  };

  const int my_column = thread % Is::kAcross * Is::kColumns;
  const int my_row = thread / Is::kAcross * rows;
  float sums[rows][Is::kColumns] = {};
  const auto multiply = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < kTileDepth; ++k) {
      float a[rows];
#pragma unroll
      for (int r = 0; r < rows; r += 4) {
        const float4 four = *reinterpret_cast<const float4*>(&left[buffer][k][my_row + r]);
        a[r] = four.x;
        a[r + 1] = four.y;
        a[r + 2] = four.z;
        a[r + 3] = four.w;
      }
      const float4 b = *reinterpret_cast<const float4*>(&right[buffer][k][my_column]);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        sums[r][0] = fmaf(a[r], b.x, sums[r][0]);
        sums[r][1] = fmaf(a[r], b.y, sums[r][1]);
        sums[r][2] = fmaf(a[r], b.z, sums[r][2]);
        sums[r][3] = fmaf(a[r], b.w, sums[r][3]);
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

  const bool last = task.split == 1;  // no one adds anything behind us
  auto* const output = static_cast<T*>(task.output);
  const auto* const bias = static_cast<const T*>(task.bias);
  const long long part_at = static_cast<long long>(part) * pixels * window.out_channels;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const int pixel = first_pixel + my_row + r;
#pragma unroll
    for (int c = 0; c < Is::kColumns; ++c) {
      const int in_group = first_output + my_column + c;
      if (pixel >= pixels || in_group >= group_outputs) continue;
      const int channel = group * group_outputs + in_group;
      const long long at = static_cast<long long>(pixel) * window.out_channels + channel;
      float value = sums[r][c];
      if (!last) {
        task.partials[part_at + at] = value;
        continue;
      }
      if (bias != nullptr) value += load<1>(bias + channel).v[0];
      if (task.relu_after) value = fmaxf(value, 0.0f);
      store_one(output + at, value);
    }
  }
}

template <class T, int index, int rows, int vector, bool pointwise>
cudaError_t launch(const ConvolutionTask& task, cudaStream_t stream) {
  constexpr Tile kTile = kTiles[index];
  using Is = Shape<kTile.pixels, kTile.channels, rows, vector, pointwise>;
  const TaskWindow& window = task.window;
  const int pixels = window.images * window.out_height * window.out_width;
  const int outputs = window.out_channels / task.groups;
  const dim3 grid(static_cast<unsigned>((pixels + kTile.pixels - 1) / kTile.pixels),
                  static_cast<unsigned>((outputs + kTile.channels - 1) / kTile.channels),
                  static_cast<unsigned>(task.groups * task.split));
  return queue_kernel(convolution_kernel<T, kTile.pixels, kTile.channels, rows, vector, pointwise>,
                      grid, Is::kBlock, stream, task);
}

template <class T, int vector, bool pointwise>
cudaError_t launch_tile(const ConvolutionTask& task, int tile, cudaStream_t stream) {
  switch (tile) {
    case 0:
      return launch<T, 0, 16, vector, pointwise>(task, stream);
    case 1:
      return launch<T, 1, 8, vector, pointwise>(task, stream);
    case 2:
      return launch<T, 2, 4, vector, pointwise>(task, stream);
    case 3:
      return launch<T, 3, 4, vector, pointwise>(task, stream);
    default:
      return launch<T, 4, 4, vector, pointwise>(task, stream);
  }
}

/// Fours along the depth need input channels that come in fours, in each group.
bool in_fours(const ConvolutionTask& task) { return task.window.channels % (4 * task.groups) == 0; }

bool is_pointwise(const TaskWindow& window) {
  return window.kernel_h == 1 && window.kernel_w == 1 && window.pad_h == 0 && window.pad_w == 0;
}

template <class T, int index, int rows>
cudaError_t load_tile() {
  constexpr int m = kTiles[index].pixels, n = kTiles[index].channels;
  return first_error({load_kernel(convolution_kernel<T, m, n, rows, 4, true>),
                      load_kernel(convolution_kernel<T, m, n, rows, 4, false>),
                      load_kernel(convolution_kernel<T, m, n, rows, 1, false>)});
}

template <class T>
cudaError_t load_all() {
  return first_error({load_tile<T, 0, 16>(), load_tile<T, 1, 8>(), load_tile<T, 2, 4>(),
                      load_tile<T, 3, 4>(), load_tile<T, 4, 4>()});
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
                 .bias = task.bias,
                 .output = task.output,
                 .pixels = task.window.images * task.window.out_height * task.window.out_width,
                 .channels = task.window.out_channels,
                 .relu = task.relu_after},
                stream);
}

cudaError_t load_convolution() { return first_error({load_all<float>(), load_all<__half>()}); }

}  // namespace hios::cuda
