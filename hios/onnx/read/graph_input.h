#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hios/onnx/model_file.h"
#include "hios/onnx/read/import.h"
#include "hios/onnx/view.h"

namespace hios::onnx {

/// An input of a file's graph.
struct GraphInput {
  std::string name;
  Dims dims;
  int element;  ///< TensorProto::DataType
};

/// Reads the graph's inputs: those without a value (`is_known`: by name). Throws InputError as
/// import_model() does.
std::vector<GraphInput> read_inputs(ModelFile& file, const ImportOptions& options,
                                    const std::function<bool(const std::string&)>& is_known);

}  // namespace hios::onnx
