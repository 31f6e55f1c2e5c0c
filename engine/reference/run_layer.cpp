#include "engine/reference/run_layer.h"

#include <optional>
#include <utility>

#include "hios/model/infer_shape.h"

namespace hios::reference {
namespace {

/// Calls the kernel of a layer's kind.
struct RunLayer {
  const LayerWeights* given;
  std::span<const Input> in;
  const Output& out;

  template <class Weights>
  const Weights& weights() const {
    return std::get<Weights>(*given);
  }
  Input weight(const std::optional<Shape>& shape) const {
    return shape ? Input{weights<Parameters>().weights.data(), *shape} : Input{};
  }
  Input bias(const std::optional<Shape>& shape) const {
    return shape ? Input{weights<Parameters>().bias.data(), *shape} : Input{};
  }

  void operator()(const Conv&) const { weights<PackedConv>().run(in[0], out); }
  void operator()(const ConvTranspose&) const { weights<PackedConvTranspose>().run(in[0], out); }
  void operator()(const Pool& kind) const { pool(kind, in[0], out); }
  void operator()(const GlobalAveragePool&) const { global_average_pool(in[0], out); }
  void operator()(const Relu&) const { relu(in[0], out); }
  void operator()(const Sum&) const { sum(in, out); }
  void operator()(const Concat& kind) const { concat(kind, in, out); }
  void operator()(const Unary& kind) const { unary(kind, in[0], out); }
  void operator()(const Binary& kind) const {
    const Input other = kind.constant ? weight(kind.constant) : in[1];
    if (kind.constant_first) {
      binary(kind, other, in[0], out);
    } else {
      binary(kind, in[0], other, out);
    }
  }
  void operator()(const Softmax& kind) const { softmax(kind, in[0], out); }
  void operator()(const Reduce& kind) const { reduce(kind, in[0], out); }
  void operator()(const Normalization& kind) const {
    normalize(kind, in[0], weight(kind.scale), bias(kind.bias), out);
  }
  void operator()(const LocalResponseNormalization& kind) const {
    normalize_response(kind, in[0], out);
  }
  void operator()(const Resize& kind) const { resize(kind, in[0], out); }
  void operator()(const Pad& kind) const { pad(kind, in[0], out); }
  void operator()(const Move& kind) const { move(kind, in[0], out); }
  void operator()(const MatMul& kind) const { multiply(kind, in[0], in[1], out); }
  void operator()(const Gather& kind) const {
    gather(in[0], kind.table ? weight(kind.table) : in[1], out);
  }
  void operator()(const TopK& kind) const { find_top(kind, in[0], out); }
};

}  // namespace

LayerWeights packed(const LayerKind& kind, std::int64_t in_channels, Parameters parameters) {
  if (const auto* conv = std::get_if<Conv>(&kind)) {
    return PackedConv(*conv, in_channels, parameters.weights, parameters.bias);
  }
  if (const auto* conv = std::get_if<ConvTranspose>(&kind)) {
    return PackedConvTranspose(*conv, in_channels, parameters.weights, parameters.bias);
  }
  return parameters;
}

void run_layer(const LayerKind& kind, const LayerWeights* weights, std::span<const Input> in,
               const Output& out) {
  std::visit(RunLayer{weights, in, out}, kind);
}

std::vector<float> compute_layer(const LayerKind& kind, std::span<const LayerOperand> inputs,
                                 const ModelWeights::Values& parameters) {
  std::vector<Input> in;
  std::vector<Shape> shapes;
  for (const LayerOperand& operand : inputs) {
    in.push_back({operand.values.data(), operand.shape});
    shapes.push_back(operand.shape);
  }
  const LayerWeights weights =
      packed(kind, shapes.front().c, {parameters.weights, parameters.bias});
  const Shape shape = infer_shape(kind, shapes);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  run_layer(kind, &weights, in, {values.data(), shape});
  return values;
}

}  // namespace hios::reference
