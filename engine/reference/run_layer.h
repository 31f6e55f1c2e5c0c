#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "engine/reference/kernels.h"
#include "hios/model/layer_kernel.h"

/// One layer of any kind, by the kernel of its kind.
namespace hios::reference {

/// The weights and biases of layers without a packed form, as the source gives them.
struct Parameters {
  std::vector<float> weights, bias;
};
using LayerWeights = std::variant<Parameters, PackedConv, PackedConvTranspose>;

/// Returns a layer's parameters in the form that its kernel reads.
LayerWeights packed(const LayerKind& kind, std::int64_t in_channels, Parameters parameters);

/// Computes a layer. `weights`: null if the layer has none.
void run_layer(const LayerKind& kind, const LayerWeights* weights, std::span<const Input> in,
               const Output& out);

/// Computes a layer from values in host memory (LayerKernel).
std::vector<float> compute_layer(const LayerKind& kind, std::span<const LayerOperand> inputs,
                                 const ModelWeights::Values& parameters);

}  // namespace hios::reference
