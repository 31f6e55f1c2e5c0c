#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hios/onnx/operators/layer_emitter.h"

/// The table of ONNX operators that are read.
namespace hios::onnx {

/// The outputs of a node, in order. Outputs that are not computed (masks, indices) are missing at
/// the end.
using Views = std::vector<View>;

/// An operator of ONNX: a row of the table. Its handlers are `emit` and `fold`.
struct Operator {
  /// Adds the layers of a node. Null: the operator is only read where `fold` has a result.
  Views (*emit)(LayerEmitter& emitter, const Node& node) = nullptr;
  /// Computes a node while the file is read. Null: the operator is never folded. Empty result: the
  /// inputs are not all constants (or not of a kind that is folded). Throws InputError if the
  /// result would be too large.
  std::function<std::optional<Views>(const Node& node)> fold = nullptr;
  Attributes attributes = {};
};

using Operators = std::map<std::string_view, Operator>;

/// Returns the operator of this name; null if it is not read.
const Operator* find_operator(std::string_view type);

/// Returns the names of all operators, sorted.
std::vector<std::string> known_operators();

}  // namespace hios::onnx
