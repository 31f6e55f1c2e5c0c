#include "hios/onnx/read/narrow_integers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/read/types.h"

namespace hios::onnx {
namespace {

struct NarrowType {
  int element;
  std::string_view name;
  std::int64_t least;
  std::int64_t count;
};
constexpr NarrowType kNarrowTypes[] = {
    {proto::TensorProto::INT8, "INT8", -128, 256},
    {proto::TensorProto::UINT8, "UINT8", 0, 256},
    {proto::TensorProto::INT16, "INT16", -32768, 65536},
    {proto::TensorProto::UINT16, "UINT16", 0, 65536},
};

/// Operators of which one step leaves the range of such integers.
constexpr std::string_view kLeavingRange[] = {"Abs", "Add", "Cast", "CastLike", "Div",
                                              "Mul", "Neg", "Sub",  "Sum"};
/// Operators that ONNX defines for integers of 32 and 64 bits, or whose sums fp32 does not hold.
constexpr std::string_view kOfWideIntegers[] = {
    "CumSum",     "Einsum",     "Gemm",      "MatMul",         "PRelu",
    "Pow",        "ReduceL1",   "ReduceL2",  "ReduceLogSum",   "ReduceLogSumExp",
    "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare"};

const NarrowType* narrow_type(int element) {
  const auto* found = std::ranges::find(kNarrowTypes, element, &NarrowType::element);
  return found == std::end(kNarrowTypes) ? nullptr : found;
}

/// Returns true if the output's values may be beyond its type.
bool leaves_range(const Node& node, int element) {
  if (!node.is_one_of(kLeavingRange)) return false;
  if (node.type() != "Cast" && node.type() != "CastLike") return true;
  // ONNX leaves the cast of a real number that is beyond the type open.
  const View& from = node.input(0);
  return from.type() == Constant::Type::kInteger && narrow_element(from) != element;
}

std::int64_t wrapped_value(std::int64_t value, const NarrowType& type) {
  // 2^8 and 2^16 divide 2^64, so the difference may wrap.
  const std::uint64_t above =
      (static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(type.least)) %
      static_cast<std::uint64_t>(type.count);
  return static_cast<std::int64_t>(above) + type.least;
}

}  // namespace

int narrow_element(const View& view) {
  if (!view.is_constant()) return view.computed_element;
  const auto* found =
      std::ranges::find(kNarrowTypes, std::string_view(view.constant().element), &NarrowType::name);
  return found == std::end(kNarrowTypes) ? 0 : found->element;
}

int narrow_element(const Node& node, std::size_t output) {
  const auto of_input = [&](std::size_t i) {
    return node.has(i) ? narrow_element(node.input(i)) : 0;
  };
  if (node.type() == "Cast") {
    const auto to = static_cast<int>(node.integer("to", 0));
    return narrow_type(to) == nullptr ? 0 : to;
  }
  if (node.type() == "CastLike" || node.type() == "Where") return of_input(1);
  // Positions and extents have 64 bits.
  for (const std::string_view type : {"ArgMax", "ArgMin", "NonZero", "Shape", "Size"})
    if (node.type() == type) return 0;
  return finds_positions(node, output) ? 0 : of_input(0);
}

void check_narrow_integers(const Node& node) {
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    // Operators name constants of integers next to floating-point numbers themselves.
    if (!node.has(i) || node.input(i).is_constant()) continue;
    if (node.type() == "Pow" && i > 0) continue;  // an exponent may be of any type
    const NarrowType* const type = narrow_type(narrow_element(node.input(i)));
    if (type == nullptr) continue;
    const bool is_long_product = node.type() == "Mul" && type->count > 256;
    if (!is_long_product && !node.is_one_of(kOfWideIntegers)) continue;
    node.fail("takes " + std::string(type->name) +
              "; it is computed for integers of 32 and 64 bits: add a Cast to INT32 before it");
  }
}

View wrapped(LayerEmitter& emitter, const Node& node, const View& output, int element) {
  const NarrowType* const type = narrow_type(element);
  if (type == nullptr || !leaves_range(node, element)) return output;
  using enum Binary::Function;
  const auto count = static_cast<double>(type->count);
  // All steps are exact: results of one step are below 2^24.
  View above = output;
  if (type->least != 0)
    above = combine(emitter, kSub, above, number_view(static_cast<double>(type->least)));
  const View turns = apply(emitter, {.function = Unary::Function::kFloor},
                           combine(emitter, kMul, above, number_view(1 / count)));
  return combine(emitter, kSub, output, combine(emitter, kMul, turns, number_view(count)));
}

View wrapped(const Node& node, const View& output, int element) {
  const NarrowType* const type = narrow_type(element);
  if (type == nullptr || output.type() != Constant::Type::kInteger) return output;
  if (!output.constant().element.empty()) return output;  // the file's own values, moved
  Constant values{Constant::Type::kInteger, {}, integers_of(output)};
  if (leaves_range(node, element)) {
    for (std::int64_t& value : values.integers) value = wrapped_value(value, *type);
  }
  values.element = type->name;
  return constant_view(std::move(values), output.dims);
}

}  // namespace hios::onnx
