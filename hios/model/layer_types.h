#pragma once

#include <string_view>
#include <vector>

namespace hios {

/// Returns all results of onnx_type() (hios/model/layer.h), each once, in alphabetical order.
const std::vector<std::string_view>& layer_types();

}  // namespace hios
