// Many values become one (layers.h), box by box (boxes.cuh).
#include "engine/cuda/kernels/boxes.cuh"

namespace hios::cuda {
namespace {

using Function = Reduce::Function;

__device__ __forceinline__ float start_of(Function function) {
  if (function == Function::kMax) return -INFINITY;
  if (function == Function::kMin) return INFINITY;
  return function == Function::kProd ? 1.0f : 0.0f;
}

__device__ __forceinline__ float join(Function function, float a, float b) {
  if (function == Function::kMax) return a < b ? b : a;
  if (function == Function::kMin) return b < a ? b : a;
  return function == Function::kProd ? a * b : a + b;
}

/// Returns the term of a value; `most` is the largest of the box, for kLogSumExp.
__device__ __forceinline__ float term(Function function, float x, float most) {
  if (function == Function::kL1) return fabsf(x);
  if (function == Function::kL2 || function == Function::kSumSquare) return x * x;
  return function == Function::kLogSumExp ? expf(x - most) : x;
}

__device__ __forceinline__ float finished(Function function, float result, float most, int count) {
  switch (function) {
    case Function::kL2:
      return sqrtf(result);
    case Function::kLogSum:
      return logf(result);
    case Function::kLogSumExp:
      return fabsf(most) == INFINITY ? most : most + logf(result);
    case Function::kMean:
      return result / static_cast<float>(count);
    default:
      return result;
  }
}

template <class T>
__global__ void __launch_bounds__(kMostBoxThreads) reduce_kernel(const ReduceTask task) {
  const ThreadBox<T> box(task.boxes, task.input);
  float most = 0.0f;
  if (task.function == Function::kLogSumExp) {
    float mine = -INFINITY;
    box.for_each([&](int, float x) { mine = join(Function::kMax, mine, x); });
    most = box.joined_maximum(mine);
  }
  float result = start_of(task.function);
  box.for_each(
      [&](int, float x) { result = join(task.function, result, term(task.function, x, most)); });
  result = box.joined(result, [&](float a, float b) { return join(task.function, a, b); });
  if (!box.writes()) return;
  store_one(static_cast<T*>(task.output) + box.number(),
            finished(task.function, result, most, task.boxes.size));
}

}  // namespace

cudaError_t reduce(const ReduceTask& task, cudaStream_t stream) {
  return with_element(task.element, [&](auto element) {
    return queue_kernel(reduce_kernel<decltype(element)>, grid_of(task.boxes), block_of(task.boxes),
                        stream, task);
  });
}

cudaError_t load_reductions() {
  return first_error({load_kernel(reduce_kernel<float>), load_kernel(reduce_kernel<__half>)});
}

}  // namespace hios::cuda
