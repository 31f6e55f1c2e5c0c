#include "hios/graph/fusion/fusion.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "hios/model/channel_slice.h"

namespace hios {
namespace {

/// A layer and the origin of each of its inputs; tensors made inside are counted by layers.
struct ReadLayer {
  LayerId id;
  const Layer* layer;
  std::vector<Operand> operands;

  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&layer->kind);
  }
  bool reads_only_inputs() const {
    return std::ranges::none_of(operands, [](const Operand& o) { return o.made_inside; });
  }
  /// REQUIRES: reads_only_inputs().
  std::vector<InputIndex> inputs() const {
    std::vector<InputIndex> result;
    for (const Operand& operand : operands) result.emplace_back(operand.index);
    return result;
  }
};

/// Reads the layers and counts the operator's inputs in the order of consumption.
std::vector<ReadLayer> read_layers(const Model& model, std::span<const LayerId> layers) {
  std::vector<ReadLayer> result;
  std::map<TensorId, std::size_t> made;
  std::size_t next_input = 0;
  for (const LayerId id : layers) {
    const Layer& layer = model.layer(id);
    ReadLayer& read = result.emplace_back(ReadLayer{id, &layer, {}});
    for (const TensorId input : layer.inputs) {
      const auto producer = made.find(input);
      read.operands.push_back(producer == made.end() ? Operand{false, next_input++}
                                                     : Operand{true, producer->second});
    }
    made.emplace(layer.output, made.size());
  }
  return result;
}

/// Returns true if every layer after the first reads the one before it and nothing else.
bool is_linear(std::span<const ReadLayer> layers) {
  for (std::size_t i = 1; i < layers.size(); ++i) {
    if (layers[i].operands != std::vector{Operand{true, i - 1}}) return false;
  }
  return layers.front().reads_only_inputs();
}

/// A position in a chain of layers, each of which reads the one before it.
class Cursor {
 public:
  explicit Cursor(std::span<const ReadLayer> layers) : layers_(layers) {}

  bool at_end() const { return next_ == layers_.size(); }
  /// Returns the next layer, if it reads the one before it (the first: inputs) and nothing else.
  const ReadLayer* peek(std::size_t ahead = 0) const {
    const std::size_t i = next_ + ahead;
    if (i >= layers_.size()) return nullptr;
    const ReadLayer& layer = layers_[i];
    const bool follows =
        i == 0 ? layer.reads_only_inputs() : layer.operands == std::vector{Operand{true, i - 1}};
    return follows ? &layer : nullptr;
  }
  template <class Kind>
  const ReadLayer* take() {
    const ReadLayer* const layer = peek();
    return layer && layer->as<Kind>() ? (++next_, layer) : nullptr;
  }
  const ReadLayer* take_activation() {
    const ReadLayer* const layer = peek();
    return layer && is_activation(layer->layer->kind) ? (++next_, layer) : nullptr;
  }
  /// Takes a product with a gate before a pointwise convolution.
  const ReadLayer* take_gated() {
    const ReadLayer *const product = peek(), *const pointwise = peek(1);
    if (!product || !pointwise || !gate_of(*product->layer)) return nullptr;
    return is_pointwise(*pointwise->layer) ? (++next_, product) : nullptr;
  }
  /// Takes a sum of two and returns the input that it adds to the previous layer's output.
  std::optional<InputIndex> take_addend() {
    if (at_end() || next_ == 0 || !layers_[next_].as<Sum>()) return {};
    const std::vector<Operand>& operands = layers_[next_].operands;
    if (operands.size() != 2 || operands[0].made_inside == operands[1].made_inside) return {};
    const auto& [made, other] = std::pair(operands[operands[0].made_inside ? 0 : 1],
                                          operands[operands[0].made_inside ? 1 : 0]);
    if (made.index != next_ - 1) return {};
    ++next_;
    return InputIndex(other.index);
  }

 private:
  std::span<const ReadLayer> layers_;
  std::size_t next_ = 0;
};

/// Continues a chain with the layers of: (depthwise activation? pointwise | conv) (+ addend)?
/// activation?
std::optional<ConvolutionChain> end_of_chain(Cursor& next, ConvolutionChain chain) {
  const ReadLayer *const first = next.peek(), *const second = next.peek(1);
  const bool activated = second && is_activation(second->layer->kind);
  const ReadLayer* const pointwise = activated ? next.peek(2) : second;
  if (!chain.gate && first && pointwise && is_separable(*first->layer, *pointwise->layer)) {
    chain.depthwise = next.take<Conv>()->id;
    if (activated) chain.between = next.take_activation()->id;
  }
  const ReadLayer* const convolution = next.take<Conv>();
  if (!convolution) return {};
  chain.convolution = convolution->id;
  chain.addend = next.take_addend();
  if (const ReadLayer* const activation = next.take_activation()) chain.activation = activation->id;
  if (!next.at_end()) return {};
  return chain;
}

/// Returns the layers of: (gated | sum? relu?) and the end of a chain.
std::optional<ConvolutionChain> convolution_chain(std::span<const ReadLayer> layers) {
  if (!layers.front().reads_only_inputs()) return {};
  ConvolutionChain chain{.terms = layers.front().inputs()};
  Cursor next(layers);
  if (const ReadLayer* const gated = next.take_gated()) {
    const std::size_t gate = *gate_of(*gated->layer);
    chain.gate = chain.terms[gate];
    chain.terms = {chain.terms[1 - gate]};
  } else {
    next.take<Sum>();
    chain.relu_before = next.take<Relu>() != nullptr;
  }
  return end_of_chain(next, std::move(chain));
}

/// Returns the layers of: pointwise activation? depthwise activation? pointwise (+ addend)?
/// activation?
std::optional<ExpandedForm> expanded_chain(std::span<const ReadLayer> layers) {
  Cursor next(layers);
  const ReadLayer* const expansion = next.take<Conv>();
  if (!expansion || !reads_every_pixel(*expansion->layer)) return {};
  const ReadLayer* const activation = next.take_activation();
  const InputIndex input = expansion->inputs().front();
  auto chain = end_of_chain(next, {.terms = {input}});
  if (!chain || !chain->depthwise) return {};
  return ExpandedForm{input, expansion->id,
                      activation ? std::optional(activation->id) : std::nullopt, *std::move(chain)};
}

/// Returns the layers of: sum | relu | sum relu
std::optional<CombineForm> combine_chain(std::span<const ReadLayer> layers) {
  if (!is_linear(layers) || layers.size() > 2) return {};
  const bool relu = layers.back().as<Relu>() != nullptr;
  const bool sum = layers.front().as<Sum>() != nullptr;
  if (layers.size() == 2 ? !(sum && relu) : !(sum || relu)) return {};
  return CombineForm{{layers.front().inputs()}, relu};
}

/// Returns the range of channels that a layer takes of its input, where it does nothing else.
std::optional<ChannelSlice> slice_of(const ReadLayer& read) {
  const Move* const move = read.as<Move>();
  if (move == nullptr) return {};
  const auto first = first_sliced_channel(*move, read.layer->input_shapes.front());
  if (!first) return {};
  return ChannelSlice{*first, move->output.c};
}

/// Matches a concat on channels, last, of inputs and of sums and slices of inputs.
std::optional<CombineForm> concat_of_terms(std::span<const ReadLayer> layers) {
  const Concat* concat = layers.back().as<Concat>();
  if (concat == nullptr || concat->axis != Axis::kC) return {};
  for (const ReadLayer& read : layers.first(layers.size() - 1)) {
    if (!read.as<Sum>() && !slice_of(read)) return {};
    if (!read.reads_only_inputs()) return {};
  }
  CombineForm form;
  bool sliced = false;
  for (const Operand& operand : layers.back().operands) {
    const auto slice = operand.made_inside ? slice_of(layers[operand.index]) : std::nullopt;
    form.slices.push_back(slice.value_or(ChannelSlice{}));
    sliced = sliced || slice;
    form.ranges.push_back(operand.made_inside ? layers[operand.index].inputs()
                                              : std::vector{InputIndex(operand.index)});
  }
  if (!sliced) form.slices.clear();
  return form;
}

Form form_of(std::span<const ReadLayer> layers) {
  if (auto chain = convolution_chain(layers)) return *std::move(chain);
  if (auto expanded = expanded_chain(layers)) return *std::move(expanded);
  if (auto combine = combine_chain(layers)) return *std::move(combine);
  if (auto concat = concat_of_terms(layers)) return *std::move(concat);
  if (layers.size() == 1) {
    const ReadLayer& only = layers.front();
    if (only.as<Pool>()) return PoolForm{InputIndex(0), only.id};
    if (const auto slice = slice_of(only)) return CombineForm{{{InputIndex(0)}}, false, {*slice}};
    if (only.as<GlobalAveragePool>()) return GlobalAverageForm{InputIndex(0)};
    return SingleForm{only.id};
  }
  return LayeredForm{};
}

/// Cuts an operator after each layer that `joins_next` does not join to the next one.
template <class JoinsNext>
std::vector<Part> cut(const Model& model, const OperatorLayers& op, JoinsNext&& joins_next) {
  const std::vector<ReadLayer> layers = read_layers(model, op.layers);
  std::vector<std::size_t> part_of(layers.size());  // by layer
  std::vector<Part> parts;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t end = first + 1;
    while (end < layers.size() && joins_next(layers[end - 1], layers[end])) ++end;
    Part part;
    std::vector<LayerId> ids;
    for (std::size_t i = first; i < end; ++i) {
      ids.push_back(layers[i].id);
      part_of[i] = parts.size();
      for (Operand operand : layers[i].operands) {
        if (operand.made_inside && operand.index >= first) continue;
        if (operand.made_inside) operand.index = part_of[operand.index];
        part.operands.push_back(operand);
      }
    }
    part.layers = fuse(model, std::move(ids));
    parts.push_back(std::move(part));
    first = end;
  }
  return parts;
}

}  // namespace

OperatorLayers fuse(const Model& model, std::vector<LayerId> layers) {
  OperatorLayers op;
  op.layers = std::move(layers);
  op.output = model.layer(op.layers.back()).output;
  const std::vector<ReadLayer> read = read_layers(model, op.layers);
  for (const ReadLayer& layer : read) {
    for (std::size_t i = 0; i < layer.operands.size(); ++i) {
      if (layer.operands[i].made_inside) continue;
      op.inputs.push_back(layer.layer->inputs[i]);
      op.input_shapes.push_back(layer.layer->input_shapes[i]);
    }
  }
  op.form = form_of(read);
  return op;
}

std::vector<Part> parts_of(const Model& model, const OperatorLayers& op) {
  if (const auto* const expanded = std::get_if<ExpandedForm>(&op.form)) {
    return cut(model, op, [&](const ReadLayer&, const ReadLayer& next) {
      return next.id != *expanded->chain.depthwise;
    });
  }
  return cut(model, op, [&](const ReadLayer& layer, const ReadLayer& next) {
    return (layer.as<Conv>() || layer.as<Sum>()) && next.as<Relu>() &&
           next.layer->inputs.front() == layer.layer->output &&
           model.consumers(layer.layer->output).size() == 1;
  });
}

std::vector<Part> single_layers(const Model& model, const OperatorLayers& op) {
  return cut(model, op, [](const ReadLayer&, const ReadLayer&) { return false; });
}

bool is_activation(const LayerKind& kind) {
  if (std::holds_alternative<Relu>(kind)) return true;
  const Unary* unary = std::get_if<Unary>(&kind);
  if (unary == nullptr) return false;
  using enum Unary::Function;
  switch (unary->function) {
    case kClip:
    case kElu:
    case kGelu:
    case kGeluTanh:
    case kHardSigmoid:
    case kHardSwish:
    case kLeakyRelu:
    case kMish:
    case kSigmoid:
    case kSilu:
    case kTanh:
      return true;
    default:
      return false;
  }
}

bool is_depthwise(const Layer& layer) {
  const Conv* conv = std::get_if<Conv>(&layer.kind);
  if (conv == nullptr || conv->groups == 1) return false;
  const std::int64_t channels = layer.input_shapes.front().c;
  return conv->groups == channels && conv->out_channels == channels;
}

bool is_pointwise(const Layer& layer) {
  const Conv* conv = std::get_if<Conv>(&layer.kind);
  return conv != nullptr && conv->groups == 1 && conv->kernel == Extent{1, 1} &&
         conv->padding == Padding{0, 0};
}

bool reads_every_pixel(const Layer& layer) {
  return is_pointwise(layer) && std::get<Conv>(layer.kind).stride == Extent{1, 1};
}

std::optional<std::size_t> gate_of(const Layer& layer) {
  const Binary* const binary = std::get_if<Binary>(&layer.kind);
  if (binary == nullptr || binary->function != Binary::Function::kMul || binary->constant)
    return {};
  for (const std::size_t gate : {std::size_t{0}, std::size_t{1}}) {
    const Shape &factors = layer.input_shapes[gate], &image = layer.input_shapes[1 - gate];
    if (image.h * image.w > 1 && factors == Shape{image.n, image.c, 1, 1}) return gate;
  }
  return {};
}

bool is_separable(const Layer& depthwise, const Layer& pointwise) {
  return is_depthwise(depthwise) && reads_every_pixel(pointwise) &&
         std::get<Conv>(depthwise.kind).dilation == Extent{};
}

double flop(const Model& model, const OperatorLayers& op) {
  double sum = 0;
  for (const LayerId id : op.layers) {
    const Layer& layer = model.layer(id);
    sum += flop(layer.kind, layer.input_shapes, model.tensor(layer.output).shape);
  }
  return sum;
}

}  // namespace hios
