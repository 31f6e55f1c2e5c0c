#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hios/model/layer.h"
#include "hios/model/named_inputs.h"
#include "hios/model/weights/model_weights.h"
#include "hios/onnx/view.h"

namespace hios::onnx {

/// A layer of the draft; passes may still change it.
struct DraftLayer {
  std::string name;
  LayerKind kind;
  std::vector<DraftId> inputs;
  std::vector<Shape> input_shapes;  ///< the shapes in which the layer reads its inputs
  DraftId output;
  ModelWeights::Values parameters;
  /// True for a scale and shift of each channel, stored as a depthwise 1×1 convolution.
  /// fold_affine() can fold it into an adjacent convolution.
  bool affine = false;
};

struct DraftTensor {
  Shape shape;
  std::optional<std::size_t>
      producer;  ///< index of its layer; empty: the input, or a removed layer's
};

/// An output of the ONNX graph.
struct DraftOutput {
  std::string name;
  DraftId tensor;
  Dims dims;  ///< dims as in the file; images are stored as NHWC, others row-major
};

/// The model while it is read: layers in topological order.
struct Draft {
  std::string name;
  std::vector<DraftLayer> layers;
  std::vector<DraftTensor> tensors;
  std::vector<DraftOutput> outputs;
  std::vector<NamedInput> inputs;
  /// By input: a part of its values looks up a table, as one column of several.
  std::vector<bool> looked_up_in_part;

  /// Memory for a copy of weights whose order changes (LayerEmitter::take_floats).
  std::vector<float> spare;

  /// Names of layers in use, each with the last number that was appended to it.
  std::unordered_map<std::string, int> names;

  /// Returns the name, with a number appended if it is in use ("input" always is), and reserves it.
  std::string unique(const std::string& wanted);
  std::int64_t size(DraftId tensor) const { return tensors[tensor.index()].shape.elements(); }
  /// Records that a node looks indices up among so many positions: if they are values of an input,
  /// also moved ones, the values drawn for it are below that. If they are all of its values, so are
  /// those that the user gives.
  void look_up(const View& indices, std::int64_t positions);
  /// Returns true for values of an input of integers or truth values, also moved ones.
  bool is_whole(const View& view) const;
  /// Appends a layer and returns its output. Throws InputError if the kind refuses its inputs.
  DraftId add(DraftLayer layer);

 private:
  /// Returns the index of the input whose values these are, also moved ones, if there is one.
  std::optional<std::size_t> input_of(const View& view) const;
};

}  // namespace hios::onnx
