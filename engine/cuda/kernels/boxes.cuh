#pragma once

#include "engine/cuda/kernels/views.cuh"

/// Boxes of values (layers.h) that a block's threads visit together. If neighbouring boxes are
/// neighbours in memory, a block takes 32 of them, one for each column of threads, and the columns'
/// threads share the values. Else neighbouring threads read a box's neighbouring values, and short
/// boxes share a block. What a thread adds up, and the order in which the threads' results are
/// joined, follow from the size of a box alone.
namespace hios::cuda {

constexpr int kNeighbours = 32, kRowsOfNeighbours = 16;
constexpr int kLeastLanes = 8, kMostLanes = 256;  // threads of a box that is no neighbour
constexpr int kValuesOfLane = 16;                 // as long as kMostLanes suffice
constexpr int kMostBoxThreads = kNeighbours * kRowsOfNeighbours;

/// Returns the number of threads that share a box whose values are neighbours in memory.
inline int lanes_of(int size) {
  int lanes = kLeastLanes;
  while (lanes < kMostLanes && lanes * kValuesOfLane < size) lanes *= 2;
  return lanes;
}

/// Boxes of a block, and threads of a box; which of them is x: see ThreadBox.
struct BoxesOfBlock {
  int boxes, lanes;
};
inline BoxesOfBlock boxes_of_block(const Boxes& boxes) {
  if (boxes.neighbours) return {kNeighbours, kRowsOfNeighbours};
  const int lanes = lanes_of(boxes.size);
  return {lanes < kThreads ? kThreads / lanes : 1, lanes};
}

inline dim3 block_of(const Boxes& boxes) {
  const BoxesOfBlock block = boxes_of_block(boxes);
  const auto count = static_cast<unsigned>(block.boxes), lanes = static_cast<unsigned>(block.lanes);
  return boxes.neighbours ? dim3(count, lanes) : dim3(lanes, count);
}
inline dim3 grid_of(const Boxes& boxes) {
  const int of_block = boxes_of_block(boxes).boxes;
  return dim3(static_cast<unsigned>((boxes.count + of_block - 1) / of_block));
}

/// The box of the running thread. Threads without a box take part in all barriers.
template <class T>
class ThreadBox {
 public:
  __device__ __forceinline__ ThreadBox(const Boxes& of, const void* values)
      : boxes_(of),
        lane_(static_cast<int>(of.neighbours ? threadIdx.y : threadIdx.x)),
        lanes_(static_cast<int>(of.neighbours ? blockDim.y : blockDim.x)),
        in_block_(static_cast<int>(of.neighbours ? threadIdx.x : threadIdx.y)),
        of_block_(static_cast<int>(of.neighbours ? blockDim.x : blockDim.y)),
        box_(static_cast<int>(blockIdx.x) * of_block_ + in_block_),
        first_(box_ < of.count ? offset_of(of.first, box_) : 0),
        input_(static_cast<const T*>(values)) {}

  __device__ __forceinline__ int number() const { return box_; }
  /// Returns true for one thread of each box that there is.
  __device__ __forceinline__ bool writes() const { return lane_ == 0 && box_ < boxes_.count; }

  /// Calls visit(position, value) for this thread's values.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    if (box_ >= boxes_.count) return;
    for (int i = lane_; i < boxes_.size; i += lanes_) {
      const int at = first_ + offset_of(boxes_.inside, i);
      visit(at, load<1>(input_ + at).v[0]);
    }
  }

  /// Returns the join of the results of all threads of the box, to each of them. All threads of
  /// the block call it. Each thread reads the few results by itself: that needs fewer barriers than
  /// a tree, and threads of a warp read the same one at once.
  template <class Join>
  __device__ __forceinline__ float joined(float result, Join join) const {
    __shared__ float results[kMostBoxThreads];
    const int step = boxes_.neighbours ? of_block_ : 1;
    float* const mine = results + (boxes_.neighbours ? in_block_ : in_block_ * lanes_);
    mine[lane_ * step] = result;
    __syncthreads();
    if (lanes_ > kFew) {
      if (lane_ < kFew) {
        for (int i = lane_ + kFew; i < lanes_; i += kFew) result = join(result, mine[i * step]);
        mine[lane_ * step] = result;
      }
      __syncthreads();
    }
    result = mine[0];
    for (int i = 1; i < ::min(lanes_, kFew); ++i) result = join(result, mine[i * step]);
    __syncthreads();  // the next call writes
    return result;
  }
  __device__ __forceinline__ float joined_sum(float result) const {
    return joined(result, [](float a, float b) { return a + b; });
  }
  __device__ __forceinline__ float joined_maximum(float result) const {
    return joined(result, [](float a, float b) { return a < b ? b : a; });
  }

 private:
  static constexpr int kFew = 32;  // results that each thread reads

  const Boxes& boxes_;
  const int lane_, lanes_;         // this thread among those of its box
  const int in_block_, of_block_;  // its box among those of the block
  const int box_;                  // boxes_.count or more: there is none
  const int first_;                // position of its first value
  const T* const input_;
};

}  // namespace hios::cuda
