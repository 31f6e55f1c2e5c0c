// Depthwise convolutions (kernels.h), with a relu before and an epilogue. A thread has four
// channels (or one) of a few neighbouring output pixels of a row: each input pixel that their
// windows share is loaded once for all of them. If pixels are few, a thread has one, so that the
// GPU is filled. The order of a sum (bias, then taps row by row) is the same either way, and so are
// its bits.
#include "engine/cuda/kernels/epilogue.cuh"

namespace hios::cuda {
namespace {

/// Below so many threads of several pixels, each thread takes one pixel.
constexpr long long kEnoughThreads = 132 * 512;

// size, step: of the window, in both directions, if its taps are neighbours; 0: as in the task, one
// pixel for each thread. One block on a multiprocessor is asked for: with fewer registers, those of
// the sums would not outlast the call of a function at the end, and be kept in memory meanwhile.
template <class T, int vector, int size, int step, int pixels>
__global__ void __launch_bounds__(kThreads, 1) depthwise_kernel(const DepthwiseTask task) {
  static_assert(size != 0 || pixels == 1);
  const TaskWindow& window = task.window;
  const int kernel_h = size != 0 ? size : window.kernel_h;
  const int kernel_w = size != 0 ? size : window.kernel_w;
  const int stride_h = step != 0 ? step : window.stride_h;
  const int stride_w = step != 0 ? step : window.stride_w;
  const auto* input = static_cast<const T*>(task.input);
  const int columns = window.channels / vector;
  const int runs = (window.out_width + pixels - 1) / pixels;
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (index >= window.images * window.out_height * runs * columns) return;
  const int run = index / columns, channel = (index - run * columns) * vector;
  const int row = run / runs, w = (run - row * runs) * pixels;
  const int image = row / window.out_height, h = row - image * window.out_height;

  Values<vector> sums[pixels];
#pragma unroll
  for (int p = 0; p < pixels; ++p) {
    sums[p] = filled<vector>(0.0f);
    add_bias<T>(task.after, channel, sums[p]);
  }
  const int spread_h = size != 0 ? 1 : window.dilation_h;
  const int spread_w = size != 0 ? 1 : window.dilation_w;
  const int left = w * stride_w - window.pad_w;
#pragma unroll 1
  for (int kh = 0; kh < kernel_h; ++kh) {
    const int y = h * stride_h - window.pad_h + kh * spread_h;
    if (y < 0 || y >= window.height) continue;
    const T* line =
        input + static_cast<long long>(image * window.height + y) * window.width * window.channels +
        channel;
    const T* weights =
        static_cast<const T*>(task.weights) + kh * kernel_w * window.channels + channel;
    const int reach = (pixels - 1) * stride_w + kernel_w;
#pragma unroll
    for (int i = 0; i < reach; ++i) {
      const int x = left + i * spread_w;
      if (x < 0 || x >= window.width) continue;
      Values<vector> value = load<vector>(line + x * window.channels);
      if (task.relu_before) relu(value);
#pragma unroll
      for (int p = 0; p < pixels; ++p) {
        const int kw = i - p * stride_w;
        if (kw < 0 || kw >= kernel_w) continue;
        const Values<vector> weight = load<vector>(weights + kw * window.channels);
#pragma unroll
        for (int v = 0; v < vector; ++v) {
          sums[p].v[v] = fmaf(value.v[v], weight.v[v], sums[p].v[v]);
        }
      }
    }
  }
  const long long first =
      (static_cast<long long>(row) * window.out_width + w) * window.channels + channel;
#pragma unroll
  for (int p = 0; p < pixels; ++p) {
    if (w + p >= window.out_width) break;
    const long long at = first + p * window.channels;
    add_and_activate<T>(task.after, at, sums[p]);
    store(static_cast<T*>(task.output) + at, sums[p]);
  }
}

template <class T, int vector, int size, int step, int pixels>
cudaError_t launch(const DepthwiseTask& task, cudaStream_t stream) {
  const TaskWindow& window = task.window;
  const long long threads = static_cast<long long>(window.images) * window.out_height *
                            ((window.out_width + pixels - 1) / pixels) * (window.channels / vector);
  return queue_kernel(depthwise_kernel<T, vector, size, step, pixels>, blocks_for(threads),
                      kThreads, stream, task);
}

template <class T, int size, int step>
cudaError_t launch_sized(const DepthwiseTask& task, cudaStream_t stream) {
  const TaskWindow& window = task.window;
  const long long threads = static_cast<long long>(window.images) * window.out_height *
                            ((window.out_width + 3) / 4) * (window.channels / 4);
  return threads >= kEnoughThreads ? launch<T, 4, size, step, 4>(task, stream)
                                   : launch<T, 4, size, step, 1>(task, stream);
}

bool is(const TaskWindow& window, int size, int step) {
  return window.kernel_h == size && window.kernel_w == size && window.stride_h == step &&
         window.stride_w == step && window.dilation_h == 1 && window.dilation_w == 1;
}

template <class T>
cudaError_t launch_any(const DepthwiseTask& task, cudaStream_t stream) {
  const TaskWindow& window = task.window;
  if (window.channels % 4 != 0) return launch<T, 1, 0, 0, 1>(task, stream);
  if (is(window, 3, 1)) return launch_sized<T, 3, 1>(task, stream);
  if (is(window, 3, 2)) return launch_sized<T, 3, 2>(task, stream);
  if (is(window, 5, 1)) return launch_sized<T, 5, 1>(task, stream);
  if (is(window, 5, 2)) return launch_sized<T, 5, 2>(task, stream);
  if (is(window, 7, 1)) return launch_sized<T, 7, 1>(task, stream);
  if (is(window, 7, 2)) return launch_sized<T, 7, 2>(task, stream);
  return launch<T, 4, 0, 0, 1>(task, stream);
}

template <class T, int size, int step>
cudaError_t load_sized() {
  return first_error({load_kernel(depthwise_kernel<T, 4, size, step, 1>),
                      load_kernel(depthwise_kernel<T, 4, size, step, 4>)});
}

template <class T>
cudaError_t load_all() {
  return first_error({load_kernel(depthwise_kernel<T, 1, 0, 0, 1>),
                      load_kernel(depthwise_kernel<T, 4, 0, 0, 1>), load_sized<T, 3, 1>(),
                      load_sized<T, 3, 2>(), load_sized<T, 5, 1>(), load_sized<T, 5, 2>(),
                      load_sized<T, 7, 1>(), load_sized<T, 7, 2>()});
}

}  // namespace

cudaError_t depthwise(const DepthwiseTask& task, cudaStream_t stream) {
  return with_element(task.element,
                      [&](auto element) { return launch_any<decltype(element)>(task, stream); });
}

cudaError_t load_depthwise() { return first_error({load_all<float>(), load_all<__half>()}); }

}  // namespace hios::cuda
