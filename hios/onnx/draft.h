#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hios/model/layer.h"
#include "hios/model/weights.h"
#include "hios/onnx/view.h"

namespace hios::onnx {

/// A layer of the model to be: passes may still change it.
struct DraftLayer {
  std::string name;
  LayerKind kind;
  std::vector<DraftId> inputs;
  std::vector<Shape> input_shapes;  ///< in which it reads them
  DraftId output;
  ModelWeights::Values parameters;
  /// Shift and scale of channels, written as a depthwise 1×1 convolution: what the convolution in
  /// front can take in.
  bool affine = false;
};

struct DraftTensor {
  Shape shape;
  std::optional<std::size_t> producer;  ///< the layer's index; empty: the input, or a dead layer's
};

/// An output of the file.
struct DraftOutput {
  std::string name;
  DraftId tensor;
  Dims dims;  ///< as the file has them; images lie in memory as NHWC, others row-major
};

/// Layers in an order in which they can run.
struct Draft {
  std::string name;
  std::vector<DraftLayer> layers;
  std::vector<DraftTensor> tensors;
  std::vector<DraftOutput> outputs;
  Dims input_dims;
  std::string input_name;

  /// Names of layers that are taken, and the last number behind each.
  std::unordered_map<std::string, int> names;

  /// The name, or with a number behind it where it is taken. "input" is the model's.
  std::string unique(const std::string& wanted);
  std::int64_t size(DraftId tensor) const { return tensors[tensor.index()].shape.elements(); }
  /// Appends a layer and returns its output. Throws InputError where the kind refuses its inputs.
  DraftId add(DraftLayer layer);
};

}  // namespace hios::onnx
