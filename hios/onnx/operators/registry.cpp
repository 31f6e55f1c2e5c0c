// Part of hios/onnx/read/layer_emitter.h: the table of operators.
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

const Handlers& handlers() {
  static const Handlers all = [] {
    Handlers table;
    add_elementwise(table);
    add_convolutions(table);
    add_pools(table);
    add_normalizations(table);
    add_reductions(table);
    add_moves(table);
    add_joins(table);
    add_resizes(table);
    return table;
  }();
  return all;
}

}  // namespace

Handler find_handler(std::string_view op_type) {
  const auto found = handlers().find(op_type);
  return found == handlers().end() ? nullptr : found->second;
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [name, handler] : handlers()) names.emplace_back(name);
  return names;
}

}  // namespace hios::onnx
