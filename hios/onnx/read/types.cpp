#include "hios/onnx/read/types.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hios/onnx/operators/constants/values.h"

namespace hios::onnx {
namespace {

using Type = Constant::Type;

/// Operators that take and return values of any type: they choose or move them.
constexpr std::string_view kOfAnyType[] = {"Cast",      "CastLike",
                                           "Concat",    "DepthToSpace",
                                           "Dropout",   "Equal",
                                           "Expand",    "Flatten",
                                           "Gather",    "GatherElements",
                                           "GatherND",  "Identity",
                                           "Pad",       "Reshape",
                                           "ScatterND", "ScatterElements",
                                           "Slice",     "SpaceToDepth",
                                           "Split",     "Squeeze",
                                           "Tile",      "Transpose",
                                           "Unsqueeze", "Where",
                                           "Not",       "And",
                                           "Or",        "Xor",
                                           "NonZero"};
/// Operators that take integers as well as floating-point numbers.
constexpr std::string_view kOfNumbers[] = {"Abs",
                                           "Add",
                                           "ArgMax",
                                           "ArgMin",
                                           "Clip",
                                           "CumSum",
                                           "Div",
                                           "Einsum",
                                           "Gemm",
                                           "Greater",
                                           "GreaterOrEqual",
                                           "Less",
                                           "LessOrEqual",
                                           "MatMul",
                                           "Max",
                                           "MaxPool",
                                           "Min",
                                           "Mod",
                                           "Mul",
                                           "Neg",
                                           "Pow",
                                           "PRelu",
                                           "ReduceL1",
                                           "ReduceL2",
                                           "ReduceLogSum",
                                           "ReduceLogSumExp",
                                           "ReduceMax",
                                           "ReduceMean",
                                           "ReduceMin",
                                           "ReduceProd",
                                           "ReduceSum",
                                           "ReduceSumSquare",
                                           "Relu",
                                           "Resize",
                                           "Sign",
                                           "Sub",
                                           "Sum",
                                           "TopK",
                                           "Trilu",
                                           "Upsample"};
/// Inputs of an operator, by their places.
struct Inputs {
  std::string_view type;
  std::span<const std::size_t> at;
};
constexpr std::size_t kFirst[] = {0}, kSecond[] = {1}, kFourth[] = {3}, kFirstTwo[] = {0, 1},
                      kFirstThree[] = {0, 1, 2}, kLastTwo[] = {1, 2}, kOuter[] = {0, 2},
                      kEdges[] = {1, 3}, kAllButFirst[] = {1, 2, 3, 4};
/// Inputs of one type.
constexpr Inputs kOfOneType[] = {
    {"Add", kFirstTwo},          {"Div", kFirstTwo},     {"Equal", kFirstTwo},
    {"Gemm", kFirstThree},       {"Greater", kFirstTwo}, {"GreaterOrEqual", kFirstTwo},
    {"Less", kFirstTwo},         {"Mul", kFirstTwo},     {"LessOrEqual", kFirstTwo},
    {"MatMul", kFirstTwo},       {"Mod", kFirstTwo},     {"PRelu", kFirstTwo},
    {"Sub", kFirstTwo},          {"And", kFirstTwo},     {"Or", kFirstTwo},
    {"Xor", kFirstTwo},          {"Where", kLastTwo},    {"Clip", kFirstThree},
    {"ScatterElements", kOuter}, {"ScatterND", kOuter},  {"Pad", kOuter}};
/// Operators all of whose inputs are of one type.
constexpr std::string_view kOfOneTypeAll[] = {"Concat", "Max", "Mean", "Min", "Sum"};
/// Inputs that are integers.
constexpr Inputs kIntegers[] = {{"ConstantOfShape", kFirst}, {"CumSum", kSecond},
                                {"Expand", kSecond},         {"Gather", kSecond},
                                {"GatherElements", kSecond}, {"GatherND", kSecond},
                                {"MaxUnpool", kLastTwo},     {"Pad", kEdges},
                                {"Reshape", kSecond},        {"Resize", kFourth},
                                {"ScatterND", kSecond},      {"ScatterElements", kSecond},
                                {"Slice", kAllButFirst},     {"Split", kSecond},
                                {"Squeeze", kSecond},        {"Tile", kSecond},
                                {"TopK", kSecond},           {"Trilu", kSecond},
                                {"Unsqueeze", kSecond}};
constexpr std::string_view kOfTruth[] = {
    "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "And",
    "Or",    "Xor",     "IsNaN",          "IsInf"};

const char* name_of_type(Type type) {
  return type == Type::kFloat  ? "floating-point numbers"
         : type == Type::kBool ? "truth values"
                               : "integers";
}

/// Returns the inputs that the table has for a node's operator, without those that it lacks.
std::vector<std::size_t> inputs_in(std::span<const Inputs> table, const Node& node) {
  std::vector<std::size_t> inputs;
  const auto row = std::ranges::find(table, std::string_view(node.type()), &Inputs::type);
  if (row == table.end()) return inputs;
  std::ranges::copy_if(row->at, std::back_inserter(inputs), [&](auto i) { return node.has(i); });
  return inputs;
}

std::vector<std::size_t> inputs_of_one_type(const Node& node) {
  if (!node.is_one_of(kOfOneTypeAll)) return inputs_in(kOfOneType, node);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i)) inputs.push_back(i);
  }
  return inputs;
}

bool is_logical(const Node& node) {
  return node.type() == "Not" || node.type() == "And" || node.type() == "Or" ||
         node.type() == "Xor";
}

/// Returns the type of an operator's data, which may be its second input.
Type data_type(const Node& node) {
  const std::size_t data = node.type() == "Where" && node.has(1) ? 1 : 0;
  return node.has(data) ? node.input(data).type() : Type::kFloat;
}

}  // namespace

void check_input_types(const Node& node) {
  if (!node.has(0)) return;
  const View& first = node.input(0);
  const auto refuse = [&](Type type, const char* wanted) {
    node.fail(std::string("takes ") + name_of_type(type) + ", where ONNX allows " + wanted);
  };
  if (!first.is_constant()) {
    if (is_logical(node) && first.type() != Type::kBool) refuse(first.type(), "truth values only");
    if (first.type() == Type::kBool && !node.is_one_of(kOfAnyType))
      refuse(first.type(), "numbers only");
    if (first.type() == Type::kInteger && !node.is_one_of(kOfAnyType) &&
        !node.is_one_of(kOfNumbers)) {
      refuse(first.type(), "floating-point numbers only");
    }
  }
  if (node.type() == "Where" && !first.is_constant() && first.type() != Type::kBool)
    refuse(first.type(), "truth values only as its condition");
  // The operator itself names a constant of integers next to floating-point numbers.
  const auto is_named = [](const View& constant, const View& computed) {
    return constant.is_constant() && constant.type() != Type::kFloat && !computed.is_constant() &&
           computed.type() == Type::kFloat;
  };
  const std::vector<std::size_t> alike = inputs_of_one_type(node);
  for (const std::size_t i : alike) {
    const View &one = node.input(alike.front()), &other = node.input(i);
    if (one.type() == other.type() || is_named(one, other) || is_named(other, one)) continue;
    node.fail(std::string("combines ") + name_of_type(one.type()) + " and " +
              name_of_type(other.type()) + ", which ONNX forbids: add a Cast");
  }
}

void check_integers(const Node& node) {
  for (const std::size_t i : inputs_in(kIntegers, node)) {
    if (node.input(i).type() == Type::kInteger) continue;
    node.fail("its input " + std::to_string(i + 1) + " holds " +
              name_of_type(node.input(i).type()) + ", where ONNX allows integers only");
  }
}

bool finds_positions(const Node& node, std::size_t output) {
  return output == 1 && (node.type() == "TopK" || node.type() == "MaxPool");
}

Type output_type(const Node& node, std::size_t output) {
  if (node.is_one_of(kOfTruth)) return Type::kBool;
  if (node.type() == "ArgMax" || node.type() == "ArgMin" || finds_positions(node, output))
    return Type::kInteger;
  if (node.type() == "Cast") return type_of_element(static_cast<int>(node.integer("to", 0)));
  if (node.type() == "CastLike") return node.input(1).type();
  const bool keeps = node.is_one_of(kOfAnyType) || node.is_one_of(kOfNumbers);
  return keeps ? data_type(node) : Type::kFloat;
}

Views with_types(const Node& node, Views outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    View& view = outputs[i];
    const Type type = output_type(node, i);
    if (type == Type::kFloat || view.type() != Type::kFloat) continue;
    view = constant_view({type, {}, integers_of(view)}, view.dims);
  }
  return outputs;
}

std::optional<std::vector<View>> with_numbers(const Node& node) {
  bool computed = false, constant = false;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (!node.has(i) || node.input(i).type() != Type::kInteger) continue;
    (node.input(i).is_constant() ? constant : computed) = true;
  }
  if (!computed || !constant) return {};
  // A lookup converts its table itself, and refuses integers that fp32 does not hold.
  const auto is_table = [&](std::size_t i) { return i == 0 && node.type() == "Gather"; };
  std::vector<View> inputs;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const bool changes = node.has(i) && !is_table(i) && node.input(i).is_constant() &&
                         node.input(i).type() == Type::kInteger;
    inputs.push_back(!node.has(i) ? View{}
                     : changes    ? constant_view({Type::kFloat,
                                                   converted_to_floats(node.input(i),
                                                                       own_axes(node.input(i).rank())),
                                                   {}},
                                                  node.input(i).dims)
                                  : node.input(i));
  }
  return inputs;
}

}  // namespace hios::onnx
