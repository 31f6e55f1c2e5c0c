// The way for operations that no other form covers: part after part, each by the operator that
// would run it alone, through buffers in between.
#include <map>

#include "engine/cuda/operators/operators.h"

namespace hios::cuda {
namespace {

class LayeredOperator final : public BoundOperator {
 public:
  LayeredOperator(const Binding& binding, std::span<const std::byte* const> inputs) {
    const Operation& operation = binding.operation;
    const Model& model = *operation.model;
    SourceReader reader(operation, inputs);
    for (const OperatorLayers& part : parts_of(operation)) {
      std::vector<const std::byte*> part_inputs;
      for (const TensorId id : part.inputs) {
        const auto source = reader.next(id);
        part_inputs.push_back(source ? source->data : buffers_.at(id)->data());
      }
      for (const LayerId id : part.layers) reader.made(model.layer(id).output);
      std::byte* output = binding.output;
      if (part.output != operation.layers->output) {
        auto& buffer = buffers_[part.output];
        buffer = std::make_unique<DeviceBlock>(
            model.tensor(part.output).shape.size_bytes(size_of(binding.element())),
            "a layer inside " + operation.name);
        output = buffer->data();
      }
      const Operation part_operation{&model, &part, operation.name, operation.signature};
      parts_.push_back(bind_operator({part_operation, output, binding.source, binding.tools,
                                      binding.choices, binding.weights, binding.precision},
                                     part_inputs));
    }
  }
  void run() override {
    for (const auto& part : parts_) part->run();
  }

 private:
  std::map<TensorId, std::unique_ptr<DeviceBlock>> buffers_;  // of what is made inside
  std::vector<std::unique_ptr<BoundOperator>> parts_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_layered(const Binding& binding,
                                            std::span<const std::byte* const> inputs) {
  return std::make_unique<LayeredOperator>(binding, inputs);
}

}  // namespace hios::cuda
