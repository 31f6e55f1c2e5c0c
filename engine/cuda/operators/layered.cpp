// Operations that no other form covers (engine/cuda/operators/operators.h): part after part, each
// by the operator that would run it alone, through buffers in between.
#include "engine/backend/operation.h"
#include "engine/cuda/operators/operators.h"

namespace hios::cuda {
namespace {

class LayeredOperator final : public BoundOperator {
 public:
  explicit LayeredOperator(const Binding& binding) {
    const Operation& operation = binding.operation;
    std::vector<std::byte*> made;  // by part
    for (const Part& part : parts_of(*operation.model, *operation.layers)) {
      const std::vector<const std::byte*> inputs = binding.inputs.of_part(part, made);
      made.push_back(place_for(binding, part.layers.output));
      const Operation part_operation = operation_of(operation, part);
      parts_.push_back(bind_operator({part_operation,
                                      {part_operation, inputs},
                                      made.back(),
                                      binding.source,
                                      binding.tools,
                                      binding.algorithms,
                                      binding.weights,
                                      binding.precision}));
    }
  }
  void run() override {
    for (const auto& part : parts_) part->run();
  }

 private:
  /// The operation's output, or a new buffer.
  std::byte* place_for(const Binding& binding, TensorId id) {
    if (id == binding.operation.layers->output) return binding.output;
    const Shape& shape = binding.operation.model->tensor(id).shape;
    return buffers_
        .emplace_back(std::make_unique<DeviceBlock>(shape.size_bytes(size_of(binding.element())),
                                                    "a layer inside " + binding.operation.name))
        ->data();
  }

  std::vector<std::unique_ptr<DeviceBlock>> buffers_;  // of what is made inside
  std::vector<std::unique_ptr<BoundOperator>> parts_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_layered(const Binding& binding) {
  return std::make_unique<LayeredOperator>(binding);
}

}  // namespace hios::cuda
