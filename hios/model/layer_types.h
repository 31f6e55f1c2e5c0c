#pragma once

#include <string_view>
#include <vector>

namespace hios {

/// What onnx_type() can say (hios/model/layer.h), each once, in alphabetical order.
const std::vector<std::string_view>& layer_types();

}  // namespace hios
