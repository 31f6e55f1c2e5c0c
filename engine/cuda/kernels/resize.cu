// Resize (layers.h): each value is a weighted sum of those at the taps of its row and column, a
// thread for each.
#include "engine/cuda/kernels/views.cuh"

namespace hios::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) resize_kernel(const ResizeTask task) {
  const int index = thread_index();
  const int pixel = index / task.channels, channel = index - pixel * task.channels;
  const int line = pixel / task.out_width, w = pixel - line * task.out_width;
  const int image = line / task.out_height, h = line - image * task.out_height;
  if (image >= task.images) return;
  const T* const input = static_cast<const T*>(task.input) +
                         static_cast<long long>(image) * task.height * task.width * task.channels +
                         channel;
  float sum = 0.0f;
  for (int i = 0; i < task.taps; ++i) {
    const ResizeTap row = task.of_rows[h * task.taps + i];
    for (int j = 0; j < task.taps; ++j) {
      const ResizeTap column = task.of_columns[w * task.taps + j];
      const float value = load<1>(input + (row.at * task.width + column.at) * task.channels).v[0];
      sum = fmaf(row.weight * column.weight, value, sum);
    }
  }
  store_one(static_cast<T*>(task.output) + index, sum);
}

}  // namespace

cudaError_t resize(const ResizeTask& task, cudaStream_t stream) {
  const long long values =
      static_cast<long long>(task.images) * task.out_height * task.out_width * task.channels;
  return with_element(task.element, [&](auto element) {
    return queue_kernel(resize_kernel<decltype(element)>, blocks_for(values), kThreads, stream,
                        task);
  });
}

cudaError_t load_resize() {
  return first_error({load_kernel(resize_kernel<float>), load_kernel(resize_kernel<__half>)});
}

}  // namespace hios::cuda
