#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/kernels/layers.h"
#include "engine/cuda/operators/operators.h"

/// Operators of one layer that no other form covers (SingleForm): a function for each kind, in
/// moves.cpp, pointwise.cpp, products.cpp, reductions.cpp and resize.cpp. Each reads the
/// operation's inputs in order, and launches kernels of our own (engine/cuda/kernels/layers.h):
/// nothing is chosen, and the bits are the same on every GPU of a kind.
namespace hios::cuda {

using BoundLayer = std::unique_ptr<BoundOperator>;
BoundLayer bind_single(const Binding&, const Layer&, const ConvTranspose&);
BoundLayer bind_single(const Binding&, const Layer&, const Unary&);
BoundLayer bind_single(const Binding&, const Layer&, const Binary&);
BoundLayer bind_single(const Binding&, const Layer&, const Softmax&);
BoundLayer bind_single(const Binding&, const Layer&, const Reduce&);
BoundLayer bind_single(const Binding&, const Layer&, const Normalization&);
BoundLayer bind_single(const Binding&, const Layer&, const LocalResponseNormalization&);
BoundLayer bind_single(const Binding&, const Layer&, const Resize&);
BoundLayer bind_single(const Binding&, const Layer&, const Pad&);
BoundLayer bind_single(const Binding&, const Layer&, const Move&);
BoundLayer bind_single(const Binding&, const Layer&, const Concat&);
BoundLayer bind_single(const Binding&, const Layer&, const MatMul&);
BoundLayer bind_single(const Binding&, const Layer&, const Gather&);
BoundLayer bind_single(const Binding&, const Layer&, const TopK&);

/// Makes an operator that launches a kernel for each task. `kept`: memory that the tasks read
/// besides the operation's tensors; the operator holds it.
template <class Task>
BoundLayer make_launches(const Binding& binding, cudaError_t (*launch)(const Task&, cudaStream_t),
                         std::vector<Task> tasks,
                         std::vector<std::shared_ptr<const void>> kept = {}) {
  class Launches final : public BoundOperator {
   public:
    Launches(const Binding& of, decltype(launch) function, std::vector<Task> list,
             std::vector<std::shared_ptr<const void>> memory)
        : doing_(doing_text(of.operation)),
          stream_(of.tools.stream.stream()),
          launch_(function),
          tasks_(std::move(list)),
          kept_(std::move(memory)) {}
    void run() override {
      for (const Task& task : tasks_) HIOS_CUDA(launch_(task, stream_), doing_);
    }

   private:
    std::string doing_;
    cudaStream_t stream_;
    decltype(launch) launch_;
    std::vector<Task> tasks_;
    std::vector<std::shared_ptr<const void>> kept_;
  };
  return std::make_unique<Launches>(binding, launch, std::move(tasks), std::move(kept));
}

/// Returns a shape's number of values, which refusal() has limited.
inline int count_of(const Shape& shape) { return static_cast<int>(shape.elements()); }

}  // namespace hios::cuda
