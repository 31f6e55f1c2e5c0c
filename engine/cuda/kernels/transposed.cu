// Transposed convolutions (layers.h), a thread for each value of the output: it visits the input
// pixels whose windows hold its own pixel. Neighbouring threads have neighbouring channels, so they
// read neighbouring weights and the same inputs.
#include "engine/cuda/kernels/views.cuh"

namespace hios::cuda {
namespace {

/// Returns the input row that reaches an output row by a tap of the window; -1: there is none.
__device__ __forceinline__ int source_row(int row, int stride, int extent) {
  if (row < 0 || row % stride != 0) return -1;
  return row / stride < extent ? row / stride : -1;
}

template <class T>
__global__ void __launch_bounds__(kThreads) transposed_kernel(const TransposedTask task) {
  const TaskWindow& window = task.window;
  const int index = thread_index();
  const int pixel = index / window.out_channels, channel = index - pixel * window.out_channels;
  const int line = pixel / window.out_width, w = pixel - line * window.out_width;
  const int image = line / window.out_height, h = line - image * window.out_height;
  if (image >= window.images) return;
  const int group_outputs = window.out_channels / task.groups;
  const int group_inputs = window.channels / task.groups;
  const int group = channel / group_outputs;
  const T* const input =
      static_cast<const T*>(task.input) +
      static_cast<long long>(image) * window.height * window.width * window.channels +
      group * group_inputs;
  const T* const weights = static_cast<const T*>(task.weights) +
                           group * group_inputs * group_outputs + (channel - group * group_outputs);
  float sum =
      task.bias != nullptr ? load<1>(static_cast<const T*>(task.bias) + channel).v[0] : 0.0f;
  for (int kh = 0; kh < window.kernel_h; ++kh) {
    const int y =
        source_row(h + window.pad_h - kh * window.dilation_h, window.stride_h, window.height);
    if (y < 0) continue;
    for (int kw = 0; kw < window.kernel_w; ++kw) {
      const int x =
          source_row(w + window.pad_w - kw * window.dilation_w, window.stride_w, window.width);
      if (x < 0) continue;
      const T* const values = input + (y * window.width + x) * window.channels;
      const T* const of_tap =
          weights + (kh * window.kernel_w + kw) * window.channels * group_outputs;
      for (int i = 0; i < group_inputs; ++i) {
        sum = fmaf(load<1>(values + i).v[0], load<1>(of_tap + i * group_outputs).v[0], sum);
      }
    }
  }
  store_one(static_cast<T*>(task.output) + index, sum);
}

}  // namespace

cudaError_t transposed_convolution(const TransposedTask& task, cudaStream_t stream) {
  const TaskWindow& window = task.window;
  const long long values = static_cast<long long>(window.images) * window.out_height *
                           window.out_width * window.out_channels;
  return with_element(task.element, [&](auto element) {
    return queue_kernel(transposed_kernel<decltype(element)>, blocks_for(values), kThreads, stream,
                        task);
  });
}

cudaError_t load_transposed() {
  return first_error(
      {load_kernel(transposed_kernel<float>), load_kernel(transposed_kernel<__half>)});
}

}  // namespace hios::cuda
