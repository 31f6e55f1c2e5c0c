#pragma once

#include "engine/cuda/kernels/views.cuh"

/// Boxes of values (layers.h) that a block's threads visit together. If neighbouring boxes are
/// neighbours in memory, a block takes 32 of them, one for each column of threads, and the columns'
/// threads share the values; else a block has one box. What a thread adds up, and the order in
/// which the threads' results are joined, follow from the size of a box alone.
namespace hios::cuda {

constexpr int kNeighbours = 32, kRowsOfNeighbours = 16;
constexpr int kBoxThreads = 256;  // of a box that has a block to itself
constexpr int kMostBoxThreads = kNeighbours * kRowsOfNeighbours;

inline dim3 block_of(const Boxes& boxes) {
  return boxes.neighbours ? dim3(kNeighbours, kRowsOfNeighbours) : dim3(1, kBoxThreads);
}
inline dim3 grid_of(const Boxes& boxes) {
  const int blocks = boxes.neighbours ? (boxes.count + kNeighbours - 1) / kNeighbours : boxes.count;
  return dim3(static_cast<unsigned>(blocks));
}

/// The box of the running thread. Threads without a box take part in all barriers.
template <class T>
struct ThreadBox {
  const Boxes& boxes;
  const int box;
  const bool is_one;  ///< there is such a box
  const int first;    ///< position of its first value
  const T* const input;

  __device__ __forceinline__ ThreadBox(const Boxes& of, const void* values)
      : boxes(of),
        box(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)),
        is_one(box < of.count),
        first(is_one ? offset_of(of.first, box) : 0),
        input(static_cast<const T*>(values)) {}

  /// Calls visit(position, value) for this thread's values.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    if (!is_one) return;
    for (int i = static_cast<int>(threadIdx.y); i < boxes.size; i += static_cast<int>(blockDim.y)) {
      const int at = first + offset_of(boxes.inside, i);
      visit(at, load<1>(input + at).v[0]);
    }
  }
};

/// Returns the join of the results of all threads of a box, to each of them. All threads of the
/// block call it.
template <class Join>
__device__ __forceinline__ float joined(float result, Join join) {
  __shared__ float results[kMostBoxThreads];
  const int across = static_cast<int>(blockDim.x), x = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(threadIdx.y);
  results[row * across + x] = result;
  __syncthreads();
  for (int rows = static_cast<int>(blockDim.y) / 2; rows > 0; rows /= 2) {
    if (row < rows) {
      results[row * across + x] =
          join(results[row * across + x], results[(row + rows) * across + x]);
    }
    __syncthreads();
  }
  result = results[x];
  __syncthreads();  // the next call writes
  return result;
}

__device__ __forceinline__ float joined_sum(float result) {
  return joined(result, [](float a, float b) { return a + b; });
}
__device__ __forceinline__ float joined_maximum(float result) {
  return joined(result, [](float a, float b) { return a < b ? b : a; });
}

}  // namespace hios::cuda
