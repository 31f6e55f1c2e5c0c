#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "hios/base/ids.h"
#include "hios/model/layer.h"
#include "hios/model/named_inputs.h"
#include "hios/model/weights/model_weights.h"

namespace hios {

/// A convolution that became part of a wider one (hios/graph/fusion/merge_siblings.h).
struct MergedConvolution {
  std::string name;           ///< its name before; seeds its weights
  std::int64_t channels = 0;  ///< channels of its output
  bool operator==(const MergedConvolution&) const = default;
};

/// A layer: its inputs in order and its one output.
struct Layer {
  std::string name;  ///< unique in the model; seeds its weights
  LayerKind kind;
  std::vector<TensorId> inputs;
  /// The shape in which it reads each input: the tensor's own, or another with as many values,
  /// which lie in memory in the same order.
  std::vector<Shape> input_shapes;
  TensorId output;
  /// The block of the network that the layer belongs to ("cell_4"). Operators never span two
  /// blocks, and the exact scheduler may cut a large graph between blocks.
  std::string block;
  /// The convolutions that a wide one consists of, in the order of its output's channels, each with
  /// its own weights. Empty for any other layer.
  std::vector<MergedConvolution> merged = {};
  /// The layer of Model::whole() whose parameters it has: the same layer, or that of which it is a
  /// shard (hios/graph/cuts/shard.h). Empty for a model that was not cut.
  std::optional<LayerId> origin = {};
  /// The rows or channels of its origin's output that it computes, with the parameters of these
  /// channels. Empty: all of them, or there is no origin.
  std::optional<AxisRange> range = {};
};

/// A value: the model's input, or the output of a layer (of the same name).
struct Tensor {
  std::string name;
  Shape shape;
  std::optional<LayerId> producer;  ///< empty: the model's input
};

/// An output with the name and dims that the model's author gave it.
struct NamedOutput {
  std::string name;
  TensorId tensor;
  /// Extents of any rank: four are N, C, H, W, which lie as NHWC in memory; others lie row-major.
  std::vector<std::int64_t> dims;
};

/// A network: layers in topological order over tensors, with the names, attributes and semantics of
/// ONNX operators. Immutable once built, except by forget_weights(); any thread may read it.
/// model_json.h reads and writes it.
class Model {
 public:
  const std::string& name() const { return name_; }
  std::int64_t batch() const { return tensors_.front().shape.n; }
  std::int64_t height() const { return tensors_.front().shape.h; }
  std::int64_t width() const { return tensors_.front().shape.w; }

  std::span<const Layer> layers() const { return layers_; }
  std::span<const Tensor> tensors() const { return tensors_; }
  const Layer& layer(LayerId id) const { return layers_[id.index()]; }
  const Tensor& tensor(TensorId id) const { return tensors_[id.index()]; }
  /// Returns the input, which is tensor 0.
  TensorId input() const { return TensorId(0); }
  /// Returns the model's results, each once: the tensors named to build() (layers may consume them,
  /// too), or those that no layer consumes, in order.
  std::span<const TensorId> outputs() const { return outputs_; }
  bool is_output(TensorId id) const { return is_output_[id.index()]; }
  /// Returns the outputs in the author's order; a tensor may occur twice.
  std::span<const NamedOutput> named_outputs() const { return named_outputs_; }
  /// Returns the author's inputs: the input itself, or several that it holds (named_inputs.h).
  std::span<const NamedInput> named_inputs() const { return named_inputs_; }
  /// Returns the weights of the model's file; null: they are drawn from a seed.
  const ModelWeights* weights() const { return weights_.get(); }
  /// Returns the model before operators were cut; null: none was. Layers have its parameters
  /// (Layer::origin).
  const Model* whole() const { return whole_.get(); }
  /// Returns a copy with these weights, of all layers; or of those that were merged into others, or
  /// cut.
  Model with_weights(ModelWeights weights) const;
  /// Frees a layer's weights, and those of the convolutions that were merged into it, in all models
  /// that share them. For a program that reads them no more: nothing guards other readers.
  void forget_weights(const Layer& layer) const;
  /// Returns true if operators have the names of their layers; otherwise they are named by kind and
  /// number ("conv_3").
  bool keeps_layer_names() const { return keeps_layer_names_; }
  /// Returns the layers that read a tensor, in order, with multiplicity.
  std::span<const LayerId> consumers(TensorId id) const { return consumers_[id.index()]; }

  double flop() const;              ///< operations of the whole model
  std::int64_t parameters() const;  ///< weights and biases, in elements

 private:
  friend class ModelBuilder;
  std::string name_;
  std::vector<Layer> layers_;
  std::vector<Tensor> tensors_;
  std::vector<TensorId> outputs_;
  std::vector<bool> is_output_;  ///< by TensorId
  std::vector<NamedOutput> named_outputs_;
  std::vector<NamedInput> named_inputs_;
  std::shared_ptr<ModelWeights> weights_;
  std::shared_ptr<const Model> whole_;
  bool keeps_layer_names_ = false;
  std::vector<std::vector<LayerId>> consumers_;
};

/// A Model under construction, layer by layer. An impossible layer (an empty output, channels that
/// do not divide, a name used twice) is refused with an InputError that names it. The input has the
/// name "input".
class ModelBuilder {
 public:
  ModelBuilder(std::string name, const Shape& input);

  TensorId input() const { return TensorId(0); }
  /// Begins a block: layers added from now on belong to it.
  void begin_block(std::string block) { block_ = std::move(block); }

  /// Adds any layer; the functions below are shorthand for it. `name` must be new. `input_shapes`
  /// are those in which it reads its inputs; empty: their own.
  TensorId add(std::string name, LayerKind kind, std::vector<TensorId> inputs,
               std::vector<Shape> input_shapes = {});

  TensorId conv(std::string name, TensorId x, const Conv& conv) {
    return add(std::move(name), conv, {x});
  }
  TensorId pool(std::string name, TensorId x, const Pool& pool) {
    return add(std::move(name), pool, {x});
  }
  TensorId global_average_pool(std::string name, TensorId x) {
    return add(std::move(name), GlobalAveragePool{}, {x});
  }
  TensorId relu(std::string name, TensorId x) { return add(std::move(name), Relu{}, {x}); }
  TensorId sum(std::string name, std::vector<TensorId> xs) {
    return add(std::move(name), Sum{}, std::move(xs));
  }
  TensorId concat(std::string name, std::vector<TensorId> xs) {
    return add(std::move(name), Concat{}, std::move(xs));
  }

  /// Adds `conv` with all members' channels together and their weights (Layer::merged).
  TensorId merged_conv(std::string name, const Conv& conv, TensorId x, const Shape& input_shape,
                       std::vector<MergedConvolution> members);

  /// Sets Layer::origin and Layer::range of the layer that was added last, and the model that it is
  /// a layer of.
  void set_origin(LayerId origin, const std::optional<AxisRange>& range = {}) {
    model_.layers_.back().origin = origin;
    model_.layers_.back().range = range;
  }
  void set_whole(std::shared_ptr<const Model> whole) {
    share_weights(*whole);
    model_.whole_ = std::move(whole);
  }

  const Shape& shape(TensorId id) const { return model_.tensors_[id.index()].shape; }
  void keep_layer_names() { model_.keeps_layer_names_ = true; }
  /// Sets the values of all layers with weights.
  void set_weights(ModelWeights weights) {
    model_.weights_ = std::make_shared<ModelWeights>(std::move(weights));
  }
  /// Takes the weights of another model, whose layers have the same names.
  void share_weights(const Model& other) { model_.weights_ = other.weights_; }
  /// Ends the construction. `outputs`: see Model::outputs; empty: the tensors that no layer
  /// consumes.
  Model build(const std::vector<TensorId>& outputs = {}) &&;
  /// REQUIRES: the named inputs are as many values as the input, at least one.
  Model build(std::vector<NamedOutput> outputs, std::vector<NamedInput> inputs) &&;

 private:
  Model model_;
  std::string block_;
  std::unordered_set<std::string> names_;
};

}  // namespace hios
