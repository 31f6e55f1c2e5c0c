#include "hios/model/model.h"

#include <algorithm>
#include <utility>

#include "hios/base/error.h"

namespace hios {

std::vector<Shape> Model::input_shapes(const Layer& layer) const {
  std::vector<Shape> shapes;
  shapes.reserve(layer.inputs.size());
  for (const TensorId id : layer.inputs) shapes.push_back(tensor(id).shape);
  return shapes;
}

double Model::flop() const {
  double sum = 0;
  for (const Layer& layer : layers_) {
    sum += hios::flop(layer.kind, input_shapes(layer), tensor(layer.output).shape);
  }
  return sum;
}

std::int64_t Model::parameters() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers_) sum += hios::parameters(layer.kind, input_shapes(layer));
  return sum;
}

ModelBuilder::ModelBuilder(std::string name, const Shape& input) {
  model_.name_ = std::move(name);
  try {
    infer_shape(Relu{}, std::span(&input, 1));  // any layer that takes every shape that can be
  } catch (const InputError&) {
    throw InputError("model '" + printable(model_.name_) + "': an input of " + input.to_string() +
                     " cannot be; batch, channels, height and width must be at least 1 and hold "
                     "no more than 2^40 values");
  }
  model_.tensors_.push_back({"input", input, std::nullopt});
  model_.consumers_.emplace_back();
  names_.insert("input");
}

TensorId ModelBuilder::add(std::string name, LayerKind kind, std::vector<TensorId> inputs) {
  const std::string where = "model '" + printable(model_.name_) + "', layer '" + printable(name) +
                            "' (" + std::string(onnx_type(kind)) + "): ";
  if (name.empty()) throw InputError(where + "has no name; give it one");
  if (!names_.insert(name).second) throw InputError(where + "its name is taken; rename it");
  Layer layer{std::move(name), std::move(kind), std::move(inputs), TensorId(model_.tensors_.size()),
              block_};
  for (const TensorId input : layer.inputs) {
    if (input >= layer.output) throw InputError(where + "reads a tensor that does not exist yet");
  }

  Tensor output{layer.name, {}, LayerId(model_.layers_.size())};
  try {
    output.shape = infer_shape(layer.kind, model_.input_shapes(layer));
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

Model ModelBuilder::build() && {
  if (model_.layers_.empty()) {
    throw InputError("model '" + printable(model_.name_) + "' has no layers; add one");
  }
  for (std::size_t t = 0; t < model_.tensors_.size(); ++t) {
    if (model_.consumers_[t].empty()) model_.outputs_.push_back(TensorId(t));
  }
  return std::move(model_);
}

}  // namespace hios
