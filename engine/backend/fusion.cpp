#include "engine/backend/fusion.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace hios {
namespace {

/// Every layer of the operation with the sources that it reads; an input made inside the operation
/// has none.
struct ReadLayer {
  const Layer* layer;
  std::vector<std::optional<Source>> inputs;

  bool reads_only_outside() const {
    return std::ranges::all_of(inputs, [](const auto& input) { return input.has_value(); });
  }
  std::vector<Source> sources() const {
    std::vector<Source> result;
    for (const auto& input : inputs) result.push_back(*input);
    return result;
  }
  template <class Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&layer->kind);
  }
};

std::vector<ReadLayer> read_layers(const Operation& operation,
                                   std::span<const std::byte* const> inputs) {
  SourceReader reader(operation, inputs);
  std::vector<ReadLayer> result;
  for (const LayerId id : operation.layers->layers) {
    const Layer& layer = operation.model->layer(id);
    ReadLayer& read = result.emplace_back(ReadLayer{&layer, {}});
    for (const TensorId input : layer.inputs) read.inputs.push_back(reader.next(input));
    reader.made(layer.output);
  }
  return result;
}

/// True if every layer after the first reads the one before it and nothing else.
bool is_linear(std::span<const ReadLayer> layers) {
  for (std::size_t i = 1; i < layers.size(); ++i) {
    const std::vector<TensorId>& inputs = layers[i].layer->inputs;
    if (inputs.size() != 1 || inputs[0] != layers[i - 1].layer->output) return false;
  }
  return layers.front().reads_only_outside();
}

/// sum? relu? (depthwise pointwise | conv) relu?
std::optional<ConvolutionChain> convolution_chain(const Model& model,
                                                  std::span<const ReadLayer> layers) {
  if (!is_linear(layers)) return {};
  ConvolutionChain chain{.terms = layers.front().sources()};
  std::size_t i = 0;
  const auto take = [&](bool matches) { return matches ? layers[i++].layer : nullptr; };
  const auto here = [&] { return i < layers.size(); };
  take(here() && layers[i].as<Sum>() != nullptr);
  chain.relu_before = take(here() && layers[i].as<Relu>() != nullptr) != nullptr;
  chain.depthwise = take(i + 1 < layers.size() && is_depthwise(model, *layers[i].layer) &&
                         is_pointwise(*layers[i + 1].layer) &&
                         std::get<Conv>(layers[i + 1].layer->kind).stride == Extent{1, 1});
  chain.convolution = take(here() && layers[i].as<Conv>() != nullptr);
  chain.relu_after = take(here() && layers[i].as<Relu>() != nullptr) != nullptr;
  if (chain.convolution == nullptr || here()) return {};
  return chain;
}

/// sum | relu | sum relu
std::optional<CombineForm> combine_chain(std::span<const ReadLayer> layers) {
  if (!is_linear(layers) || layers.size() > 2) return {};
  const bool relu = layers.back().as<Relu>() != nullptr;
  const bool sum = layers.front().as<Sum>() != nullptr;
  if (layers.size() == 2 ? !(sum && relu) : !(sum || relu)) return {};
  return CombineForm{{layers.front().sources()}, relu};
}

/// A concat, last, of sources and of sums of sources.
std::optional<CombineForm> concat_of_sums(std::span<const ReadLayer> layers) {
  const ReadLayer& concat = layers.back();
  if (concat.as<Concat>() == nullptr) return {};
  std::map<TensorId, std::vector<Source>> sums;
  for (const ReadLayer& read : layers.first(layers.size() - 1)) {
    if (read.as<Sum>() == nullptr || !read.reads_only_outside()) return {};
    sums.emplace(read.layer->output, read.sources());
  }
  CombineForm form;
  for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
    const auto& source = concat.inputs[i];
    form.ranges.push_back(source ? std::vector{*source} : sums.at(concat.layer->inputs[i]));
  }
  return form;
}

}  // namespace

SourceReader::SourceReader(const Operation& operation, std::span<const std::byte* const> inputs)
    : operation_(operation), inputs_(inputs) {
  if (inputs.size() != operation.layers->inputs.size()) {
    throw std::logic_error(operation.name + " has " +
                           std::to_string(operation.layers->inputs.size()) + " inputs, bound to " +
                           std::to_string(inputs.size()));
  }
}

std::optional<Source> SourceReader::next(TensorId id) {
  if (std::ranges::find(made_, id) != made_.end()) return {};
  const std::size_t input = next_++;
  if (operation_.layers->inputs.at(input) != id) {
    throw std::logic_error("the inputs of " + operation_.name +
                           " are not listed in the order in which its layers read them");
  }
  return Source{inputs_[input], operation_.model->tensor(id).shape};
}

std::vector<OperatorLayers> parts_of(const Operation& operation) {
  const Model& model = *operation.model;
  const std::vector<LayerId>& layers = operation.layers->layers;
  std::vector<OperatorLayers> parts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = model.layer(layers[i]);
    OperatorLayers& part =
        parts.emplace_back(OperatorLayers{{layers[i]}, layer.inputs, layer.output});
    if (i + 1 == layers.size() || !std::holds_alternative<Conv>(layer.kind)) continue;
    const Layer& next = model.layer(layers[i + 1]);
    if (std::holds_alternative<Relu>(next.kind) && next.inputs.front() == layer.output &&
        model.consumers(layer.output).size() == 1) {
      part.layers.push_back(layers[++i]);
      part.output = next.output;
    }
  }
  return parts;
}

bool is_depthwise(const Model& model, const Layer& layer) {
  const Conv* conv = std::get_if<Conv>(&layer.kind);
  if (conv == nullptr || conv->groups == 1) return false;
  const std::int64_t channels = model.tensor(layer.inputs.front()).shape.c;
  return conv->groups == channels && conv->out_channels == channels;
}

bool is_pointwise(const Layer& layer) {
  const Conv* conv = std::get_if<Conv>(&layer.kind);
  return conv != nullptr && conv->groups == 1 && conv->kernel == Extent{1, 1} &&
         conv->padding == Extent{0, 0};
}

Form form_of(const Operation& operation, std::span<const std::byte* const> inputs) {
  const std::vector<ReadLayer> layers = read_layers(operation, inputs);
  if (auto chain = convolution_chain(*operation.model, layers)) return *std::move(chain);
  if (auto combine = combine_chain(layers)) return *std::move(combine);
  if (auto concat = concat_of_sums(layers)) return *std::move(concat);
  if (layers.size() == 1) {
    if (const Pool* pool = layers[0].as<Pool>()) return PoolForm{*layers[0].inputs[0], *pool};
    if (layers[0].as<GlobalAveragePool>()) return GlobalAverageForm{*layers[0].inputs[0]};
  }
  return LayeredForm{};
}

}  // namespace hios
