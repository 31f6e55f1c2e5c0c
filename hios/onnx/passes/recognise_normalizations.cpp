// Part of hios/onnx/passes/passes.h: recognises the LayerNorm (and InstanceNorm) that exporters
// write out before opset 17: the mean, the differences from it, the mean of their squares, a root,
// a quotient. Then a scale and a bias after it are folded in. Tests:
// tests/engine/onnx/functions_test.cpp.
#include <cmath>

#include "hios/onnx/consumers.h"
#include "hios/onnx/passes/passes.h"

namespace hios::onnx {
namespace {

using B = Binary::Function;

const Binary* binary_of(const DraftLayer* layer, B function) {
  const auto* binary = layer ? std::get_if<Binary>(&layer->kind) : nullptr;
  return binary != nullptr && binary->function == function ? binary : nullptr;
}

/// Returns the axes over which a layer computes the mean; empty if it computes something else.
std::optional<Axes> mean_of(const DraftLayer* layer) {
  if (layer == nullptr) return {};
  if (std::holds_alternative<GlobalAveragePool>(layer->kind)) return Axes{.h = true, .w = true};
  const auto* reduce = std::get_if<Reduce>(&layer->kind);
  if (reduce == nullptr || reduce->function != Reduce::Function::kMean) return {};
  return reduce->axes;
}

/// Matches the pattern backwards from its last layer.
class Pattern {
 public:
  Pattern(const Draft& draft, const Consumers& consumers, const DraftLayer& root)
      : draft_(draft), consumers_(consumers), root_(root) {}

  struct Found {
    Normalization kind;
    DraftId x;
    Shape shape;
  };

  std::optional<Found> find() {
    if (root_.inputs.size() != 2) return {};
    if (binary_of(&root_, B::kDiv)) return match(0, 1, false);
    if (!binary_of(&root_, B::kMul)) return {};
    const auto found = match(0, 1, true);
    return found ? found : match(1, 0, true);
  }

 private:
  const DraftLayer* step(DraftId tensor) {
    const DraftLayer* layer = consumers_.producer(tensor);
    if (layer != nullptr) inside_.push_back(layer);
    return layer;
  }

  /// Matches a root that divides input `difference` by input `deviation`; `inverted`: that
  /// multiplies it by the reciprocal.
  std::optional<Found> match(std::size_t difference, std::size_t deviation, bool inverted) {
    inside_.clear();
    const Shape& shape = root_.input_shapes[difference];
    const DraftLayer* sub = step(root_.inputs[difference]);
    if (!binary_of(sub, B::kSub) || sub->inputs.size() != 2) return {};
    const DraftId x = sub->inputs[0];
    const DraftLayer* mean = step(sub->inputs[1]);
    const auto axes = mean_of(mean);
    const bool of_x = axes && mean->inputs.front() == x && mean->input_shapes.front() == shape;
    if (!of_x || sub->input_shapes[0] != shape) return {};
    const Shape& reduced = draft_.tensors[mean->output.index()].shape;
    if (sub->input_shapes[1] != reduced || root_.input_shapes[deviation] != reduced) return {};
    const auto variance = variance_of(root_.inputs[deviation], inverted);
    if (!variance) return {};
    const DraftLayer* average = step(variance->first);
    if (mean_of(average) != axes || average->input_shapes.front() != shape) return {};
    if (!is_square_of(step(average->inputs.front()), sub->output)) return {};
    if (!consumers_.can_replace(inside_, root_)) return {};
    return Found{{*axes, 0, variance->second, {}, {}}, x, shape};
  }

  /// Returns the variance and epsilon of sqrt(variance + epsilon), or of its reciprocal.
  std::optional<std::pair<DraftId, float>> variance_of(DraftId deviation, bool inverted) {
    const DraftLayer* layer = step(deviation);
    bool rooted = layer && is_power(*layer, inverted ? -0.5 : 0.5);
    if (!rooted && inverted) {
      if (!layer || !inverts(*layer)) return {};
      layer = step(layer->inputs.front());
    }
    if (!layer) return {};
    const auto* unary = std::get_if<Unary>(&layer->kind);
    rooted =
        rooted || (unary && unary->function == Unary::Function::kSqrt) || is_power(*layer, 0.5);
    if (!rooted) return {};
    const DraftLayer* sum = step(layer->inputs.front());
    const auto epsilon = sum ? scalar_of(*sum) : std::nullopt;
    if (!epsilon || !binary_of(sum, B::kAdd) || !(*epsilon >= 0)) return {};
    return std::pair(sum->inputs.front(), static_cast<float>(*epsilon));
  }

  static bool is_power(const DraftLayer& layer, double exponent) {
    const Binary* pow = binary_of(&layer, B::kPow);
    return pow != nullptr && !pow->constant_first && scalar_of(layer) == exponent;
  }

  static bool inverts(const DraftLayer& layer) {
    const auto* unary = std::get_if<Unary>(&layer.kind);
    if (unary != nullptr) return unary->function == Unary::Function::kReciprocal;
    const Binary* div = binary_of(&layer, B::kDiv);
    return div != nullptr && div->constant_first && scalar_of(layer) == 1;
  }

  static bool is_square_of(const DraftLayer* layer, DraftId x) {
    if (layer == nullptr || layer->inputs.front() != x) return false;
    if (is_power(*layer, 2)) return true;
    return binary_of(layer, B::kMul) && layer->inputs.size() == 2 && layer->inputs[1] == x &&
           layer->input_shapes[0] == layer->input_shapes[1];
  }

  const Draft& draft_;
  const Consumers& consumers_;
  const DraftLayer& root_;
  std::vector<const DraftLayer*> inside_;
};

/// Turns a product or sum with a constant, after a normalization without a scale or bias, into the
/// normalization with it.
void fold_parameters(const Draft& draft, const Consumers& consumers, DraftLayer& layer) {
  const bool scale = binary_of(&layer, B::kMul), bias = binary_of(&layer, B::kAdd);
  if ((!scale && !bias) || !std::get<Binary>(layer.kind).constant) return;
  const DraftLayer* producer = consumers.producer(layer.inputs.front());
  const auto* bare = producer ? std::get_if<Normalization>(&producer->kind) : nullptr;
  if (bare == nullptr || !consumers.has_one(producer->output)) return;
  const Shape& shape = producer->input_shapes.front();
  if (layer.input_shapes.front() != shape || draft.tensors[layer.output.index()].shape != shape) {
    return;
  }
  Normalization kind = *bare;
  if (kind.bias || (scale && kind.scale)) return;
  (scale ? kind.scale : kind.bias) = std::get<Binary>(layer.kind).constant;
  ModelWeights::Values values = producer->parameters;
  (scale ? values.weights : values.bias) = std::move(layer.parameters.weights);
  layer.inputs = producer->inputs;
  layer.input_shapes = producer->input_shapes;
  layer.kind = kind;
  layer.parameters = std::move(values);
}

}  // namespace

void recognise_normalizations(Draft& draft) {
  const Consumers consumers(draft);
  for (DraftLayer& layer : draft.layers) {
    if (const auto found = Pattern(draft, consumers, layer).find()) {
      layer.kind = found->kind;
      layer.inputs = {found->x};
      layer.input_shapes = {found->shape};
      layer.parameters = {};
    } else {
      fold_parameters(draft, consumers, layer);
    }
  }
  drop_unused(draft);
}

}  // namespace hios::onnx
