#pragma once

#include <string>
#include <vector>

namespace hios::test {

/// Small ONNX files, as bytes, that hold much of what files hold.
std::vector<std::string> onnx_seeds();

}  // namespace hios::test
