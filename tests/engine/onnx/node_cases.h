#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// ONNX's own test cases (libonnx-testdata): a node or a small network, its inputs and what it
/// gives.
namespace hios::test {

struct OnnxValues {
  std::vector<std::int64_t> dims;
  std::vector<float> values;  ///< row-major
};

/// A case with one input of fp32 of at most four dimensions. Further inputs stand as initializers.
struct OnnxCase {
  std::string name;
  std::string model;  ///< the file's bytes
  OnnxValues input;
  std::vector<OnnxValues> outputs;
};

/// All cases below a folder, by name. Cases whose outputs are no floating-point numbers, or
/// sequences, keep their models, with no outputs: they must be refused.
std::vector<OnnxCase> onnx_cases(const std::filesystem::path& folder);

}  // namespace hios::test
