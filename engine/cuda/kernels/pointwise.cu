// Functions of one value and of two (layers.h), in fp32, a thread for each value of the output. The
// function is the same for all threads, so its branch costs nothing next to the memory.
#include "engine/backend/layers/functions.h"
#include "engine/cuda/kernels/views.cuh"

namespace hios::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) unary_kernel(const UnaryTask task) {
  const int index = thread_index();
  if (index >= task.values) return;
  // Not through the read-only path: the output may also be the input.
  float x = static_cast<float>(static_cast<const T*>(task.input)[index]);
  if (task.addend != nullptr) x += load<1>(static_cast<const T*>(task.addend) + index).v[0];
  store_one(static_cast<T*>(task.output) + index,
            functions::value_of<float>(task.function, task.alpha, task.beta, x));
}

template <class T>
__global__ void __launch_bounds__(kThreads) binary_kernel(const BinaryTask task) {
  const int index = thread_index();
  if (index >= task.values) return;
  const auto operand = [index](const void* values, const View& view) {
    return load<1>(static_cast<const T*>(values) + offset_of(view, index)).v[0];
  };
  store_one(static_cast<T*>(task.output) + index,
            functions::value_of<float>(task.function, operand(task.left, task.of_left),
                                       operand(task.right, task.of_right)));
}

}  // namespace

cudaError_t unary(const UnaryTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(unary_kernel<decltype(element)>, blocks_for(task.values), kThreads, stream,
                        task);
  });
}

cudaError_t binary(const BinaryTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(binary_kernel<decltype(element)>, blocks_for(task.values), kThreads, stream,
                        task);
  });
}

cudaError_t load_pointwise() {
  return first_error({load_kernel(unary_kernel<float>), load_kernel(unary_kernel<__half>),
                      load_kernel(binary_kernel<float>), load_kernel(binary_kernel<__half>)});
}

}  // namespace hios::cuda
