// Operators whose tensors are ranges of others, as batches and shards have them, may begin at any
// value. The libraries were promised aligned operands, and a kernel that reads four values at once
// faults. So such an operator works on aligned copies, which cost one pass for each tensor that
// needs it: 21 of the 375 tensors of NASNet-A, whose sizes are odd, and few in other networks.
// tests/engine/cuda/emulated/divided_inputs_test.cpp has all kinds of beginnings.
#include <cstdint>
#include <utility>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/operators.h"

namespace hios::cuda {
namespace {

bool is_aligned(const std::byte* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kOperandAlignment == 0;
}

class OnAlignedCopies final : public BoundOperator {
 public:
  OnAlignedCopies(const Operation& operation, cudaStream_t stream)
      : doing_(doing_text(operation)),
        what_("an aligned copy for " + operation.name),
        stream_(stream) {}

  /// Return the address of a copy, which is made before the operator runs, or from which its output
  /// is copied afterwards; the tensor's own if that is aligned.
  const std::byte* input(const std::byte* data, Bytes size_bytes) {
    if (is_aligned(data)) return data;
    std::byte* const copy = make_block(size_bytes);
    before_.push_back({copy, data, size_bytes});
    return copy;
  }
  std::byte* output(std::byte* data, Bytes size_bytes) {
    if (is_aligned(data)) return data;
    std::byte* const copy = make_block(size_bytes);
    after_.push_back({data, copy, size_bytes});
    return copy;
  }
  void set(std::unique_ptr<BoundOperator> op) { operator_ = std::move(op); }

  void run() override {
    queue(before_);
    operator_->run();
    queue(after_);
  }

 private:
  struct Copy {
    std::byte* to;
    const std::byte* from;
    Bytes size_bytes;
  };

  std::byte* make_block(Bytes size_bytes) {
    return blocks_.emplace_back(std::make_unique<DeviceBlock>(size_bytes, what_))->data();
  }
  void queue(const std::vector<Copy>& copies) const {
    for (const Copy& copy : copies) {
      HIOS_CUDA(cudaMemcpyAsync(copy.to, copy.from, copy.size_bytes, cudaMemcpyDefault, stream_),
                doing_);
    }
  }

  std::string doing_, what_;
  cudaStream_t stream_;
  std::vector<std::unique_ptr<DeviceBlock>> blocks_;
  std::vector<Copy> before_, after_;
  std::unique_ptr<BoundOperator> operator_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_aligned(const Operation& operation,
                                            std::span<const std::byte* const> inputs,
                                            std::byte* output, const Resources& resources) {
  const auto bound_to = [&](std::span<const std::byte* const> from, std::byte* to) {
    return bind_operator({operation,
                          {operation, from},
                          to,
                          resources.source,
                          resources.tools,
                          resources.algorithms,
                          resources.weights,
                          resources.precision});
  };
  bool aligned = is_aligned(output);
  for (const std::byte* const input : inputs) aligned = aligned && is_aligned(input);
  if (aligned) return bound_to(inputs, output);

  const Bytes element_bytes = size_of(element_of(resources.precision));
  const OperatorLayers& layers = *operation.layers;
  auto copied = std::make_unique<OnAlignedCopies>(operation, resources.tools.stream.stream());
  std::vector<const std::byte*> from;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    from.push_back(copied->input(inputs[i], layers.input_shapes.at(i).size_bytes(element_bytes)));
  }
  std::byte* const to = copied->output(
      output, operation.model->tensor(layers.output).shape.size_bytes(element_bytes));
  copied->set(bound_to(from, to));
  return copied;
}

}  // namespace hios::cuda
