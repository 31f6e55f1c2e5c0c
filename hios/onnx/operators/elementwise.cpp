#include "hios/onnx/operators/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hios/base/error.h"

namespace hios::onnx {
namespace {

using Known = Unary::Function;

constexpr UnarySpelling kUnary[] = {
    {"Abs", Known::kAbs},
    {"Acos", Known::kAcos},
    {"Acosh", Known::kAcosh},
    {"Asin", Known::kAsin},
    {"Asinh", Known::kAsinh},
    {"Atan", Known::kAtan},
    {"Atanh", Known::kAtanh},
    {"Ceil", Known::kCeil},
    {"Celu", Known::kCelu, "alpha", 1},
    {"Cos", Known::kCos},
    {"Cosh", Known::kCosh},
    {"Elu", Known::kElu, "alpha", 1},
    {"Erf", Known::kErf},
    {"Exp", Known::kExp},
    {"Floor", Known::kFloor},
    {"HardSigmoid", Known::kHardSigmoid, "alpha", 0.2f, "beta", 0.5f},
    {.type = "HardSwish", .function = Known::kHardSwish, .since = 14},
    {"LeakyRelu", Known::kLeakyRelu, "alpha", 0.01f},
    {"Log", Known::kLog},
    {.type = "Mish", .function = Known::kMish, .since = 18},
    {"Neg", Known::kNeg},
    {"Reciprocal", Known::kReciprocal},
    {"Round", Known::kRound},
    {"Selu", Known::kSelu, "alpha", 1.67326319217681884765625f, "gamma",
     1.05070102214813232421875f},
    {"Sigmoid", Known::kSigmoid},
    {"Sign", Known::kSign},
    {"Sin", Known::kSin},
    {"Sinh", Known::kSinh},
    {"Softplus", Known::kSoftplus},
    {"Softsign", Known::kSoftsign},
    {"Sqrt", Known::kSqrt},
    {.type = "Swish", .function = Known::kSilu, .since = 24},
    {"Tan", Known::kTan},
    {"Tanh", Known::kTanh},
    {"ThresholdedRelu", Known::kThresholdedRelu, "alpha", 1},
};

Views unary(LayerEmitter& emitter, const Node& node) {
  const auto* row = std::ranges::find(kUnary, std::string_view(node.type()), &UnarySpelling::type);
  Unary layer{row->function, 0, 0};
  if (row->alpha) layer.alpha = node.number(row->alpha, row->alpha_default);
  if (row->beta) layer.beta = node.number(row->beta, row->beta_default);
  if (node.type() == "Swish" && node.number("alpha", 1) != 1) node.fail("alpha must be 1");
  return {apply(emitter, layer, node.input(0))};
}

Views relu(LayerEmitter& emitter, const Node& node) {
  View read;
  const LayerInput x = emitter.input_in_any_order(node.input(0), read);
  return {emitter.emit_like(read, Relu{}, x)};
}

Views gelu(LayerEmitter& emitter, const Node& node) {
  const std::string approximate = node.text("approximate", "none");
  const bool tanh = approximate == "tanh";
  if (!tanh && approximate != "none") {
    node.fail("its approximation '" + printable(approximate, 40) + "' is not computed");
  }
  return {apply(emitter, {tanh ? Known::kGeluTanh : Known::kGelu, 0, 0}, node.input(0))};
}

Views clip(LayerEmitter& emitter, const Node& node) {
  constexpr float kAll = std::numeric_limits<float>::max();
  Unary layer{Known::kClip, node.number("min", -kAll), node.number("max", kAll)};
  const auto bound = [&](std::size_t input, float& value) {
    if (!node.has(input)) return;
    const std::vector<float> values = node.floats(input);
    if (values.size() != 1) node.fail("its bounds must be single values");
    value = std::clamp(values.front(), -kAll, kAll);
  };
  bound(1, layer.alpha);
  bound(2, layer.beta);
  return {apply(emitter, layer, node.input(0))};
}

Binary::Function function_named(const Node& node) {
  static const std::map<std::string_view, Binary::Function> kNames = {
      {"Add", Binary::Function::kAdd}, {"Sub", Binary::Function::kSub},
      {"Mul", Binary::Function::kMul}, {"Div", Binary::Function::kDiv},
      {"Min", Binary::Function::kMin}, {"Max", Binary::Function::kMax},
      {"Pow", Binary::Function::kPow}, {"PRelu", Binary::Function::kPRelu},
      {"Sum", Binary::Function::kAdd}, {"Mean", Binary::Function::kAdd}};
  return kNames.at(node.type());
}

Views binary(LayerEmitter& emitter, const Node& node) {
  const View result = combine(emitter, function_named(node), node.input(0), node.input(1));
  const bool whole = node.input(0).type() == Constant::Type::kInteger ||
                     node.input(1).type() == Constant::Type::kInteger;
  return {node.type() == "Div" && whole ? truncated(emitter, result) : result};
}

/// Returns the remainder of integers: of a division that rounds down, or towards 0 (fmod).
Views remainder(LayerEmitter& emitter, const Node& node) {
  const View &a = node.input(0), &b = node.input(1);
  if (a.type() == Constant::Type::kFloat && b.type() == Constant::Type::kFloat)
    node.fail("is computed for integers only, or for constants");
  const View quotient = combine(emitter, Binary::Function::kDiv, a, b);
  const View whole = node.integer("fmod", 0) != 0
                         ? truncated(emitter, quotient)
                         : apply(emitter, {.function = Known::kFloor}, quotient);
  return {combine(emitter, Binary::Function::kSub, a,
                  combine(emitter, Binary::Function::kMul, whole, b))};
}

Views variadic(LayerEmitter& emitter, const Node& node) {
  View result = node.input(0);
  std::vector<LayerInput> terms;
  // Terms of equal dims are one Sum.
  bool alike = function_named(node) == Binary::Function::kAdd;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const View& term = node.input(i);
    alike = alike && !term.is_constant() && term.dims == result.dims;
  }
  if (alike) {
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      terms.push_back(emitter.input(node.input(i), memory_order(result.rank())));
    }
    result = emitter.emit(Sum{}, terms, result.dims);
  } else {
    for (std::size_t i = 1; i < node.input_count(); ++i) {
      result = combine(emitter, function_named(node), result, node.input(i));
    }
  }
  if (node.type() != "Mean" || node.input_count() == 1) return {result};
  auto count = std::make_shared<Constant>();
  count->floats = {static_cast<float>(node.input_count())};
  return {combine(emitter, Binary::Function::kDiv, result, View{std::move(count), {}, {}, 0})};
}

Dims broadcast_dims(LayerEmitter& emitter, const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto from_end = [&](const Dims& dims) {
      return i < dims.size() ? dims[dims.size() - 1 - i] : 1;
    };
    const std::int64_t x = from_end(a), y = from_end(b);
    if (x != y && x != 1 && y != 1) {
      emitter.fail("cannot combine extents " + std::to_string(x) + " and " + std::to_string(y));
    }
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

View with_rank(View view, std::size_t rank) {
  while (view.rank() < rank) view = insert_axis(view, 0);
  return view;
}

/// Returns the order in which both operands are read: that of the larger one in memory.
std::vector<std::size_t> common_order(const View& a, const View& b) {
  for (const View* each : {&a, &b}) {
    const View& other = each == &a ? b : a;
    if (elements(each->dims) < elements(other.dims)) continue;
    if (const auto order = order_in_memory(*each)) return *order;
  }
  return memory_order(a.rank());
}

}  // namespace

const UnarySpelling* unary_spelling(Unary::Function function, std::int64_t opset) {
  const auto* row = std::ranges::find(kUnary, function, &UnarySpelling::function);
  return row == std::end(kUnary) || row->since > opset ? nullptr : row;
}

View apply(LayerEmitter& emitter, const Unary& layer, const View& x) {
  View read;
  const LayerInput input = emitter.input_in_any_order(x, read);
  return emitter.emit_like(read, layer, input);
}

View truncated(LayerEmitter& emitter, const View& x) {
  const View size =
      apply(emitter, {.function = Known::kFloor}, apply(emitter, {.function = Known::kAbs}, x));
  return combine(emitter, Binary::Function::kMul, apply(emitter, {.function = Known::kSign}, x),
                 size);
}

View combine(LayerEmitter& emitter, Binary::Function function, const View& left,
             const View& right) {
  const Dims dims = broadcast_dims(emitter, left.dims, right.dims);
  View a = with_rank(left, dims.size()), b = with_rank(right, dims.size());
  if (a.is_constant() && b.is_constant()) a = emitter.as_tensor(a);
  const std::vector<std::size_t> order = common_order(a, b);
  Dims of_a, of_b;
  if (dims.size() <= 4) {
    for (const std::size_t axis : order) {
      of_a.push_back(a.dims[axis]);
      of_b.push_back(b.dims[axis]);
    }
  } else if (const auto both = joined_extents(a, b, order, 4)) {
    std::tie(of_a, of_b) = *both;
  } else {  // the broadcast operands are written out
    a = a.is_constant() ? a : expand(a, dims);
    b = expand(b, dims);
    of_a = of_b = {elements(dims)};
    if (a.is_constant()) a = expand(a, dims);
  }
  Binary layer{function, {}, false};
  ModelWeights::Values parameters;
  std::vector<LayerInput> inputs;
  for (const auto& [view, extents] : {std::pair(&a, &of_a), std::pair(&b, &of_b)}) {
    if (view->is_constant()) {
      layer.constant = shape_of(*extents);
      layer.constant_first = view == &a;
      // Only the exponent of a power may be of another type than the tensor.
      const bool exponent = function == Binary::Function::kPow && view == &b;
      parameters.weights = exponent ? converted_to_floats(*view, order) : floats_of(*view, order);
    } else {
      inputs.push_back({emitter.dense(*view, order).tensor(), shape_of(*extents)});
    }
  }
  const bool sum = function == Binary::Function::kAdd && inputs.size() == 2 && of_a == of_b;
  if (sum) return emitter.emit(Sum{}, inputs, dims, order);
  return emitter.emit(layer, inputs, dims, order, std::move(parameters));
}

void add_elementwise(Operators& operators) {
  for (const UnarySpelling& row : kUnary) {
    Operator& added = operators[row.type];
    added.emit = unary;
    for (const char* attribute : {row.alpha, row.beta}) {
      if (attribute) added.attributes.read.emplace_back(attribute);
    }
  }
  operators["Swish"].attributes.read = {"alpha"};
  operators["Relu"].emit = relu;
  operators["Gelu"] = {.emit = gelu, .attributes = {.read = {"approximate"}}};
  operators["Clip"] = {.emit = clip, .attributes = {.read = {"max", "min"}}};
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Pow"})
    operators[type] = {.emit = binary, .attributes = {.unread = {kOldBroadcast}}};
  operators["PRelu"].emit = binary;
  operators["Mod"] = {.emit = remainder, .attributes = {.read = {"fmod"}}};
  for (const char* type : {"Sum", "Min", "Max", "Mean"}) operators[type].emit = variadic;
}

}  // namespace hios::onnx
