#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// ONNX's own test cases (libonnx-testdata): a node or a small network, its inputs and its outputs.
namespace hios::test {

struct OnnxValues {
  std::vector<std::int64_t> dims;
  std::vector<float> values;  ///< row-major
};

/// A case with one fp32 input of at most six dimensions. Further inputs become initializers.
struct OnnxCase {
  std::string name;
  std::string model;  ///< the file's bytes
  OnnxValues input;
  std::vector<OnnxValues> outputs;
};

/// Returns all cases below a folder, by name. Cases whose outputs are no numbers, or
/// sequences, have no outputs here: their models must be refused.
std::vector<OnnxCase> onnx_cases(const std::filesystem::path& folder);

/// Returns all cases below a folder with constant inputs alone, by name: their inputs are
/// initializers, and the one input "zero" of one value is added to each output, converted to fp32.
/// Cases with inputs or outputs that are no tensors of numbers are left out.
std::vector<OnnxCase> onnx_constant_cases(const std::filesystem::path& folder);

}  // namespace hios::test
