#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/cpu/kernels/parallel.h"
#include "engine/cpu/operators.h"

/// Operators of one layer that no other form covers (SingleForm): a function for each kind, in
/// binary.cpp, deconvolution.cpp, elementwise.cpp, gather.cpp, matmul.cpp, moves.cpp,
/// normalization.cpp, padding.cpp, reductions.cpp, resize.cpp, softmax.cpp and top.cpp. Each reads
/// the operation's inputs in order.
///
/// Inputs and outputs are floats; sums and products over many values are kept in double. Each
/// output value is computed by one thread in an order that only the shapes decide, so a result has
/// the same bits on any number of threads. Layers that oneDNN computes (ConvTranspose, MatMul)
/// follow oneDNN's rule (engine/cpu/backend.h).
namespace hios::cpu {

std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const ConvTranspose&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Unary&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Binary&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Softmax&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Reduce&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Normalization&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&,
                                           const LocalResponseNormalization&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Resize&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Pad&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Move&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Concat&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const MatMul&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const Gather&);
std::unique_ptr<BoundOperator> bind_single(const Binding&, const Layer&, const TopK&);

/// Makes an operator whose run() calls `body`, which allocates nothing.
template <class Body>
std::unique_ptr<BoundOperator> make_operator(Body body) {
  class Operator final : public BoundOperator {
   public:
    explicit Operator(Body&& b) : body_(std::move(b)) {}
    void run() override { body_(); }

   private:
    Body body_;
  };
  return std::make_unique<Operator>(std::move(body));
}

/// Returns the number of the share's threads that are worth starting for so many values.
inline int team_for(const CoreShare& share, std::int64_t values) {
  return team_for(share.threads, static_cast<std::size_t>(std::max<std::int64_t>(0, values)));
}

}  // namespace hios::cpu
