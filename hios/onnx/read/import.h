#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/files/file_io.h"
#include "hios/model/layer_kernel.h"
#include "hios/model/model.h"

/// ONNX files as Models with their own weights.
namespace hios::onnx {

struct ImportOptions {
  // Extents of the inputs. Empty: those of the file. Where it leaves them open, the batch is 1, and
  // height and width are equal if one of them is given.
  std::optional<std::int64_t> batch = {};
  std::optional<std::int64_t> height = {};
  std::optional<std::int64_t> width = {};
  /// Extents that the file leaves open, by their names ("seq"), or by their indices ("1") where
  /// the file names none.
  std::map<std::string, std::int64_t> dims = {};
  /// max_weights_bytes: of the file and its external data together; memory: of all values.
  ReadLimits limits = {};
  /// Computes nodes whose inputs are all known. Empty: those that need a layer are refused.
  LayerKernel kernel = {};
};

/// Reads an ONNX file (opsets 7 to 28) and its external data, which must be in the file's folder or
/// below. Its inputs become the model's input (hios/model/named_inputs.h). Folds constants, and
/// simplifies the layers (hios/onnx/passes/passes.h): a BatchNormalization becomes part of a
/// convolution, x·sigmoid(x) one layer. Throws InputError that names the file and the node: all
/// unknown operators at once; an attribute, a shape or a type that is not read; a damaged file;
/// more memory than there is. A build without ONNX (without_import.cpp) always throws.
Model import_model(const std::filesystem::path& file, const ImportOptions& options = {});

/// Returns the files that hold tensors of an ONNX file outside it, each once, whether they exist or
/// not. Reads no weights of theirs. Returns none for a file that import_model() refuses by itself.
std::vector<std::filesystem::path> external_files(const std::filesystem::path& file,
                                                  const ReadLimits& limits = {});

/// Returns true if this build reads ONNX files.
bool can_import();

}  // namespace hios::onnx
