#include "hios/model/model.h"

#include <algorithm>
#include <utility>

#include "hios/base/error.h"
#include "hios/model/infer_shape.h"

namespace hios {
namespace {

/// Fills in shapes that were left out, and refuses one with another number of values than its
/// tensor.
void settle_input_shapes(const Model& model, Layer& layer, const std::string& where) {
  if (layer.input_shapes.empty()) {
    for (const TensorId input : layer.inputs) {
      layer.input_shapes.push_back(model.tensor(input).shape);
    }
  }
  if (layer.input_shapes.size() != layer.inputs.size()) {
    throw InputError(where + "needs a shape for each input that it reads");
  }
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const Shape &own = model.tensor(layer.inputs[i]).shape, &read = layer.input_shapes[i];
    if (own == read || own.elements() == read.elements()) continue;
    throw InputError(where + "reads " + own.to_string() + " as " + read.to_string() +
                     ", which is not as many values");
  }
}

}  // namespace

Model Model::with_weights(ModelWeights weights) const {
  Model copy = *this;
  copy.weights_ = std::make_shared<ModelWeights>(std::move(weights));
  if (whole_) {
    Model whole = *whole_;
    whole.weights_ = copy.weights_;
    copy.whole_ = std::make_shared<const Model>(std::move(whole));
  }
  return copy;
}

void Model::forget_weights(const Layer& layer) const {
  if (!weights_) return;
  weights_->forget(layer.name);
  for (const MergedConvolution& member : layer.merged) weights_->forget(member.name);
}

double Model::flop() const {
  double sum = 0;
  for (const Layer& layer : layers_) {
    sum += hios::flop(layer.kind, layer.input_shapes, tensor(layer.output).shape);
  }
  return sum;
}

std::int64_t Model::parameters() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers_) sum += hios::parameters(layer.kind, layer.input_shapes);
  return sum;
}

ModelBuilder::ModelBuilder(std::string name, const Shape& input) {
  model_.name_ = std::move(name);
  try {
    infer_shape(Relu{}, std::span(&input, 1));  // a layer that accepts every possible shape
  } catch (const InputError&) {
    throw InputError("model '" + printable(model_.name_) + "': an input of " + input.to_string() +
                     " cannot be; batch, channels, height and width must be at least 1 and hold "
                     "no more than 2^40 values");
  }
  model_.tensors_.push_back({"input", input, std::nullopt});
  model_.consumers_.emplace_back();
  names_.insert("input");
}

TensorId ModelBuilder::add(std::string name, LayerKind kind, std::vector<TensorId> inputs,
                           std::vector<Shape> input_shapes) {
  const std::string where = "model '" + printable(model_.name_) + "', layer '" + printable(name) +
                            "' (" + std::string(onnx_type(kind)) + "): ";
  if (name.empty()) throw InputError(where + "has no name; give it one");
  if (!names_.insert(name).second) throw InputError(where + "its name is taken; rename it");
  Layer layer{std::move(name),
              std::move(kind),
              std::move(inputs),
              std::move(input_shapes),
              TensorId(model_.tensors_.size()),
              block_};
  for (const TensorId input : layer.inputs) {
    if (input >= layer.output) throw InputError(where + "reads a tensor that does not exist yet");
  }
  settle_input_shapes(model_, layer, where);

  Tensor output{layer.name, {}, LayerId(model_.layers_.size())};
  try {
    output.shape = infer_shape(layer.kind, layer.input_shapes);
  } catch (const InputError& error) {
    throw InputError(where + error.what());
  }
  for (const TensorId input : layer.inputs) {
    model_.consumers_[input.index()].push_back(*output.producer);
  }
  model_.tensors_.push_back(std::move(output));
  model_.consumers_.emplace_back();
  model_.layers_.push_back(std::move(layer));
  return model_.layers_.back().output;
}

TensorId ModelBuilder::merged_conv(std::string name, const Conv& conv, TensorId x,
                                   const Shape& input_shape,
                                   std::vector<MergedConvolution> members) {
  const TensorId made = add(std::move(name), conv, {x}, {input_shape});
  model_.layers_.back().merged = std::move(members);
  return made;
}

Model ModelBuilder::build(const std::vector<TensorId>& outputs) && {
  std::vector<NamedOutput> named;
  const auto add = [&](TensorId id) {
    if (id.index() >= model_.tensors_.size()) {
      throw InputError("model '" + printable(model_.name_) + "': an output does not exist");
    }
    const Tensor& tensor = model_.tensors_[id.index()];
    const Shape& shape = tensor.shape;
    named.push_back({tensor.name, id, {shape.n, shape.c, shape.h, shape.w}});
  };
  for (const TensorId output : outputs) add(output);
  for (std::size_t t = 0; outputs.empty() && t < model_.tensors_.size(); ++t) {
    if (model_.consumers_[t].empty()) add(TensorId(t));
  }
  const Tensor& input = model_.tensors_.front();
  const Shape& in = input.shape;
  return std::move(*this).build(std::move(named), {{input.name, {in.n, in.c, in.h, in.w}}});
}

Model ModelBuilder::build(std::vector<NamedOutput> outputs, std::vector<NamedInput> inputs) && {
  if (model_.layers_.empty()) {
    throw InputError("model '" + printable(model_.name_) + "' has no layers; add one");
  }
  model_.is_output_.resize(model_.tensors_.size());
  for (const NamedOutput& output : outputs) {
    if (!model_.is_output_[output.tensor.index()]) model_.outputs_.push_back(output.tensor);
    model_.is_output_[output.tensor.index()] = true;
  }
  model_.named_outputs_ = std::move(outputs);
  model_.named_inputs_ = std::move(inputs);
  return std::move(model_);
}

}  // namespace hios
