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

/// A case with inputs of up to six dimensions.
struct OnnxCase {
  std::string name;
  std::string model;               ///< the file's bytes
  std::vector<OnnxValues> inputs;  ///< in the graph's order
  std::vector<OnnxValues> outputs;
};

/// Returns all cases below a folder whose first input is of fp32, by name; further inputs become
/// initializers. Cases whose outputs are no numbers, or sequences, have no outputs here: their
/// models must be refused.
std::vector<OnnxCase> onnx_cases(const std::filesystem::path& folder);

/// Returns all cases below a folder with several inputs, or with one of integers or truth values,
/// by name, with all of them as inputs. Cases with inputs or outputs that are no tensors of numbers
/// are left out.
std::vector<OnnxCase> onnx_cases_of_all_inputs(const std::filesystem::path& folder);

/// Returns all cases below a folder with constant inputs alone, by name: their inputs are
/// initializers, and the one input "zero" of one value is added to each output, converted to fp32.
/// Cases with inputs or outputs that are no tensors of numbers are left out.
std::vector<OnnxCase> onnx_constant_cases(const std::filesystem::path& folder);

}  // namespace hios::test
