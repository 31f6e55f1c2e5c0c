// Part of hios/onnx/operators/families.h: comparisons, functions of truth values, and what chooses
// by them. A truth value of a tensor is the number 1 or 0, so And is a product and Or a maximum. A
// choice is a sum of what each side keeps, of which one is 0: that is exact.
#include <algorithm>
#include <limits>
#include <string>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Chosen = Binary::Function;

/// Returns truth values of a constant as numbers; others as they are.
View as_numbers(const Node& node, const View& x) {
  if (!x.is_constant() || x.constant().type != ConstantType::kBool) return x;
  return each_value(
      node, {x}, ConstantType::kFloat, [](auto v) { return double(v[0] != 0); }, nullptr);
}

void require_inputs(const Node& node, std::size_t count) {
  if (node.input_count() != count) node.fail("takes " + std::to_string(count) + " inputs");
}

View negated(LayerEmitter& emitter, const View& truth) {
  return combine(emitter, Chosen::kSub, number_view(1), truth);
}

Views compare(LayerEmitter& emitter, const Node& node) {
  require_inputs(node, 2);
  const bool swapped = node.type().starts_with("Greater");
  const Chosen function = node.type() == "Equal"             ? Chosen::kEqual
                          : node.type().ends_with("OrEqual") ? Chosen::kLessOrEqual
                                                             : Chosen::kLess;
  const View a = as_numbers(node, node.input(0)), b = as_numbers(node, node.input(1));
  return {swapped ? combine(emitter, function, b, a) : combine(emitter, function, a, b)};
}

Views negation(LayerEmitter& emitter, const Node& node) {
  return {negated(emitter, node.input(0))};
}

Views of_two_truths(LayerEmitter& emitter, const Node& node) {
  require_inputs(node, 2);
  const View a = as_numbers(node, node.input(0)), b = as_numbers(node, node.input(1));
  if (node.type() == "Xor") return {negated(emitter, combine(emitter, Chosen::kEqual, a, b))};
  return {combine(emitter, node.type() == "And" ? Chosen::kMul : Chosen::kMax, a, b)};
}

Views not_a_number(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  return {negated(emitter, combine(emitter, Chosen::kEqual, x, x))};
}

Views infinite(LayerEmitter& emitter, const Node& node) {
  const bool negative = node.integer("detect_negative", 1) != 0,
             positive = node.integer("detect_positive", 1) != 0;
  View x = node.input(0);
  if (!negative && !positive)  // no value is less than the lowest one: all are false
    return {
        combine(emitter, Chosen::kLess, x, number_view(-std::numeric_limits<float>::infinity()))};
  if (negative && positive) x = apply(emitter, {.function = Unary::Function::kAbs}, x);
  const float infinity = std::numeric_limits<float>::infinity();
  return {combine(emitter, Chosen::kEqual, x, number_view(positive ? infinity : -infinity))};
}

/// Returns true if a sum of both is the other one: zeros, which broadcast to its extents.
bool adds_nothing(const View& x, const View& other) {
  if (!x.is_constant() || !is_real(x) || x.rank() > other.rank()) return false;
  for (std::size_t from_end = 1; from_end <= x.rank(); ++from_end) {
    const std::int64_t extent = x.dims[x.rank() - from_end];
    if (extent != 1 && extent != other.dims[other.rank() - from_end]) return false;
  }
  return std::ranges::all_of(floats_of(x), [](float value) { return value == 0; });
}

/// Returns the values of one side where the condition holds, and 0 elsewhere.
View kept(LayerEmitter& emitter, const Node& node, const View& condition, const View& side) {
  if (!condition.is_constant() || !side.is_constant())
    return combine(emitter, Chosen::kKeepIf, condition, side);
  if (!is_real(side)) fail_of_types(node);
  return each_value(
      node, {condition, side}, ConstantType::kFloat, [](auto v) { return v[0] != 0 ? v[1] : 0.0; },
      nullptr);
}

Views where(LayerEmitter& emitter, const Node& node) {
  require_inputs(node, 3);
  const View condition = as_numbers(node, node.input(0));
  const View &yes = node.input(1), &no = node.input(2);
  if (adds_nothing(no, condition) || adds_nothing(no, yes))
    return {kept(emitter, node, condition, yes)};
  const View other = condition.is_constant()
                         ? each_value(
                               node, {condition}, ConstantType::kFloat,
                               [](auto v) { return double(v[0] == 0); }, nullptr)
                         : negated(emitter, condition);
  const View rest = kept(emitter, node, other, no);
  if (adds_nothing(yes, rest)) return {rest};
  return {combine(emitter, Chosen::kAdd, kept(emitter, node, condition, yes), rest)};
}

/// Returns the values rounded towards 0, unless they are whole numbers already.
View as_integers(LayerEmitter& emitter, const View& x) {
  const bool whole = x.type() != Constant::Type::kFloat || emitter.is_whole(x);
  return whole ? x : truncated(emitter, x);
}

/// Casts to wider floating-point types change nothing. A cast to fp16 would round, except in a file
/// of fp16, which is computed in fp32 throughout. Integers are the whole numbers among the values,
/// whatever their width.
Views cast(LayerEmitter& emitter, const Node& node) {
  const auto to = static_cast<int>(node.integer("to", 0));
  const View& x = node.input(0);
  if (element_size(to) > 0 && type_of_element(to) == Constant::Type::kInteger)
    return {as_integers(emitter, x)};
  if (to == proto::TensorProto::BOOL) {
    if (x.type() == Constant::Type::kBool) return {x};
    return {negated(emitter, combine(emitter, Chosen::kEqual, x, number_view(0)))};
  }
  const bool half = to == proto::TensorProto::FLOAT16 || to == proto::TensorProto::BFLOAT16;
  const bool wide = to == proto::TensorProto::FLOAT || to == proto::TensorProto::DOUBLE;
  if (!wide && !(half && node.widens_halves())) {
    node.fail("casts to " + type_name(to) + "; only fp32, integers and truth values are computed");
  }
  return {x};
}

/// Casts to the type of another input.
Views cast_to_type_of(LayerEmitter& emitter, const Node& node) {
  const View &x = node.input(0), &like = node.input(1);
  const std::string element = like.is_constant() ? like.constant().element : "";
  if (element.ends_with("FLOAT16") && !node.widens_halves())  // BFLOAT16, too
    node.fail("casts to " + element + "; only fp32, integers and truth values are computed");
  if (x.type() == like.type()) return {x};
  switch (like.type()) {
    case Constant::Type::kInteger:
      return {as_integers(emitter, x)};
    case Constant::Type::kBool:
      return {negated(emitter, combine(emitter, Chosen::kEqual, x, number_view(0)))};
    case Constant::Type::kFloat:
      break;
  }
  return {x};
}

}  // namespace

void add_choices(Operators& operators) {
  for (const char* type : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    operators[type] = {.emit = compare, .attributes = {.unread = {kOldBroadcast}}};
  for (const char* type : {"And", "Or", "Xor"})
    operators[type] = {.emit = of_two_truths, .attributes = {.unread = {kOldBroadcast}}};
  operators["Not"].emit = negation;
  operators["IsNaN"].emit = not_a_number;
  operators["IsInf"] = {.emit = infinite,
                        .attributes = {.read = {"detect_negative", "detect_positive"}}};
  operators["Where"].emit = where;
  // Both attributes are for casts to types that are not read.
  operators["CastLike"] = {.emit = cast_to_type_of,
                           .attributes = {.unread = {{"saturate"}, {"round_mode"}}}};
  operators["Cast"] = {.emit = cast,
                       .attributes = {.read = {"to"}, .unread = {{"saturate"}, {"round_mode"}}}};
}

}  // namespace hios::onnx
