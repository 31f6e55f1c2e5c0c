// Sums, relus, slices and concats of these (kernels.h) in one pass: each term is read once, and
// each range is written at its position in the output. A thread has one channel of a pixel, or
// four; each row of blocks has one range.
#include <cstdint>

#include "engine/cuda/kernels/epilogue.cuh"

namespace hios::cuda {
namespace {

template <class T, int vector>
__global__ void __launch_bounds__(kThreads) combine_kernel(const CombineTask task) {
  const int range = static_cast<int>(blockIdx.y);
  const int channels = task.channels[range], columns = channels / vector;
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (index >= task.pixels * columns) return;
  const int pixel = index / columns, channel = (index - pixel * columns) * vector;
  const int from = pixel * task.term_channels[range] + channel;

  const int first = task.first_term[range], last = task.first_term[range + 1];
  const auto values = [&](int term) {
    return load<vector>(static_cast<const T*>(task.terms[term]) + from);
  };
  Values<vector> sum = values(first);
  for (int term = first + 1; term < last; ++term) add(sum, values(term));
  if (task.relu) relu(sum);
  store(static_cast<T*>(task.output) + static_cast<long long>(pixel) * task.out_channels +
            task.first_channel[range] + channel,
        sum);
}

// From: the type of partials; T: the type of the epilogue and the output; unary: there is a
// function other than a relu, whose registers let fewer blocks in.
template <class From, class T, int vector, bool unary>
__global__ void __launch_bounds__(kThreads, unary ? 1 : kLeastBlocks)
    finish_kernel(const FinishTask task) {
  const int columns = task.channels / vector;
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int values = task.pixels * columns;
  if (index >= values) return;
  const long long step = static_cast<long long>(task.pixels) * task.channels;
  const auto* partials = static_cast<const From*>(task.partials) + index * vector;
  // Not through the read-only path: the output may also be the input.
  Values<vector> sum;
#pragma unroll
  for (int i = 0; i < vector; ++i) sum.v[i] = static_cast<float>(partials[i]);
  for (int part = 1; part < task.count; ++part) {
    add(sum, load<vector>(partials + part * step));
  }
  add_bias<T>(task.after, index % columns * vector, sum);
  add_and_activate<T, unary>(task.after, index * vector, sum);
  store(static_cast<T*>(task.output) + index * vector, sum);
}

template <class From, class T, int vector>
cudaError_t launch_finish(const FinishTask& task, cudaStream_t stream) {
  const long long threads = static_cast<long long>(task.pixels) * (task.channels / vector);
  const bool unary = task.after.activation.kind == Activation::Kind::kUnary;
  return queue_kernel(
      unary ? finish_kernel<From, T, vector, true> : finish_kernel<From, T, vector, false>,
      blocks_for(threads), kThreads, stream, task);
}

template <class From, class T>
cudaError_t launch_finish(const FinishTask& task, cudaStream_t stream) {
  return task.channels % 4 == 0 ? launch_finish<From, T, 4>(task, stream)
                                : launch_finish<From, T, 1>(task, stream);
}

template <class From, class T>
cudaError_t load_finish() {
  return first_error(
      {load_kernel(finish_kernel<From, T, 1, false>), load_kernel(finish_kernel<From, T, 4, false>),
       load_kernel(finish_kernel<From, T, 1, true>), load_kernel(finish_kernel<From, T, 4, true>)});
}

bool fours(int channels) { return channels % 4 == 0; }

bool fours_begin(const void* values, Element element) {
  return reinterpret_cast<std::uintptr_t>(values) % (4 * size_of(element)) == 0;
}

}  // namespace

cudaError_t combine(const CombineTask& task, cudaStream_t stream) {
  bool vectors = fours(task.out_channels);
  int widest = 0;
  for (int range = 0; range < task.ranges; ++range) {
    vectors = vectors && fours(task.channels[range]) && fours(task.first_channel[range]) &&
              fours(task.term_channels[range]);
    for (int term = task.first_term[range]; term < task.first_term[range + 1]; ++term) {
      // A slice may begin at a channel that is no multiple of four.
      vectors = vectors && fours_begin(task.terms[term], task.element);
    }
    widest = task.channels[range] > widest ? task.channels[range] : widest;
  }
  const long long values = static_cast<long long>(task.pixels) * widest;
  const auto ranges = static_cast<unsigned>(task.ranges);
  return with_element(task.element, [&](auto element) {
    using T = decltype(element);
    return vectors ? queue_kernel(combine_kernel<T, 4>, dim3(blocks_for(values / 4), ranges),
                                  kThreads, stream, task)
                   : queue_kernel(combine_kernel<T, 1>, dim3(blocks_for(values), ranges), kThreads,
                                  stream, task);
  });
}

cudaError_t finish(const FinishTask& task, cudaStream_t stream) {
  if (task.element == Element::kFloat) return launch_finish<float, float>(task, stream);
  return task.count > 1 ? launch_finish<float, __half>(task, stream)
                        : launch_finish<__half, __half>(task, stream);
}

cudaError_t load_combine() {
  return first_error({load_kernel(combine_kernel<float, 1>), load_kernel(combine_kernel<float, 4>),
                      load_kernel(combine_kernel<__half, 1>),
                      load_kernel(combine_kernel<__half, 4>), load_finish<float, float>(),
                      load_finish<float, __half>(), load_finish<__half, __half>()});
}

cudaError_t load_kernels() {
  return first_error({load_combine(), load_pooling(), load_depthwise(), load_convolution(),
                      load_cache_flush(), load_pointwise(), load_moves(), load_reductions(),
                      load_normalization(), load_resize(), load_transposed(), load_product()});
}

}  // namespace hios::cuda
