#include "hios/onnx/operators/constants.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hios/base/error.h"
#include "hios/onnx/arithmetic.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Type = Constant::Type;
using Fold = decltype(Operator::fold);

View constant_view(Constant values, const Dims& dims) {
  return {std::make_shared<Constant>(std::move(values)), dims, dense_strides(dims), 0};
}

View integers(std::vector<std::int64_t> values, const Dims& dims) {
  return constant_view({Type::kInteger, {}, std::move(values)}, dims);
}

bool is_real(const View& view) { return view.constant().type == Type::kFloat; }

[[noreturn]] void fail_of_types(const Node& node) {
  node.fail("combines integers with floating-point numbers, which ONNX does not");
}

std::int64_t checked_size(const Node& node, const Dims& dims) {
  const std::int64_t size = elements(dims);
  if (size > kFoldBudget) {
    node.fail("would make a constant of " + std::to_string(size) + " values, more than " +
              std::to_string(kFoldBudget));
  }
  return size;
}

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
  return {integers(extents, {static_cast<std::int64_t>(extents.size())})};
}

Views size(const Node& node) { return {integers({elements(node.input(0).dims)}, {})}; }

Views constant(const Node& node) {
  if (auto view = node.tensor("value")) return {*view};
  if (node.has_attribute("value_int")) return {integers({node.integer("value_int", 0)}, {})};
  if (node.has_attribute("value_float")) {
    return {constant_view({Type::kFloat, {node.number("value_float", 0)}, {}}, {})};
  }
  if (const auto list = node.integer_list("value_ints")) {
    return {integers(*list, {static_cast<std::int64_t>(list->size())})};
  }
  if (const auto list = node.number_list("value_floats")) {
    return {constant_view({Type::kFloat, *list, {}}, {static_cast<std::int64_t>(list->size())})};
  }
  node.fail("holds neither a tensor nor numbers");
}

Views constant_of_shape(const Node& node) {
  const Dims dims = node.integers(0);
  View value = constant_view({Type::kFloat, {0.0f}, {}}, {1});
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
  const bool whole = node.input(0).constant().type == Type::kInteger;
  const double start = node.input(0).constant().at(static_cast<std::size_t>(node.input(0).offset)),
               limit = node.input(1).constant().at(static_cast<std::size_t>(node.input(1).offset)),
               delta = node.input(2).constant().at(static_cast<std::size_t>(node.input(2).offset));
  const double count = delta == 0 ? 0 : std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count <= static_cast<double>(kFoldBudget))) node.fail("would make too many values");
  Constant values{whole ? Type::kInteger : Type::kFloat, {}, {}};
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

/// Computes each element from the operands' elements, broadcast. Uses `whole` if it is given and
/// all operands and the result are integers, else `real`.
View each(const Node& node, std::vector<View> operands, Type type,
          const std::function<double(std::span<const double>)>& real,
          const std::function<std::int64_t(std::span<const std::int64_t>)>& whole) {
  Dims dims;
  for (const View& operand : operands) {
    if (operand.rank() > dims.size()) dims.insert(dims.begin(), operand.rank() - dims.size(), 1);
    for (std::size_t i = 0; i < operand.rank(); ++i) {
      std::int64_t& extent = dims[dims.size() - operand.rank() + i];
      if (extent == 1) extent = operand.dims[i];
    }
  }
  const auto size = static_cast<std::size_t>(checked_size(node, dims));
  std::vector<std::size_t> own(dims.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = i;
  std::vector<std::vector<std::size_t>> positions(operands.size());
  bool all_whole = true;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    all_whole = all_whole && operands[k].constant().type != Type::kFloat;
    operands[k] = expand(operands[k], dims);
    each_position(operands[k], own,
                  [&](std::int64_t at) { positions[k].push_back(static_cast<std::size_t>(at)); });
  }
  Constant result{type, {}, {}};
  std::vector<double> reals(operands.size());
  std::vector<std::int64_t> wholes(operands.size());
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Constant& constant = operands[k].constant();
      reals[k] = constant.at(positions[k][i]);
      wholes[k] = all_whole ? constant.integers[positions[k][i]] : 0;
    }
    if (type == Type::kFloat) {
      result.floats.push_back(static_cast<float>(real(reals)));
    } else {
      result.integers.push_back(all_whole && whole ? whole(wholes) : to_integer(real(reals)));
    }
  }
  return constant_view(std::move(result), dims);
}

Views cast(const Node& node) {
  const auto to = static_cast<int>(node.integer("to", 0));
  if (element_size(to) == 0) node.fail("casts to " + type_name(to) + ", which is not read");
  const bool real = to == proto::TensorProto::FLOAT || to == proto::TensorProto::FLOAT16 ||
                    to == proto::TensorProto::DOUBLE || to == proto::TensorProto::BFLOAT16;
  const bool truth = to == proto::TensorProto::BOOL;
  const View& x = node.input(0);
  if (real && x.constant().type == Type::kFloat) return {x};  // without a copy: it may be a weight
  const Type type = real ? Type::kFloat : truth ? Type::kBool : Type::kInteger;
  return {each(
      node, {x}, type, [&](auto v) { return truth ? static_cast<double>(v[0] != 0) : v[0]; },
      [&](auto v) { return truth ? static_cast<std::int64_t>(v[0] != 0) : v[0]; })};
}

/// A function of two values. `whole` computes it on integers; null: integers are computed as
/// double.
struct Function2 {
  double (*real)(double, double);
  std::int64_t (*whole)(std::int64_t, std::int64_t);
  bool is_truth = false;  ///< the result is true or false
};

/// Folds from the first input to the last.
Views binary(const Node& node, const Function2& function) {
  View result = node.input(0);
  for (std::size_t k = 1; k < node.input_count(); ++k) {
    const bool real = is_real(result);
    if (real != is_real(node.input(k)) && node.type() != "Pow") fail_of_types(node);
    const Type type = function.is_truth ? Type::kBool : real ? Type::kFloat : Type::kInteger;
    std::function<std::int64_t(std::span<const std::int64_t>)> whole;
    if (function.whole) whole = [&](auto v) { return function.whole(v[0], v[1]); };
    result = each(
        node, {result, node.input(k)}, type, [&](auto v) { return function.real(v[0], v[1]); },
        whole);
  }
  return {result};
}

Views where(const Node& node) {
  const View &yes = node.input(1), &no = node.input(2);
  if (is_real(yes) != is_real(no)) fail_of_types(node);
  const auto choose = [](auto v) { return v[0] != 0 ? v[1] : v[2]; };
  return {each(node, {node.input(0), yes, no}, yes.constant().type, choose, choose)};
}

Views concat(const Node& node) {
  Dims dims = node.input(0).dims;
  const std::size_t axis = node.axis(node.integer("axis", 0), dims.size());
  dims[axis] = 0;
  const Type type = node.input(0).constant().type;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const View& x = node.input(i);
    if (x.rank() != dims.size() || x.constant().type != type) {
      node.fail("joins constants of different dimensions or types");
    }
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (k != axis && x.dims[k] != node.input(0).dims[k]) {
        node.fail("joins constants of different extents");
      }
    }
    dims[axis] += x.dims[axis];
  }
  const auto size = static_cast<std::size_t>(checked_size(node, dims));
  Constant result{type, {}, {}};
  (type == Type::kFloat ? result.floats.resize(size) : result.integers.resize(size));
  const Dims strides = dense_strides(dims);
  std::vector<std::size_t> own(dims.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = i;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const View& x = node.input(i);
    const View to{x.base, x.dims, strides, begin * strides[axis]};
    std::vector<std::size_t> targets;
    each_position(to, own,
                  [&](std::int64_t at) { targets.push_back(static_cast<std::size_t>(at)); });
    std::size_t next = 0;
    each_position(x, own, [&](std::int64_t at) {
      const auto from = static_cast<std::size_t>(at);
      if (type == Type::kFloat) {
        result.floats[targets[next++]] = x.constant().floats[from];
      } else {
        result.integers[targets[next++]] = x.constant().integers[from];
      }
    });
    begin += x.dims[axis];
  }
  return {constant_view(std::move(result), dims)};
}

/// Replaces slices of the data at given indices (ScatterND). Exporters use it to assign to slices
/// of a tensor, such as attention masks.
Views scatter(const Node& node) {
  const View &data = node.input(0), &indices = node.input(1), &updates = node.input(2);
  if (node.text("reduction", "none") != "none") node.fail("adds or multiplies, which is not read");
  const auto size = static_cast<std::size_t>(checked_size(node, data.dims));
  const std::size_t depth = indices.rank() == 0 ? 0 : static_cast<std::size_t>(indices.dims.back());
  if (depth < 1 || depth > data.rank()) node.fail("has indices of other dimensions than its data");
  const bool real = data.constant().type == Type::kFloat;
  Constant result{data.constant().type, {}, {}};
  if (real) {
    result.floats = floats_of(data);
  } else {
    result.integers = integers_of(data);
  }
  const Dims strides = dense_strides(data.dims);
  const std::int64_t length = strides[depth - 1];
  const std::vector<std::int64_t> tuples = integers_of(indices);
  const std::vector<float> floats = real ? floats_of(updates) : std::vector<float>();
  const std::vector<std::int64_t> whole = real ? std::vector<std::int64_t>() : integers_of(updates);
  const std::size_t count = tuples.size() / depth;
  if (std::max(floats.size(), whole.size()) != count * static_cast<std::size_t>(length)) {
    node.fail("has another number of updates than its indices take");
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      std::int64_t index = tuples[i * depth + k];
      if (index < -data.dims[k] || index >= data.dims[k]) node.fail("has an index out of range");
      if (index < 0) index += data.dims[k];
      at += index * strides[k];
    }
    for (std::int64_t j = 0; j < length; ++j) {
      const auto from = i * static_cast<std::size_t>(length) + static_cast<std::size_t>(j);
      const auto to = static_cast<std::size_t>(at + j);
      if (to >= size) node.fail("has an index out of range");
      if (real) {
        result.floats[to] = floats[from];
      } else {
        result.integers[to] = whole[from];
      }
    }
  }
  return {constant_view(std::move(result), data.dims)};
}

Views product(const Node& node) {
  double all = 1;
  for (const std::int64_t value : node.integers(0)) all *= static_cast<double>(value);
  const bool keep = node.integer("keepdims", 1) != 0;
  return {integers({to_integer(all)}, keep ? Dims(node.input(0).rank(), 1) : Dims{})};
}

bool has_only_constants(const Node& node) {
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i) && !node.input(i).is_constant()) return false;
  }
  return node.input_count() > 0;
}

// Functions that make the table's `fold` entries.

Fold of_constants(Views (*compute)(const Node&)) {
  return [compute](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    return compute(node);
  };
}

Fold unary(double (*function)(double), std::optional<Type> type = {}) {
  return [function, type](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    const Type of = type.value_or(node.input(0).constant().type);
    return Views{each(
        node, {node.input(0)}, of, [&](auto v) { return function(v[0]); }, nullptr)};
  };
}

Fold arithmetic(const Function2& function) {
  return [function](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    return binary(node, function);
  };
}

/// `Predicate`: of two doubles or two integers.
template <class Predicate>
Fold truth(Predicate) {
  return arithmetic({[](double a, double b) { return double(Predicate{}(a, b)); },
                     [](std::int64_t a, std::int64_t b) { return std::int64_t{Predicate{}(a, b)}; },
                     true});
}

/// Computes the product of all values. Products along some axes are not folded.
std::optional<Views> reduce_product(const Node& node) {
  if (!has_only_constants(node) || is_real(node.input(0))) return {};
  const std::vector<bool> reduced = reduced_axes(node, node.input(0).rank());
  return std::ranges::count(reduced, false) > 0 ? std::nullopt : std::optional(product(node));
}

std::optional<Views> modulo(const Node& node) {
  static const Fold kFloored = arithmetic({floored_remainder, floored_remainder}),
                    kTruncated = arithmetic({truncated_remainder, truncated_remainder});
  return node.integer("fmod", 0) == 0 ? kFloored(node) : kTruncated(node);
}

}  // namespace

void add_folding(Operators& operators) {
  struct Row {
    std::string_view type;
    Fold fold;
    Attributes attributes = {};  ///< for a row of no other family
  };
  const Row rows[] = {
      // Computed from attributes and extents: the input need not be a constant.
      {"Constant",
       constant,
       {.read = {"value", "value_float", "value_floats", "value_int", "value_ints"}}},
      {"Shape", shape, {.read = {"end", "start"}}},
      {"Size", size},
      {"Cast", of_constants(cast)},
      {"Concat", of_constants(concat)},
      {"ConstantOfShape", of_constants(constant_of_shape), {.read = {"value"}}},
      {"Range", of_constants(range), {.unread = {{"stash_type"}}}},  // computed in double
      {"ReduceProd", reduce_product},
      {"ScatterND", of_constants(scatter), {.read = {"reduction"}}},
      {"Where", of_constants(where)},
      {"Abs", unary([](double x) { return std::fabs(x); })},
      {"Ceil", unary([](double x) { return std::ceil(x); })},
      {"Cos", unary([](double x) { return std::cos(x); })},
      {"Exp", unary([](double x) { return std::exp(x); })},
      {"Floor", unary([](double x) { return std::floor(x); })},
      {"Log", unary([](double x) { return std::log(x); })},
      {"Neg", unary([](double x) { return -x; })},
      {"Not", unary([](double x) { return double(x == 0); }, Type::kBool)},
      {"Reciprocal", unary([](double x) { return 1 / x; })},
      {"Relu", unary([](double x) { return x > 0 ? x : 0; })},
      {"Round", unary([](double x) { return std::nearbyint(x); })},
      {"Sigmoid", unary([](double x) { return 1 / (1 + std::exp(-x)); })},
      {"Sin", unary([](double x) { return std::sin(x); })},
      {"Sqrt", unary([](double x) { return std::sqrt(x); })},
      {"Add", arithmetic({[](double a, double b) { return a + b; }, add})},
      {"Div", arithmetic({[](double a, double b) { return a / b; }, divide})},
      {"Max", arithmetic({[](double a, double b) { return std::max(a, b); },
                          [](std::int64_t a, std::int64_t b) { return std::max(a, b); }})},
      {"Min", arithmetic({[](double a, double b) { return std::min(a, b); },
                          [](std::int64_t a, std::int64_t b) { return std::min(a, b); }})},
      {"Mod", modulo, {.read = {"fmod"}}},
      {"Mul", arithmetic({[](double a, double b) { return a * b; }, multiply})},
      {"Pow", arithmetic({[](double a, double b) { return std::pow(a, b); }, nullptr})},
      {"Sub", arithmetic({[](double a, double b) { return a - b; }, subtract})},
      {"And", truth([](auto a, auto b) { return a != 0 && b != 0; })},
      {"Equal", truth([](auto a, auto b) { return a == b; })},
      {"Greater", truth(std::greater<>())},
      {"GreaterOrEqual", truth(std::greater_equal<>())},
      {"Less", truth(std::less<>())},
      {"LessOrEqual", truth(std::less_equal<>())},
      {"Or", truth([](auto a, auto b) { return a != 0 || b != 0; })},
  };
  for (const Row& row : rows) {
    Operator& added = operators[row.type];
    added.fold = row.fold;
    if (added.emit == nullptr) added.attributes = row.attributes;
  }
}

}  // namespace hios::onnx
