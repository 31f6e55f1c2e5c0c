#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/files/file_io.h"
#include "hios/model/model.h"
#include "hios/model/weights/model_weights.h"

/// Files of weights in the safetensors format. Names and shapes are those that the model has as an
/// ONNX file: a layer's "conv1_weight" of (out, in/groups, kernel h, kernel w) and "conv1_bias".
namespace hios {

/// The tensors of a layer's parameters in a file.
struct LayerTensors {
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t elements() const;
  };
  std::optional<Tensor> weights, bias;
};

LayerTensors tensors_of(const Layer& layer);

/// Reads the weights of all layers. Throws InputError with the tensor's name: a file that is none,
/// a tensor that is missing, belongs to no layer, has another shape or another type than F32,
/// overlaps another, ends after the file, or has a NaN or an infinity.
ModelWeights read_weights(const std::filesystem::path& file, const Model& model,
                          const ReadLimits& limits = {});

/// Writes the values of all layers, in the order of the model. Throws as write_text() does.
/// REQUIRES: `values` returns as many as parameter_counts() says.
void write_weights(const std::filesystem::path& file, const Model& model,
                   const std::function<ModelWeights::Values(const Layer&)>& values,
                   Existing existing);

}  // namespace hios
