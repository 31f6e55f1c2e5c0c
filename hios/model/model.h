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
#include "hios/base/json/json_io.h"
#include "hios/model/layer.h"
#include "hios/model/weights.h"

namespace hios {

/// A convolution that became part of a wider one (hios/graph/fusion/merge_siblings.h).
struct MergedConvolution {
  std::string name;           ///< as it was called; seeds its weights
  std::int64_t channels = 0;  ///< of its output
  bool operator==(const MergedConvolution&) const = default;
};

/// One layer: its inputs in order, its one output.
struct Layer {
  std::string name;  ///< unique in the model; seeds its weights
  LayerKind kind;
  std::vector<TensorId> inputs;
  /// In which shape it reads each input: the tensor's own, or another of as many values, which lie
  /// in memory in the same order.
  std::vector<Shape> input_shapes;
  TensorId output;
  /// The cell or block that the layer belongs to ("cell_4"); operators never span two of them, and
  /// the exact scheduler may cut a large graph between them.
  std::string block;
  /// Of a wide convolution: what it is made of, one behind the other along its output's channels,
  /// each with the weights that it has by itself. Else empty.
  std::vector<MergedConvolution> merged = {};
};

/// A value: the model's input, or the output of a layer (of the same name).
struct Tensor {
  std::string name;
  Shape shape;
  std::optional<LayerId> producer;  ///< empty: the model's input
};

/// The input as whoever made the model calls it.
struct NamedInput {
  std::string name;
  std::vector<std::int64_t> dims;  ///< as NamedOutput::dims
};

/// An output as whoever made the model calls it.
struct NamedOutput {
  std::string name;
  TensorId tensor;
  /// Of any rank: four are N, C, H, W, which lie as NHWC in memory; others lie row-major.
  std::vector<std::int64_t> dims;
};

/// Values of these dims between row-major order and the order of memory (see NamedOutput::dims).
/// REQUIRES: as many values as dims say.
std::vector<float> in_memory_order(std::vector<float> row_major,
                                   std::span<const std::int64_t> dims);
std::vector<float> in_row_major_order(std::vector<float> memory,
                                      std::span<const std::int64_t> dims);

/// What is computed: layers in topological order over tensors, ONNX operator names, attributes and
/// semantics. Immutable once built; any thread may read it.
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
  /// Tensor 0 is the input.
  TensorId input() const { return TensorId(0); }
  /// What it is computed for, each once: the tensors named at its building (layers may read them
  /// too), or those that no layer consumes, in order.
  std::span<const TensorId> outputs() const { return outputs_; }
  bool is_output(TensorId id) const { return is_output_[id.index()]; }
  /// The outputs in their own order, which may name a tensor twice.
  std::span<const NamedOutput> named_outputs() const { return named_outputs_; }
  const NamedInput& named_input() const { return named_input_; }
  /// The weights that came with it; null: they are drawn from a seed.
  const ModelWeights* weights() const { return weights_.get(); }
  /// True if operators are called as their layers are; else by kind and number ("conv_3").
  bool keeps_layer_names() const { return keeps_layer_names_; }
  /// The layers that read a tensor, in order, with multiplicity.
  std::span<const LayerId> consumers(TensorId id) const { return consumers_[id.index()]; }

  double flop() const;              ///< of the whole model
  std::int64_t parameters() const;  ///< weights and biases, in elements

 private:
  friend class ModelBuilder;
  std::string name_;
  std::vector<Layer> layers_;
  std::vector<Tensor> tensors_;
  std::vector<TensorId> outputs_;
  std::vector<bool> is_output_;  ///< by TensorId
  std::vector<NamedOutput> named_outputs_;
  NamedInput named_input_;
  std::shared_ptr<const ModelWeights> weights_;
  bool keeps_layer_names_ = false;
  std::vector<std::vector<LayerId>> consumers_;
};

/// Builds a Model layer by layer, checking each as it comes: a layer that cannot be (an empty
/// output, channels that do not divide, a name used twice) is an InputError that names it. The name
/// "input" is the input's.
class ModelBuilder {
 public:
  ModelBuilder(std::string name, const Shape& input);

  TensorId input() const { return TensorId(0); }
  /// Everything added from now on belongs to this block.
  void begin_block(std::string block) { block_ = std::move(block); }

  /// Adds any layer; the rest is shorthand for it. `name` must be new. `input_shapes`: in which it
  /// reads its inputs; empty: in their own.
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

  /// `conv` of all members' channels together, with their weights (Layer::merged).
  TensorId merged_conv(std::string name, const Conv& conv, TensorId x, const Shape& input_shape,
                       std::vector<MergedConvolution> members);

  const Shape& shape(TensorId id) const { return model_.tensors_[id.index()].shape; }
  void keep_layer_names() { model_.keeps_layer_names_ = true; }
  /// Values for all layers with weights.
  void set_weights(ModelWeights weights) {
    model_.weights_ = std::make_shared<const ModelWeights>(std::move(weights));
  }
  /// Those of another model, by the same names of layers.
  void share_weights(const Model& other) { model_.weights_ = other.weights_; }
  /// `outputs`: see Model::outputs; empty: what no layer consumes.
  Model build(const std::vector<TensorId>& outputs = {}) &&;
  Model build(std::vector<NamedOutput> outputs, NamedInput input) &&;

 private:
  Model model_;
  std::string block_;
  std::unordered_set<std::string> names_;
};

/// `hios-model`: the Model written out. Reading it back
/// gives an equal Model, but for what a wide convolution is made of (Layer::merged), which is not
/// written.
Json to_json(const Model& model);
/// `batch`, `height`, `width` replace those of the file's input where given.
Model model_from_json(const JsonView& root, std::optional<std::int64_t> batch = {},
                      std::optional<std::int64_t> height = {},
                      std::optional<std::int64_t> width = {});

}  // namespace hios
