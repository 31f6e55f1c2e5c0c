// Values that are compared with others of their box (layers.h, boxes.cuh): softmax and
// normalizations, which read a box up to three times; and with their neighbours among the channels.
#include "engine/cuda/kernels/boxes.cuh"

namespace hios::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kMostBoxThreads) softmax_kernel(const SoftmaxTask task) {
  const ThreadBox<T> box(task.boxes, task.input);
  float most = -INFINITY, sum = 0.0f;
  box.for_each([&](int, float x) { most = most < x ? x : most; });
  most = box.joined_maximum(most);
  box.for_each([&](int, float x) { sum += expf(x - most); });
  sum = box.joined_sum(sum);
  const float log_sum = logf(sum);
  T* const output = static_cast<T*>(task.output);
  box.for_each([&](int at, float x) {
    store_one(output + at, task.log ? x - most - log_sum : expf(x - most) / sum);
  });
}

template <class T>
__global__ void __launch_bounds__(kMostBoxThreads)
    normalization_kernel(const NormalizationTask task) {
  const ThreadBox<T> box(task.boxes, task.input);
  const auto count = static_cast<float>(task.boxes.size);
  float sum = 0.0f, squares = 0.0f;
  box.for_each([&](int, float x) { sum += x; });
  const float mean = box.joined_sum(sum) / count;
  box.for_each([&](int, float x) { squares += (x - mean) * (x - mean); });
  const float deviation = sqrtf(box.joined_sum(squares) / count + task.epsilon);
  const auto parameter = [](const void* values, const View& view, int at) {
    return load<1>(static_cast<const T*>(values) + offset_of(view, at)).v[0];
  };
  T* const output = static_cast<T*>(task.output);
  box.for_each([&](int at, float x) {
    float value = (x - mean) / deviation;
    if (task.scale != nullptr) value *= parameter(task.scale, task.of_scale, at);
    if (task.bias != nullptr) value += parameter(task.bias, task.of_bias, at);
    store_one(output + at, value);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads) response_kernel(const ResponseTask task) {
  const int index = thread_index();
  if (index >= task.values) return;
  const int channel = index % task.channels;
  const T* const pixel = static_cast<const T*>(task.input) + (index - channel);
  const int end = ::min(channel + task.after + 1, task.channels);
  float squares = 0.0f;
  for (int i = ::max(channel - task.before, 0); i < end; ++i) {
    const float x = load<1>(pixel + i).v[0];
    squares = fmaf(x, x, squares);
  }
  store_one(static_cast<T*>(task.output) + index,
            load<1>(pixel + channel).v[0] / powf(task.bias + task.scale * squares, task.power));
}

}  // namespace

cudaError_t softmax(const SoftmaxTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(softmax_kernel<decltype(element)>, grid_of(task.boxes),
                        block_of(task.boxes), stream, task);
  });
}

cudaError_t normalize(const NormalizationTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(normalization_kernel<decltype(element)>, grid_of(task.boxes),
                        block_of(task.boxes), stream, task);
  });
}

cudaError_t normalize_response(const ResponseTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(response_kernel<decltype(element)>, blocks_for(task.values), kThreads,
                        stream, task);
  });
}

cudaError_t load_normalization() {
  return first_error({load_kernel(softmax_kernel<float>), load_kernel(softmax_kernel<__half>),
                      load_kernel(normalization_kernel<float>),
                      load_kernel(normalization_kernel<__half>),
                      load_kernel(response_kernel<float>), load_kernel(response_kernel<__half>)});
}

}  // namespace hios::cuda
