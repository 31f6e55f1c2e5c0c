// Part of hios/onnx/passes/passes.h: folds a scale s and a shift t of each channel (of a
// BatchNormalization, or of products and sums with constants) into the weights W and the bias b of
// a convolution. After it, (Wx + b)·s + t = (sW)x + (bs + t). Before it, W(sx + t) + b = (Ws)x +
// (Wt + b), if every tap reads x: the padding holds zeros, not t.
#include <cmath>

#include "hios/onnx/consumers.h"
#include "hios/onnx/passes/passes.h"

namespace hios::onnx {
namespace {

/// A factor and a shift for each channel, or one for all.
struct Affine {
  std::vector<double> factor, shift;

  double factor_of(std::size_t channel) const {
    return factor.size() == 1 ? factor.front() : factor[channel];
  }
  double shift_of(std::size_t channel) const {
    return shift.size() == 1 ? shift.front() : shift[channel];
  }
  /// Channels are innermost, so a layer that reads another shape with as many channels has the same
  /// channels.
  bool fits(std::int64_t channels) const {
    return factor.size() == 1 || factor.size() == static_cast<std::size_t>(channels);
  }
  bool is_finite() const {
    const auto finite = [](double value) { return std::isfinite(value); };
    return std::ranges::all_of(factor, finite) && std::ranges::all_of(shift, finite);
  }
  bool shifts() const {
    return std::ranges::any_of(shift, [](double value) { return value != 0; });
  }
};

/// Adds a channel of x ∘ constant, or constant ∘ x.
void add_channel(Affine& affine, const Binary& binary, double constant) {
  double factor = 1, shift = 0;
  switch (binary.function) {
    case Binary::Function::kMul:
      factor = constant;
      break;
    case Binary::Function::kDiv:
      factor = 1 / constant;
      break;
    case Binary::Function::kSub:
      factor = binary.constant_first ? -1 : 1;
      shift = binary.constant_first ? constant : -constant;
      break;
    default:
      shift = constant;
  }
  affine.factor.push_back(factor);
  affine.shift.push_back(shift);
}

/// Returns the scale and shift that a layer is; empty if it is something else.
std::optional<Affine> affine_of(const DraftLayer& layer) {
  Affine affine;
  const ModelWeights::Values& values = layer.parameters;
  if (layer.affine) {
    affine.factor.assign(values.weights.begin(), values.weights.end());
    affine.shift.assign(values.bias.begin(), values.bias.end());
  } else {
    using F = Binary::Function;
    const auto* binary = std::get_if<Binary>(&layer.kind);
    if (binary == nullptr || !binary->constant) return {};
    const bool linear = binary->function == F::kAdd || binary->function == F::kSub ||
                        binary->function == F::kMul ||
                        (binary->function == F::kDiv && !binary->constant_first);
    const Shape& constant = *binary->constant;
    if (!linear || constant.n * constant.h * constant.w != 1) return {};
    if (constant.c != 1 && constant.c != layer.input_shapes.front().c) return {};
    for (const float value : values.weights) add_channel(affine, *binary, value);
  }
  if (!affine.is_finite()) return {};
  return affine;
}

/// The layout of a convolution's weights, (a, b, taps), and the output channel of each weight.
struct Filter {
  std::int64_t outputs = 0;
  std::size_t inner = 0;  ///< b · taps of Conv, taps of ConvTranspose
  bool transposed = false;
  std::size_t group_outputs = 0;

  std::size_t output_of(std::size_t weight, std::size_t inputs_of_group) const {
    if (!transposed) return weight / inner;
    const std::size_t row = weight / (inner * group_outputs);  // channel of the input
    return row / inputs_of_group * group_outputs + weight / inner % group_outputs;
  }
};

/// Returns the layout of a layer's weights; empty if it is no convolution.
std::optional<Filter> filter_of(const DraftLayer& layer) {
  const std::size_t weights = layer.parameters.weights.size();
  if (const auto* conv = std::get_if<Conv>(&layer.kind)) {
    const auto outputs = static_cast<std::size_t>(conv->out_channels);
    return Filter{conv->out_channels, weights / outputs, false, 0};
  }
  if (const auto* conv = std::get_if<ConvTranspose>(&layer.kind)) {
    const auto taps = static_cast<std::size_t>(conv->kernel.h * conv->kernel.w);
    return Filter{conv->out_channels, taps, true,
                  static_cast<std::size_t>(conv->out_channels / conv->groups)};
  }
  return {};
}

void set_bias(DraftLayer& layer) {
  if (auto* conv = std::get_if<Conv>(&layer.kind)) conv->bias = true;
  if (auto* conv = std::get_if<ConvTranspose>(&layer.kind)) conv->bias = true;
}

std::int64_t groups_of(const DraftLayer& layer) {
  const auto* conv = std::get_if<Conv>(&layer.kind);
  return conv ? conv->groups : std::get<ConvTranspose>(layer.kind).groups;
}

/// Folds a scale and shift of the convolution's output.
void fold_output(DraftLayer& layer, const Filter& filter, const Affine& affine) {
  ModelWeights::Values& values = layer.parameters;
  const auto count = static_cast<std::size_t>(filter.outputs);
  const auto inputs = static_cast<std::size_t>(layer.input_shapes.front().c / groups_of(layer));
  for (std::size_t first = 0; first < values.weights.size(); first += filter.inner) {
    const double factor = affine.factor_of(filter.output_of(first, inputs));
    if (factor == 1) continue;  // a bias shifts only
    for (std::size_t i = first; i < first + filter.inner; ++i)
      values.weights[i] = static_cast<float>(values.weights[i] * factor);
  }
  if (values.bias.empty()) values.bias.assign(count, 0.0f);
  for (std::size_t c = 0; c < count; ++c) {
    values.bias[c] = static_cast<float>(values.bias[c] * affine.factor_of(c) + affine.shift_of(c));
  }
  set_bias(layer);
}

/// Folds a scale and shift of the convolution's input.
void fold_input(DraftLayer& layer, const Conv& conv, const Affine& affine) {
  ModelWeights::Values& values = layer.parameters;
  const auto outputs = static_cast<std::size_t>(conv.out_channels);
  const auto groups = static_cast<std::size_t>(conv.groups);
  const auto taps = static_cast<std::size_t>(conv.kernel.h * conv.kernel.w);
  const std::size_t inputs = static_cast<std::size_t>(layer.input_shapes.front().c) / groups;
  const bool shifts = affine.shifts();
  if (shifts && values.bias.empty()) values.bias.assign(outputs, 0.0f);
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t first = o / (outputs / groups) * inputs;
    double sum = 0;
    for (std::size_t i = 0; i < inputs * taps; ++i) {
      float& weight = values.weights[o * inputs * taps + i];
      const std::size_t channel = first + i / taps;
      sum += double{weight} * affine.shift_of(channel);
      weight = static_cast<float>(weight * affine.factor_of(channel));
    }
    if (shifts) values.bias[o] = static_cast<float>(values.bias[o] + sum);
  }
  if (shifts) set_bias(layer);
}

/// Tensors that replace others; applied to the draft at the end of a pass.
class Replacements {
 public:
  explicit Replacements(Draft& draft) : draft_(draft) {
    for (std::size_t i = 0; i < draft.tensors.size(); ++i) instead_.emplace_back(i);
  }
  DraftId of(DraftId tensor) const { return instead_[tensor.index()]; }
  /// REQUIRES: nothing replaces `instead`, and `old` comes after it.
  void replace(DraftId old, DraftId instead) { instead_[old.index()] = instead; }
  void apply() {
    for (DraftLayer& layer : draft_.layers) {
      for (DraftId& input : layer.inputs) input = of(input);
    }
    for (DraftOutput& output : draft_.outputs) output.tensor = of(output.tensor);
  }

 private:
  Draft& draft_;
  std::vector<DraftId> instead_;
};

void fold_into_producers(Draft& draft) {
  const Consumers consumers(draft);
  Replacements replacements(draft);
  for (DraftLayer& layer : draft.layers) {
    const auto affine = affine_of(layer);
    if (!affine || !consumers.has_one(layer.inputs.front())) continue;
    const DraftId made = replacements.of(layer.inputs.front());
    const auto producer = draft.tensors[made.index()].producer;
    if (!producer) continue;
    DraftLayer& convolution = draft.layers[*producer];
    const auto filter = filter_of(convolution);
    if (!filter || !affine->fits(filter->outputs)) continue;
    fold_output(convolution, *filter, *affine);
    replacements.replace(layer.output, made);
  }
  replacements.apply();
  drop_unused(draft);
}

void fold_into_consumers(Draft& draft) {
  Consumers consumers(draft);
  for (std::size_t i = draft.layers.size(); i-- > 0;) {
    const DraftLayer& layer = draft.layers[i];
    const auto affine = affine_of(layer);
    if (!affine || !consumers.has_one(layer.output)) continue;
    const std::size_t next = consumers.of(layer.output).front();
    DraftLayer& consumer = draft.layers[next];
    const auto* conv = std::get_if<Conv>(&consumer.kind);
    if (conv == nullptr || !affine->fits(consumer.input_shapes.front().c)) continue;
    if (affine->shifts() && conv->padding != Padding{}) continue;
    fold_input(consumer, *conv, *affine);
    consumer.inputs.front() = layer.inputs.front();
    consumer.affine = false;
    consumers.take_over(layer.inputs.front(), i, next);
  }
  drop_unused(draft);
}

}  // namespace

void fold_affine(Draft& draft) {
  fold_into_producers(draft);
  fold_into_consumers(draft);
}

}  // namespace hios::onnx
