#pragma once

#include <filesystem>
#include <functional>

#include "hios/base/json/json_io.h"
#include "hios/model/model.h"

/// Models become ONNX files that other programs run.
namespace hios::onnx {

/// The weights and the bias of a layer, as many values as parameter_counts() says, ordered as
/// TensorSource says.
using LayerValues = std::function<ModelWeights::Values(const Layer& layer)>;

/// Throws InputError where the model cannot be written: all kinds of layers that an ONNX file made
/// here does not have, at once; more weights than one file may hold (2 GiB); a build without ONNX.
void check_exportable(const Model& model);

/// Writes the model with these values (opset 14, fp32): its layers as nodes of their names, in
/// ONNX's order of dimensions, with the model's input and outputs. Whole or not at all, as
/// write_text. Throws what check_exportable throws before `values` is called, and what write_text
/// throws.
void export_model(const Model& model, const LayerValues& values, const std::filesystem::path& file,
                  Existing existing);

}  // namespace hios::onnx
