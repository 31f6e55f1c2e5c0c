#include "engine/cpu/operators.h"

#include "engine/backend/layered.h"
#include "engine/cpu/bind_convolutions.h"
#include "engine/cpu/kernels/activation_pass.h"

namespace hios::cpu {
namespace {

/// An operation without a fast form, as a sequence of layers.
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
                            binding.scratch, binding.choices});
    };
    bind_parts(binding.operation, binding.inputs, reinterpret_cast<std::byte*>(binding.output),
               make_buffer, bind_part);
  }

 private:
  std::vector<AlignedBytes> buffers_;  // intermediate results
};

/// Returns true if each window overlaps the image along each axis. Where a window's rows all lie in
/// the padding and the primitive adds to its output, oneDNN 2.6 omits the bias.
bool reads_image_everywhere(const Binding& binding, const ConvolutionChain& chain) {
  const Conv& conv = std::get<Conv>(binding.layer(chain.convolution).kind);
  const Shape& input = binding.inputs[chain.terms.front()].shape;
  const Shape output = binding.output_shape();
  const auto along = [](std::int64_t outputs, std::int64_t inputs, std::int64_t stride,
                        std::int64_t pad, std::int64_t kernel, std::int64_t dilation) {
    for (std::int64_t at = 0; at < outputs; ++at) {
      const std::int64_t first = at * stride - pad;
      const std::int64_t above = first < 0 ? (-first + dilation - 1) / dilation : 0;
      if (above >= kernel || first + above * dilation >= inputs) return false;
    }
    return true;
  };
  return along(output.h, input.h, conv.stride.h, conv.padding.begin.h, conv.kernel.h,
               conv.dilation.h) &&
         along(output.w, input.w, conv.stride.w, conv.padding.begin.w, conv.kernel.w,
               conv.dilation.w);
}

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain) {
  const Method method = binding.choices.of(binding.operation);
  if (method.winograd && !chain.has_front()) {
    if (auto bound = bind_winograd(binding, chain, method.rows)) return bound;
  }
  if (!method.winograd && method.rows > 0 && !chain.has_front() &&
      reads_image_everywhere(binding, chain)) {
    return bind_row_blocks(binding, chain, method.rows);
  }
  const bool apart = chain.activation && is_faster_apart(&binding.layer(*chain.activation).kind);
  const Layer& layer = binding.layer(chain.convolution);
  const bool blocks =
      apart && is_pointwise(layer) && std::get<Conv>(layer.kind).stride == Extent{1, 1};
  if (!chain.has_front() && !chain.addend && !blocks) return bind_convolution(binding, chain);
  if (is_pointwise(binding.layer(chain.convolution))) return bind_separable(binding, chain);
  if (!chain.has_front() && reads_image_everywhere(binding, chain)) {
    return bind_convolution(binding, chain);
  }
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
