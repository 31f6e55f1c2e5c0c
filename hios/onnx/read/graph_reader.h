#pragma once

#include "hios/onnx/draft.h"
#include "hios/onnx/read/file.h"
#include "hios/onnx/read/import.h"

namespace hios::onnx {

/// The graph of a file as layers, one node after the other, nothing fused yet.
Draft read_graph(ModelFile& file, const ImportOptions& options);

}  // namespace hios::onnx
