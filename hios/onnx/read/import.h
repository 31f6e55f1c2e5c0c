#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hios/base/json/json_io.h"
#include "hios/model/model.h"

/// ONNX files become Models with their own weights.
namespace hios::onnx {

struct ImportOptions {
  // Of the input; empty: as the file says, and where it leaves the batch open, 1.
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> height;
  std::optional<std::int64_t> width;
  /// Extents that the file names ("seq"), by their names.
  std::map<std::string, std::int64_t> dims = {};
  ReadLimits limits = {};  ///< max_weights_bytes: of the file and its external data together
};

/// Reads an ONNX file (opsets 7 to 28; one input of floating-point numbers) and its external data,
/// which may lie beside it or below its folder, nowhere else. Constants are folded, and what the
/// layers beside it can do as well (BatchNormalization, Pad, x·sigmoid(x), …) becomes part of them.
/// Throws InputError that names the file and the node: all operators that are unknown at once; an
/// attribute, a shape or a type that is not read; a damaged file.
Model import_model(const std::filesystem::path& file, const ImportOptions& options = {});

/// True where this build reads ONNX files.
bool can_import();

}  // namespace hios::onnx
