// Pools over windows and means over whole images (kernels.h). A pool's thread has one channel of an
// output pixel, or four, and visits the window's taps inside the image. A mean has too few outputs
// to fill the GPU: a block takes 32 channels, its rows of threads share the pixels, and their sums
// are added in the order of the rows.
#include "engine/cuda/kernels/common.cuh"

namespace hios::cuda {
namespace {

constexpr int kMeanChannels = 32, kMeanRows = 16;

/// Returns the first tap, of those at `at` and every `step` after it, that is not before the image.
__device__ __forceinline__ int first_inside(int at, int step) {
  return at >= 0 ? at : at + (step - 1 - at) / step * step;
}

/// Returns the number of taps, of `count` at `at` and every `step` after it, within [least, end).
__device__ __forceinline__ int taps_within(int at, int count, int step, int least, int end) {
  int taps = 0;
  for (int i = 0; i < count; ++i, at += step) taps += at >= least && at < end ? 1 : 0;
  return taps;
}

template <class T, int vector, bool max>
__global__ void __launch_bounds__(kThreads, kLeastBlocks) pool_kernel(const PoolTask task) {
  const TaskWindow& window = task.window;
  const int columns = window.channels / vector;
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (index >= window.images * window.out_height * window.out_width * columns) return;
  const int pixel = index / columns, channel = (index - pixel * columns) * vector;
  const int row = pixel / window.out_width, w = pixel - row * window.out_width;
  const int image = row / window.out_height, h = row - image * window.out_height;

  const int top = h * window.stride_h - window.pad_h, left = w * window.stride_w - window.pad_w;
  const int first_h = first_inside(top, window.dilation_h);
  const int first_w = first_inside(left, window.dilation_w);
  const int end_h = ::min(top + (window.kernel_h - 1) * window.dilation_h + 1, window.height);
  const int end_w = ::min(left + (window.kernel_w - 1) * window.dilation_w + 1, window.width);
  Values<vector> result = filled<vector>(max ? -INFINITY : 0.0f);
  for (int y = first_h; y < end_h; y += window.dilation_h) {
    const T* line =
        static_cast<const T*>(task.input) +
        static_cast<long long>(image * window.height + y) * window.width * window.channels +
        channel;
    for (int x = first_w; x < end_w; x += window.dilation_w) {
      const Values<vector> tap = load<vector>(line + x * window.channels);
#pragma unroll
      for (int i = 0; i < vector; ++i) {
        result.v[i] = max ? fmaxf(result.v[i], tap.v[i]) : result.v[i] + tap.v[i];
      }
    }
  }
  if constexpr (!max) {
    const int taps = taps_within(top, window.kernel_h, window.dilation_h, -task.counted_top,
                                 window.height + task.counted_bottom) *
                     taps_within(left, window.kernel_w, window.dilation_w, -task.counted_left,
                                 window.width + task.counted_right);
#pragma unroll
    for (int i = 0; i < vector; ++i) result.v[i] /= static_cast<float>(taps);
  }
  store(static_cast<T*>(task.output) + static_cast<long long>(pixel) * window.channels + channel,
        result);
}

template <class T>
__global__ void __launch_bounds__(kMeanChannels* kMeanRows) mean_kernel(const MeanTask task) {
  __shared__ float sums[kMeanRows][kMeanChannels];
  const int x = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int channel = static_cast<int>(blockIdx.y) * kMeanChannels + x;
  const int image = static_cast<int>(blockIdx.x);  // a grid's other extents end at 65,535
  float sum = 0.0f;
  if (channel < task.channels) {
    const T* from = static_cast<const T*>(task.input) +
                    static_cast<long long>(image) * task.pixels * task.channels + channel;
#pragma unroll 4
    for (int pixel = row; pixel < task.pixels; pixel += kMeanRows) {
      sum += load<1>(from + static_cast<long long>(pixel) * task.channels).v[0];
    }
  }
  sums[row][x] = sum;
  __syncthreads();
  if (row != 0 || channel >= task.channels) return;
  for (int other = 1; other < kMeanRows; ++other) sum += sums[other][x];
  store_one(static_cast<T*>(task.output) + image * task.channels + channel,
            sum / static_cast<float>(task.pixels));
}

template <class T, int vector>
cudaError_t launch_pool(const PoolTask& task, cudaStream_t stream) {
  const TaskWindow& window = task.window;
  const long long threads = static_cast<long long>(window.images) * window.out_height *
                            window.out_width * (window.channels / vector);
  return queue_kernel(task.max ? pool_kernel<T, vector, true> : pool_kernel<T, vector, false>,
                      blocks_for(threads), kThreads, stream, task);
}

template <class T>
cudaError_t load_all() {
  return first_error({load_kernel(pool_kernel<T, 1, true>), load_kernel(pool_kernel<T, 4, true>),
                      load_kernel(pool_kernel<T, 1, false>), load_kernel(pool_kernel<T, 4, false>),
                      load_kernel(mean_kernel<T>)});
}

}  // namespace

cudaError_t pool(const PoolTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    using T = decltype(element);
    return task.window.channels % 4 == 0 ? launch_pool<T, 4>(task, stream)
                                         : launch_pool<T, 1>(task, stream);
  });
}

cudaError_t global_mean(const MeanTask& task, cudaStream_t stream) {
  const auto columns = static_cast<unsigned>((task.channels + kMeanChannels - 1) / kMeanChannels);
  const dim3 grid(static_cast<unsigned>(task.images), columns), block(kMeanChannels, kMeanRows);
  return with_element(task.element, [&](auto element) {
    return queue_kernel(mean_kernel<decltype(element)>, grid, block, stream, task);
  });
}

cudaError_t load_pooling() { return first_error({load_all<float>(), load_all<__half>()}); }

}  // namespace hios::cuda
