// Part of hios/onnx/operators/constants/constants.h: functions of integers and truth values, which
// no kernel of a layer computes, and functions whose result is one of them. Integers stay exact.
#include <algorithm>
#include <cmath>
#include <limits>

#include "hios/base/error.h"
#include "hios/onnx/arithmetic.h"
#include "hios/onnx/operators/constants/constants.h"
#include "hios/onnx/operators/constants/values.h"

namespace hios::onnx {
namespace {

using Type = ConstantType;

/// Converts a constant. Values beyond integers of 8 and 16 bits wrap afterwards
/// (read/narrow_integers.h); of 32 bits they are kept.
View converted(const Node& node, const View& x, Type type) {
  if (type == Type::kFloat && is_real(x)) return x;  // without a copy: it may be a weight
  const bool truth = type == Type::kBool;
  return each_value(
      node, {x}, type, [&](auto v) { return truth ? static_cast<double>(v[0] != 0) : v[0]; },
      [&](auto v) { return truth ? static_cast<std::int64_t>(v[0] != 0) : v[0]; });
}

Views cast(const Node& node) {
  const auto to = static_cast<int>(node.integer("to", 0));
  if (element_size(to) == 0) node.fail("casts to " + type_name(to) + ", which is not read");
  return {converted(node, node.input(0), type_of_element(to))};
}

/// Converts a constant to the type of another input, which need not be a constant.
std::optional<Views> cast_like(const Node& node) {
  if (!node.input(0).is_constant()) return {};
  const View& like = node.input(1);
  return Views{
      converted(node, node.input(0), like.is_constant() ? like.constant().type : Type::kFloat)};
}

using Whole = std::int64_t (*)(std::int64_t, std::int64_t);

/// Combines integers from the first input to the last. Empty: the operands are real.
Fold whole_arithmetic(Whole function) {
  return [function](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    View result = node.input(0);
    for (std::size_t k = 1; k < node.input_count(); ++k) {
      const bool real = is_real(result);
      if (real != is_real(node.input(k)) && node.type() != "Pow") fail_of_types(node);
      if (real) return {};
      result = each_value(
          node, {result, node.input(k)}, Type::kInteger,
          [](auto v) { return std::pow(v[0], v[1]); },  // the exponent alone may be real
          [&](auto v) { return function(v[0], v[1]); });
    }
    if (is_real(result)) return {};
    return Views{result};
  };
}

/// Returns a function of integers and truth values; real values are computed by a kernel.
Fold whole_unary(std::int64_t (*function)(std::int64_t)) {
  return [function](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node) || is_real(node.input(0))) return {};
    return Views{each_value(node, {node.input(0)}, node.input(0).constant().type, nullptr,
                            [&](auto v) { return function(v[0]); })};
  };
}

/// Returns a power of integers. A negative exponent gives 0, as the division of integers does.
std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  std::int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// Returns a function of two operands, numbers or truth values, whose result is true or false.
template <class Predicate>
Fold truth(Predicate) {
  return [](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    const View &a = node.input(0), &b = node.input(1);
    if (is_real(a) != is_real(b)) fail_of_types(node);
    return Views{each_value(
        node, {a, b}, Type::kBool, [](auto v) { return double(Predicate{}(v[0], v[1])); },
        [](auto v) { return std::int64_t{Predicate{}(v[0], v[1])}; })};
  };
}

/// Returns a function of one operand whose result is true or false.
Fold truth_of(bool (*function)(double)) {
  return [function](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    return Views{each_value(
        node, {node.input(0)}, Type::kBool, [&](auto v) { return double(function(v[0])); },
        nullptr)};
  };
}

Views is_infinite(const Node& node) {
  const bool negative = node.integer("detect_negative", 1) != 0,
             positive = node.integer("detect_positive", 1) != 0;
  return {each_value(
      node, {node.input(0)}, Type::kBool,
      [&](auto v) { return double(std::isinf(v[0]) && (v[0] < 0 ? negative : positive)); },
      nullptr)};
}

Views where(const Node& node) {
  const View &yes = node.input(1), &no = node.input(2);
  if (is_real(yes) != is_real(no)) fail_of_types(node);
  const auto choose = [](auto v) { return v[0] != 0 ? v[1] : v[2]; };
  return {each_value(node, {node.input(0), yes, no}, yes.constant().type, choose, choose)};
}

/// No kernel computes remainders, so those of real values are computed here, too.
Views modulo(const Node& node) {
  const View &a = node.input(0), &b = node.input(1);
  if (is_real(a) != is_real(b)) fail_of_types(node);
  const bool floored = node.integer("fmod", 0) == 0;
  const auto rest = [&](auto v) {
    return floored ? floored_remainder(v[0], v[1]) : truncated_remainder(v[0], v[1]);
  };
  return {each_value(node, {a, b}, is_real(a) ? Type::kFloat : Type::kInteger, rest, rest)};
}

/// Clamps integers, as exporters do with extents.
Views clip_integers(const Node& node) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min(),
               most = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (!node.has(i)) continue;
    if (is_real(node.input(i))) fail_of_types(node);
    const std::vector<std::int64_t> bound = node.integers(i);
    if (bound.size() != 1) node.fail("its bounds must be single values");
    (i == 1 ? least : most) = bound.front();
  }
  return {each_value(node, {node.input(0)}, Type::kInteger, nullptr,
                     [&](auto v) { return std::min(std::max(v[0], least), most); })};
}

}  // namespace

void add_numbers(Operators& operators) {
  const FoldRow rows[] = {
      {"Cast", of_constants(cast)},
      {"CastLike", cast_like, {.unread = {{"saturate"}, {"round_mode"}}}},
      {"Where", of_constants(where)},
      {"Clip", of_integers(clip_integers)},
      {"Abs", whole_unary([](std::int64_t x) { return x < 0 ? subtract(0, x) : x; })},
      {"Neg", whole_unary([](std::int64_t x) { return subtract(0, x); })},
      {"Relu", whole_unary([](std::int64_t x) { return std::max<std::int64_t>(x, 0); })},
      {"Sign", whole_unary([](std::int64_t x) { return std::int64_t{x > 0} - (x < 0); })},
      {"Not", truth_of([](double x) { return x == 0; })},
      {"IsNaN", truth_of([](double x) { return std::isnan(x); })},
      {"IsInf", of_constants(is_infinite), {.read = {"detect_negative", "detect_positive"}}},
      {"Add", whole_arithmetic(add)},
      {"Div", whole_arithmetic(divide)},
      {"Max", whole_arithmetic([](auto a, auto b) { return std::max(a, b); })},
      {"Min", whole_arithmetic([](auto a, auto b) { return std::min(a, b); })},
      {"Mod", of_constants(modulo), {.read = {"fmod"}}},
      {"Mul", whole_arithmetic(multiply)},
      {"Pow", whole_arithmetic(power)},
      {"Sub", whole_arithmetic(subtract)},
      {"And", truth([](auto a, auto b) { return a != 0 && b != 0; })},
      {"Equal", truth([](auto a, auto b) { return a == b; })},
      {"Greater", truth(std::greater<>())},
      {"GreaterOrEqual", truth(std::greater_equal<>())},
      {"Less", truth(std::less<>())},
      {"LessOrEqual", truth(std::less_equal<>())},
      {"Or", truth([](auto a, auto b) { return a != 0 || b != 0; })},
      {"Xor", truth([](auto a, auto b) { return (a != 0) != (b != 0); })},
  };
  add_rows(operators, rows);
}

}  // namespace hios::onnx
