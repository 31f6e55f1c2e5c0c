#pragma once

#include <functional>
#include <string>

#include "hios/onnx/model_file.h"
#include "hios/onnx/read/import.h"

namespace hios::onnx {

/// The input of a file's graph.
struct GraphInput {
  std::string name;
  Dims dims;
};

/// Reads the graph's one input: the only one without a value (`is_known`: by name). Throws
/// InputError as import_model() does.
GraphInput read_input(ModelFile& file, const ImportOptions& options,
                      const std::function<bool(const std::string&)>& is_known);

}  // namespace hios::onnx
