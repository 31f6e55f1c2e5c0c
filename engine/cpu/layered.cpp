// The way for operations that no fast form covers: layer after layer, each by the operator that
// would run it alone (a convolution takes a relu behind it along), through buffers in between.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/cpu/operators.h"

namespace hios::cpu {
namespace {

class LayeredOperator final : public BoundOperator {
 public:
  LayeredOperator(const Binding& binding, std::span<const std::byte* const> inputs);
  void run() override {
    for (const auto& part : parts_) part->run();
  }

 private:
  float* place_for(const Binding& binding, TensorId id);

  std::vector<AlignedBytes> buffers_;
  std::map<TensorId, std::byte*> places_;  // of what was made inside
  std::vector<std::unique_ptr<BoundOperator>> parts_;
};

LayeredOperator::LayeredOperator(const Binding& binding, std::span<const std::byte* const> inputs) {
  const Operation& operation = binding.operation;
  const Model& model = *operation.model;
  SourceReader reader(operation, inputs);
  for (const OperatorLayers& part : parts_of(operation)) {
    std::vector<const std::byte*> part_inputs;
    for (const TensorId id : part.inputs) {
      const auto source = reader.next(id);
      part_inputs.push_back(source ? source->data : places_.at(id));
    }
    for (const LayerId id : part.layers) reader.made(model.layer(id).output);
    const Operation part_operation{&model, &part, operation.name, operation.signature};
    const Binding part_binding{part_operation,  place_for(binding, part.output),
                               binding.share,   binding.source,
                               binding.engine,  binding.stream,
                               binding.weights, binding.scratch};
    parts_.push_back(bind_operator(part_binding, part_inputs));
  }
}

/// The operation's output, or a new buffer.
float* LayeredOperator::place_for(const Binding& binding, TensorId id) {
  if (id == binding.operation.layers->output) return binding.output;
  const std::size_t size =
      binding.operation.model->tensor(id).shape.size_bytes(element_bytes(Precision::kFp32));
  buffers_.push_back(aligned_bytes(size));
  places_[id] = buffers_.back().get();
  return reinterpret_cast<float*>(buffers_.back().get());
}

}  // namespace

std::unique_ptr<BoundOperator> bind_layered(const Binding& binding,
                                            std::span<const std::byte* const> inputs) {
  return std::make_unique<LayeredOperator>(binding, inputs);
}

std::unique_ptr<BoundOperator> bind_operator(const Binding& binding,
                                             std::span<const std::byte* const> inputs) {
  struct Visitor {
    const Binding& binding;
    std::span<const std::byte* const> inputs;
    std::unique_ptr<BoundOperator> operator()(const ConvolutionChain& chain) const {
      const bool bare = chain.terms.size() == 1 && !chain.relu_before && !chain.depthwise;
      if (bare) return bind_convolution(binding, chain);
      if (is_pointwise(*chain.convolution)) return bind_separable(binding, chain);
      return bind_layered(binding, inputs);
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
      return bind_layered(binding, inputs);
    }
  };
  return std::visit(Visitor{binding, inputs}, form_of(binding.operation, inputs));
}

}  // namespace hios::cpu
