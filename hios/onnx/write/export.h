#pragma once

#include <filesystem>
#include <functional>

#include "hios/base/files/file_io.h"
#include "hios/model/model.h"

/// Models written as ONNX files.
namespace hios::onnx {

/// Returns the weights and the bias of a layer: parameter_counts() of them, in TensorSource's
/// order.
using LayerValues = std::function<ModelWeights::Values(const Layer& layer)>;

/// Throws InputError if the model cannot be written: it has layers that opset 14 cannot express
/// (all named at once), or more weights than one file may hold (2 GiB). A build without ONNX
/// (without_export.cpp) always throws.
void check_exportable(const Model& model);

/// Writes the model with these values (opset 14, fp32). Each layer becomes a node of its name, in
/// ONNX's order of dimensions; the model's input and outputs keep their names. Writes the whole
/// file or nothing, as write_text() does. Throws as check_exportable() does, before it calls
/// `values`, and as write_text() does.
void export_model(const Model& model, const LayerValues& values, const std::filesystem::path& file,
                  Existing existing);

}  // namespace hios::onnx
