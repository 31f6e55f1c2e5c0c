// Products of two computed matrices (layers.h), as of attention. A block computes a square of the
// output; strips of both operands go through shared memory, and each thread has 4 x 4 values. Every
// sum is extended value by value along the depth, so its bits do not depend on the square.
#include "engine/cuda/kernels/views.cuh"

namespace hios::cuda {
namespace {

constexpr int kSide = 64, kDepth = 16, kShare = 4;  // of a square, of a strip, of a thread
constexpr int kAcross = kSide / kShare;             // threads
constexpr int kProductThreads = kAcross * kAcross;

/// Squares of a matrix of the output in a row, and rows of them.
struct Squares {
  int across, down;
};

template <class T>
__global__ void __launch_bounds__(kProductThreads)
    product_kernel(const ProductTask task, const Squares squares) {
  __shared__ float left[kDepth][kSide + 1], right[kDepth][kSide + 1];
  const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  const int matrix = block / (squares.across * squares.down);
  const int square = block - matrix * squares.across * squares.down;
  const int down = square / squares.across;
  const int first_row = down * kSide, first_column = (square - down * squares.across) * kSide;
  const int outer = matrix / task.inner, inner = matrix - outer * task.inner;
  const T* const a =
      static_cast<const T*>(task.left) + outer * task.left_outer + inner * task.left_inner;
  const T* const b =
      static_cast<const T*>(task.right) + outer * task.right_outer + inner * task.right_inner;
  const int below = task.transpose_right ? 1 : task.columns;
  const int beyond = task.transpose_right ? task.depth : 1;

  float sums[kShare][kShare] = {};
  const int my_row = thread / kAcross * kShare, my_column = thread % kAcross;
  for (int k = 0; k < task.depth; k += kDepth) {
    for (int i = thread; i < kSide * kDepth; i += kProductThreads) {
      const int row = first_row + i / kDepth, deep = i % kDepth;
      left[deep][i / kDepth] = row < task.rows && k + deep < task.depth
                                   ? load<1>(a + row * task.depth + k + deep).v[0]
                                   : 0.0f;
      // Neighbouring threads read neighbouring values.
      const int at = task.transpose_right ? i / kDepth : i % kSide;
      const int deep_right = task.transpose_right ? deep : i / kSide;
      const int column = first_column + at;
      right[deep_right][at] = column < task.columns && k + deep_right < task.depth
                                  ? load<1>(b + (k + deep_right) * below + column * beyond).v[0]
                                  : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int deep = 0; deep < kDepth; ++deep) {
#pragma unroll
      for (int r = 0; r < kShare; ++r) {
#pragma unroll
        for (int c = 0; c < kShare; ++c) {
          sums[r][c] =
              fmaf(left[deep][my_row + r], right[deep][my_column + c * kAcross], sums[r][c]);
        }
      }
    }
    __syncthreads();
  }
  T* const output = static_cast<T*>(task.output) + matrix * task.rows * task.columns;
#pragma unroll
  for (int r = 0; r < kShare; ++r) {
#pragma unroll
    for (int c = 0; c < kShare; ++c) {
      const int row = first_row + my_row + r, column = first_column + my_column + c * kAcross;
      if (row < task.rows && column < task.columns) {
        store_one(output + row * task.columns + column, sums[r][c]);
      }
    }
  }
}

}  // namespace

cudaError_t product(const ProductTask& task, cudaStream_t stream) {
  const Squares squares{(task.columns + kSide - 1) / kSide, (task.rows + kSide - 1) / kSide};
  const dim3 grid(static_cast<unsigned>(task.outer) * static_cast<unsigned>(task.inner) *
                  static_cast<unsigned>(squares.across) * static_cast<unsigned>(squares.down));
  return with_element(task.element, [&](auto element) {
    return queue_kernel(product_kernel<decltype(element)>, grid, kProductThreads, stream, task,
                        squares);
  });
}

cudaError_t load_product() {
  return first_error({load_kernel(product_kernel<float>), load_kernel(product_kernel<__half>)});
}

}  // namespace hios::cuda
