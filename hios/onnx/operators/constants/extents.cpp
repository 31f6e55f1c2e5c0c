// Part of hios/onnx/operators/constants/constants.h: constants that a node holds, or that come from
// extents. Shape and Size read no values: their input need not be a constant.
#include <algorithm>
#include <cmath>

#include "hios/onnx/operators/constants/constants.h"
#include "hios/onnx/operators/constants/values.h"

namespace hios::onnx {
namespace {

Views shape(const Node& node) {
  const Dims& dims = node.input(0).dims;
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bound = [&](const char* attribute, std::int64_t or_else) {
    std::int64_t at = node.integer(attribute, or_else);
    at = std::clamp(at, -rank, rank);
    return at < 0 ? at + rank : at;
  };
  const std::int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  const Dims extents(dims.begin() + start, dims.begin() + end);
  return {integer_view(extents, {static_cast<std::int64_t>(extents.size())})};
}

Views size(const Node& node) { return {integer_view({elements(node.input(0).dims)}, {})}; }

Views constant(const Node& node) {
  if (auto view = node.tensor("value")) return {*view};
  if (node.has_attribute("value_int")) return {integer_view({node.integer("value_int", 0)}, {})};
  if (node.has_attribute("value_float")) {
    return {number_view(node.number("value_float", 0))};
  }
  if (const auto list = node.integer_list("value_ints")) {
    return {integer_view(*list, {static_cast<std::int64_t>(list->size())})};
  }
  if (const auto list = node.number_list("value_floats")) {
    const auto count = static_cast<std::int64_t>(list->size());
    return {constant_view({ConstantType::kFloat, *list, {}}, {count})};
  }
  node.fail("holds neither a tensor nor numbers");
}

Views constant_of_shape(const Node& node) {
  const Dims dims = node.integers(0);
  View value = constant_view({ConstantType::kFloat, {0.0f}, {}}, {1});
  if (auto given = node.tensor("value")) value = *given;
  if (elements(value.dims) != 1) node.fail("needs one value");
  // A view of the one value takes no memory, however large.
  elements(dims);  // throws if there are too many
  return {View{value.base, dims, Dims(dims.size(), 0), 0}};
}

Views range(const Node& node) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (elements(node.input(i).dims) != 1) node.fail("needs single numbers");
  }
  const bool whole = node.input(0).constant().type == ConstantType::kInteger;
  const double start = node.input(0).constant().at(static_cast<std::size_t>(node.input(0).offset)),
               limit = node.input(1).constant().at(static_cast<std::size_t>(node.input(1).offset)),
               delta = node.input(2).constant().at(static_cast<std::size_t>(node.input(2).offset));
  const double count = delta == 0 ? 0 : std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count <= static_cast<double>(kFoldBudget)))
    node.fail(std::string("would make too many values") + kSimplify);
  Constant values{whole ? ConstantType::kInteger : ConstantType::kFloat, {}, {}};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    const double value = start + static_cast<double>(i) * delta;
    if (whole) {
      values.integers.push_back(to_integer(value));
    } else {
      values.floats.push_back(static_cast<float>(value));
    }
  }
  return {constant_view(std::move(values), {static_cast<std::int64_t>(count)})};
}

}  // namespace

void add_extents(Operators& operators) {
  const FoldRow rows[] = {
      {"Constant",
       constant,
       {.read = {"value", "value_float", "value_floats", "value_int", "value_ints"}}},
      {"Shape", shape, {.read = {"end", "start"}}},
      {"Size", size},
      {"ConstantOfShape", of_constants(constant_of_shape), {.read = {"value"}}},
      {"Range", of_constants(range), {.unread = {{"stash_type"}}}},  // computed in double
  };
  add_rows(operators, rows);
}

}  // namespace hios::onnx
