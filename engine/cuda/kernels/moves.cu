// Layers that move values and compute nothing (layers.h), a thread for each value that is written.
#include <cstdint>

#include "engine/backend/layers/ranking.h"
#include "engine/backend/layers/rows.h"
#include "engine/cuda/kernels/views.cuh"

namespace hios::cuda {
namespace {

/// Bits: an unsigned integer of the element's size, since a move keeps every bit.
template <class Bits>
__global__ void __launch_bounds__(kThreads) copy_kernel(const CopyTask task) {
  const int index = thread_index();
  if (index >= task.values) return;
  static_cast<Bits*>(task.to)[offset_of(task.of_to, index)] =
      static_cast<const Bits*>(task.from)[offset_of(task.of_from, index)];
}

template <class T>
__global__ void __launch_bounds__(kThreads) gather_kernel(const GatherTask task) {
  const int index = thread_index();
  if (index >= task.values) return;
  const int of_index = index / task.columns, column = index - of_index * task.columns;
  const std::int64_t row =
      row_at(load<1>(static_cast<const T*>(task.indices) + of_index).v[0], task.rows);
  T* const to = static_cast<T*>(task.output) + index;
  if (row < 0) {
    store_one(to, 0.0f);
  } else {
    *to = static_cast<const T*>(task.table)[row * task.columns + column];
  }
}

/// A thread for each value, which counts those of its row that come before it, as long as they are
/// fewer than k.
template <class T>
__global__ void __launch_bounds__(kThreads) top_kernel(const TopTask task) {
  const int index = thread_index();
  if (index >= task.values) return;
  const int row = index / task.columns, mine = index - row * task.columns;
  const T* const values =
      static_cast<const T*>(task.input) + static_cast<std::int64_t>(row) * task.columns;
  const float x = load<1>(values + mine).v[0];
  int before = 0;
  for (int i = 0; i < task.columns && before < task.k; ++i) {
    before += comes_first(load<1>(values + i).v[0], i, x, mine, task.largest) ? 1 : 0;
  }
  if (before >= task.k) return;
  T* const to = static_cast<T*>(task.output) + static_cast<std::int64_t>(row) * task.k + before;
  store_one(to, task.positions ? static_cast<float>(mine) : x);
}

/// Returns the input position for position `i` of a padded axis; -1: the padding's constant.
__device__ __forceinline__ int source_of(Pad::Mode mode, int i, int extent) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case Pad::Mode::kReflect:
      return i < 0 ? -i : 2 * (extent - 1) - i;
    case Pad::Mode::kEdge:
      return i < 0 ? 0 : extent - 1;
    case Pad::Mode::kWrap:
      return (i % extent + extent) % extent;
    case Pad::Mode::kConstant:
      break;
  }
  return -1;
}

template <class T>
__global__ void __launch_bounds__(kThreads) pad_kernel(const PadTask task) {
  const int index = thread_index();
  int rest = index, from = 0, stride = 1;
  bool inside = true;
#pragma unroll
  for (int axis = 3; axis >= 0; --axis) {
    const int next = rest / task.out[axis];
    const int at =
        source_of(task.mode, rest - next * task.out[axis] - task.begin[axis], task.in[axis]);
    inside = inside && at >= 0;
    from += at * stride;
    stride *= task.in[axis];
    rest = next;
  }
  if (rest > 0) return;  // a thread after the last value
  T* const to = static_cast<T*>(task.output) + index;
  if (inside) {
    *to = static_cast<const T*>(task.input)[from];
  } else {
    store_one(to, task.value);
  }
}

}  // namespace

cudaError_t copy(const CopyTask& task, cudaStream_t stream) {
  const auto launch = [&](auto kernel) {
    return queue_kernel(kernel, blocks_for(task.values), kThreads, stream, task);
  };
  return task.element == Element::kHalf ? launch(copy_kernel<std::uint16_t>)
                                        : launch(copy_kernel<std::uint32_t>);
}

cudaError_t pad(const PadTask& task, cudaStream_t stream) {
  const long long values =
      static_cast<long long>(task.out[0]) * task.out[1] * task.out[2] * task.out[3];
  return with_element(task.element, [&](auto element) {
    return queue_kernel(pad_kernel<decltype(element)>, blocks_for(values), kThreads, stream, task);
  });
}

cudaError_t gather(const GatherTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(gather_kernel<decltype(element)>, blocks_for(task.values), kThreads, stream,
                        task);
  });
}

cudaError_t find_top(const TopTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(top_kernel<decltype(element)>, blocks_for(task.values), kThreads, stream,
                        task);
  });
}

cudaError_t load_moves() {
  return first_error({load_kernel(copy_kernel<std::uint16_t>),
                      load_kernel(copy_kernel<std::uint32_t>), load_kernel(gather_kernel<float>),
                      load_kernel(gather_kernel<__half>), load_kernel(pad_kernel<float>),
                      load_kernel(pad_kernel<__half>), load_kernel(top_kernel<float>),
                      load_kernel(top_kernel<__half>)});
}

}  // namespace hios::cuda
