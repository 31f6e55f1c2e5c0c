#pragma once

#include "hios/onnx/draft.h"
#include "hios/onnx/model_file.h"
#include "hios/onnx/read/import.h"

namespace hios::onnx {

/// Reads the graph of a file, node by node, into layers; nothing is simplified yet. Throws
/// InputError as import_model() does.
Draft read_graph(ModelFile& file, const ImportOptions& options);

}  // namespace hios::onnx
