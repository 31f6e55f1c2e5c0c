// Operations that no fast form covers (engine/cpu/operators.h): part after part, each by the
// operator that would run it alone, through buffers in between; and the door to all operators.
#include <utility>

#include "engine/backend/operation.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {
namespace {

class LayeredOperator final : public BoundOperator {
 public:
  explicit LayeredOperator(const Binding& binding);
  void run() override {
    for (const auto& part : parts_) part->run();
  }

 private:
  std::byte* place_for(const Binding& binding, TensorId id);

  std::vector<AlignedBytes> buffers_;  // of what is made inside
  std::vector<std::unique_ptr<BoundOperator>> parts_;
};

LayeredOperator::LayeredOperator(const Binding& binding) {
  const Operation& operation = binding.operation;
  std::vector<std::byte*> made;  // by part
  for (const Part& part : parts_of(*operation.model, *operation.layers)) {
    const std::vector<const std::byte*> inputs = binding.inputs.of_part(part, made);
    made.push_back(place_for(binding, part.layers.output));
    const Operation part_operation = operation_of(operation, part);
    parts_.push_back(bind_operator({part_operation,
                                    {part_operation, inputs},
                                    reinterpret_cast<float*>(made.back()),
                                    binding.share,
                                    binding.source,
                                    binding.engine,
                                    binding.stream,
                                    binding.weights,
                                    binding.scratch}));
  }
}

/// The operation's output, or a new buffer.
std::byte* LayeredOperator::place_for(const Binding& binding, TensorId id) {
  if (id == binding.operation.layers->output) return reinterpret_cast<std::byte*>(binding.output);
  const std::size_t size =
      binding.operation.model->tensor(id).shape.size_bytes(element_bytes(Precision::kFp32));
  return buffers_.emplace_back(aligned_bytes(size)).get();
}

}  // namespace

std::unique_ptr<BoundOperator> bind_layered(const Binding& binding) {
  return std::make_unique<LayeredOperator>(binding);
}

std::unique_ptr<BoundOperator> bind_operator(const Binding& binding) {
  struct Visitor {
    const Binding& binding;
    std::unique_ptr<BoundOperator> operator()(const ConvolutionChain& chain) const {
      const bool bare = chain.terms.size() == 1 && !chain.relu_before && !chain.depthwise;
      if (bare) return bind_convolution(binding, chain);
      if (is_pointwise(binding.layer(chain.convolution))) return bind_separable(binding, chain);
      return bind_layered(binding);
    }
    std::unique_ptr<BoundOperator> operator()(const PoolForm& form) const {
      return bind_pool(binding, form);
    }
    std::unique_ptr<BoundOperator> operator()(const GlobalAverageForm& form) const {
      return bind_global_average(binding, form);
    }
    std::unique_ptr<BoundOperator> operator()(const CombineForm& form) const {
      return bind_combine(binding, form);
    }
    std::unique_ptr<BoundOperator> operator()(const LayeredForm&) const {
      return bind_layered(binding);
    }
  };
  return std::visit(Visitor{binding}, binding.operation.layers->form);
}

}  // namespace hios::cpu
