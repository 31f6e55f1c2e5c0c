#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hios/model/model.h"
#include "hios/onnx/write/graph_maker.h"

namespace hios::onnx {

/// The opset of written files.
inline constexpr std::int64_t kWrittenOpset = 14;

/// Returns the property of a layer that these nodes cannot express ("Move", "Softmax over several
/// axes"); empty if they can express the layer.
std::string inexpressible(const Layer& layer);

/// Adds the nodes and constants of one layer. `inputs`: images (N, C, H, W) in the shapes in which
/// the layer reads them. REQUIRES: inexpressible(layer) is empty.
void write_layer(GraphMaker& graph, const Model& model, const Layer& layer,
                 const std::vector<std::string>& inputs, const std::string& output,
                 ModelWeights::Values values);

}  // namespace hios::onnx
