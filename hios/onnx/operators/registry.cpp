#include "hios/onnx/operators/registry.h"

#include "hios/onnx/operators/constants/constants.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"
#include "hios/onnx/operators/windows.h"

namespace hios::onnx {
namespace {

const Operators& operators() {
  static const Operators all = [] {
    Operators table;
    add_elementwise(table);
    add_convolutions(table);
    add_products(table);
    add_attention(table);
    add_rotary(table);
    add_einsum(table);
    add_choices(table);
    add_searches(table);
    add_recurrent(table);
    add_pools(table);
    add_unpools(table);
    add_overlaps(table);
    add_normalizations(table);
    add_reductions(table);
    add_moves(table);
    add_gathers(table);
    add_lookups(table);
    add_grid_samples(table);
    add_joins(table);
    add_resizes(table);
    add_folding(table);
    // The reader of nodes reads the nodes in them (hios/onnx/read/node_reader.h).
    table["If"].attributes.read = {"else_branch", "then_branch"};
    table["Loop"].attributes.read = {"body"};
    return table;
  }();
  return all;
}

}  // namespace

const Operator* find_operator(std::string_view type) {
  const auto found = operators().find(type);
  return found == operators().end() ? nullptr : &found->second;
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [name, row] : operators()) names.emplace_back(name);
  return names;
}

}  // namespace hios::onnx
