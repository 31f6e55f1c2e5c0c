// Part of engine/cpu/operators.h: operations that no fast form covers, which run part after part
// (engine/backend/layered.h), and the door to all operators.
#include "engine/backend/layered.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {
namespace {

class PartsOnCores final : public LayeredOperator {
 public:
  explicit PartsOnCores(const Binding& binding) {
    const auto make_buffer = [this](const Shape& shape) {
      const Bytes size_bytes = shape.size_bytes(element_bytes(Precision::kFp32));
      return buffers_.emplace_back(aligned_bytes(size_bytes)).get();
    };
    const auto bind_part = [&](const Operation& part, const BoundInputs& inputs,
                               std::byte* output) {
      return bind_operator({part, inputs, reinterpret_cast<float*>(output), binding.share,
                            binding.source, binding.engine, binding.stream, binding.weights,
                            binding.scratch});
    };
    bind_parts(binding.operation, binding.inputs, reinterpret_cast<std::byte*>(binding.output),
               make_buffer, bind_part);
  }

 private:
  std::vector<AlignedBytes> buffers_;  // of what is made inside
};

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain) {
  const bool bare = chain.terms.size() == 1 && !chain.relu_before && !chain.depthwise;
  if (bare) return bind_convolution(binding, chain);
  if (is_pointwise(binding.layer(chain.convolution))) return bind_separable(binding, chain);
  return bind_form(binding, LayeredForm{});
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const LayeredForm&) {
  return std::make_unique<PartsOnCores>(binding);
}

std::unique_ptr<BoundOperator> bind_operator(const Binding& binding) {
  return std::visit([&](const auto& form) { return bind_form(binding, form); },
                    binding.operation.layers->form);
}

}  // namespace hios::cpu
