#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "hios/onnx/proto.h"

namespace hios::onnx {

/// Where a tensor's raw values lie in a model's file.
struct StoredValues {
  std::size_t offset, size;  ///< bytes
};

/// The tensors of a model whose values stayed in its file.
using StoredTensors = std::map<const proto::TensorProto*, StoredValues>;

/// Parses an ONNX file into `model`, without the raw values of large weights: these are read into
/// their place later, so that none is held twice. `file` is at its beginning, has `size` bytes and
/// stays open. Empty if it is no ONNX model, of 2 GiB or more, truncated or nested too deeply.
std::optional<StoredTensors> parse_model(int file, std::size_t size, proto::ModelProto& model);

}  // namespace hios::onnx
