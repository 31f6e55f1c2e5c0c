// Operations that no other form covers, as a sequence of layers (engine/backend/layered.h).
#include "engine/backend/layered.h"
#include "engine/cuda/operators/operators.h"

namespace hios::cuda {
namespace {

class PartsOnGpu final : public LayeredOperator {
 public:
  explicit PartsOnGpu(const Binding& binding) {
    const std::string what = "a layer inside " + binding.operation.name;
    const auto make_buffer = [&](const Shape& shape) {
      const Bytes size_bytes = shape.size_bytes(size_of(binding.element()));
      return buffers_.emplace_back(std::make_unique<DeviceBlock>(size_bytes, what))->data();
    };
    const auto bind_part = [&](const Operation& part, const BoundInputs& inputs,
                               std::byte* output) {
      return bind_operator({part, inputs, output, binding.source, binding.tools, binding.algorithms,
                            binding.weights, binding.precision});
    };
    bind_parts(binding.operation, binding.inputs, binding.output, make_buffer, bind_part);
  }

 private:
  std::vector<std::unique_ptr<DeviceBlock>> buffers_;  // intermediate results
};

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const LayeredForm&) {
  return std::make_unique<PartsOnGpu>(binding);
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ExpandedForm&) {
  return std::make_unique<PartsOnGpu>(binding);
}

}  // namespace hios::cuda
