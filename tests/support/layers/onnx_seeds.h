#pragma once

#include <string>
#include <vector>

namespace hios::test {

/// Returns small ONNX files, as bytes, with many features of such files.
std::vector<std::string> onnx_seeds();

}  // namespace hios::test
