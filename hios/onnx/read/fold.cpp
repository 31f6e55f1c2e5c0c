// Part of hios/onnx/read/layer_emitter.h: operators whose inputs are all known. Whole numbers stay
// exact; floating-point values are computed in double and kept as float. Operators that only move
// values are not here: on constants they are views as well.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "hios/base/error.h"
#include "hios/onnx/read/layer_emitter.h"

namespace hios::onnx {
namespace {

using Type = Constant::Type;

View constant_view(Constant values, const Dims& dims) {
  return {std::make_shared<Constant>(std::move(values)), dims, dense_strides(dims), 0};
}

View integers(std::vector<std::int64_t> values, const Dims& dims) {
  return constant_view({Type::kInteger, {}, std::move(values)}, dims);
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
  const Dims part(dims.begin() + start, dims.begin() + end);
  return {integers(part, {static_cast<std::int64_t>(part.size())})};
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
  // A view of the one value: however large, it takes no memory.
  elements(dims);  // refuses too many
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

/// Calls compute(values) for each element, operands broadcast; whole numbers stay whole where the
/// result type is.
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
  if (real && x.constant().type == Type::kFloat) return {x};  // weights among them: no copy
  const Type type = real ? Type::kFloat : truth ? Type::kBool : Type::kInteger;
  return {each(
      node, {x}, type, [&](auto v) { return truth ? static_cast<double>(v[0] != 0) : v[0]; },
      [&](auto v) { return truth ? static_cast<std::int64_t>(v[0] != 0) : v[0]; })};
}

using Real2 = double (*)(double, double);
using Whole2 = std::int64_t (*)(std::int64_t, std::int64_t);

// Sums and products of whole numbers wrap as in two's complement, as elsewhere.
std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t subtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t divide(std::int64_t a, std::int64_t b) {
  if (b == -1) return subtract(0, a);
  return b == 0 ? 0 : a / b;
}
std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct BinaryRow {
  Real2 real;
  Whole2 whole;
  bool truth = false;  ///< the result is true or false
};

const BinaryRow* binary_row(const std::string& type) {
  static const std::map<std::string_view, BinaryRow> kRows = {
      {"Add", {[](double a, double b) { return a + b; }, add}},
      {"Sub", {[](double a, double b) { return a - b; }, subtract}},
      {"Mul", {[](double a, double b) { return a * b; }, multiply}},
      {"Div", {[](double a, double b) { return a / b; }, divide}},
      {"Mod", {[](double a, double b) { return std::fmod(a, b); }, modulo}},
      {"Pow", {[](double a, double b) { return std::pow(a, b); }, nullptr}},
      {"Min",
       {[](double a, double b) { return std::min(a, b); },
        [](std::int64_t a, std::int64_t b) { return std::min(a, b); }}},
      {"Max",
       {[](double a, double b) { return std::max(a, b); },
        [](std::int64_t a, std::int64_t b) { return std::max(a, b); }}},
      {"Equal",
       {[](double a, double b) { return double(a == b); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; }, true}},
      {"Less",
       {[](double a, double b) { return double(a < b); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a < b}; }, true}},
      {"LessOrEqual",
       {[](double a, double b) { return double(a <= b); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a <= b}; }, true}},
      {"Greater",
       {[](double a, double b) { return double(a > b); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a > b}; }, true}},
      {"GreaterOrEqual",
       {[](double a, double b) { return double(a >= b); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a >= b}; }, true}},
      {"And",
       {[](double a, double b) { return double(a != 0 && b != 0); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a != 0 && b != 0}; }, true}},
      {"Or",
       {[](double a, double b) { return double(a != 0 || b != 0); },
        [](std::int64_t a, std::int64_t b) { return std::int64_t{a != 0 || b != 0}; }, true}},
  };
  const auto found = kRows.find(type);
  return found == kRows.end() ? nullptr : &found->second;
}

Views binary(const Node& node, const BinaryRow& row) {
  View result = node.input(0);
  for (std::size_t k = 1; k < node.input_count(); ++k) {
    const bool real =
        result.constant().type == Type::kFloat || node.input(k).constant().type == Type::kFloat;
    const Type type = row.truth ? Type::kBool : real ? Type::kFloat : Type::kInteger;
    std::function<std::int64_t(std::span<const std::int64_t>)> whole;
    if (row.whole) whole = [&](auto v) { return row.whole(v[0], v[1]); };
    result = each(
        node, {result, node.input(k)}, type, [&](auto v) { return row.real(v[0], v[1]); }, whole);
  }
  return {result};
}

using Real1 = double (*)(double);

Real1 unary_function(const std::string& type) {
  static const std::map<std::string_view, Real1> kFunctions = {
      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return std::log(x); }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Relu", [](double x) { return x > 0 ? x : 0; }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Not", [](double x) { return double(x == 0); }}};
  const auto found = kFunctions.find(type);
  return found == kFunctions.end() ? nullptr : found->second;
}

Views where(const Node& node) {
  const View &yes = node.input(1), &no = node.input(2);
  const bool real = yes.constant().type == Type::kFloat || no.constant().type == Type::kFloat;
  return {each(
      node, {node.input(0), yes, no}, real ? Type::kFloat : yes.constant().type,
      [](auto v) { return v[0] != 0 ? v[1] : v[2]; },
      [](auto v) { return v[0] != 0 ? v[1] : v[2]; })};
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
    std::vector<std::size_t> places;
    each_position(to, own,
                  [&](std::int64_t at) { places.push_back(static_cast<std::size_t>(at)); });
    std::size_t next = 0;
    each_position(x, own, [&](std::int64_t at) {
      const auto from = static_cast<std::size_t>(at);
      if (type == Type::kFloat) {
        result.floats[places[next++]] = x.constant().floats[from];
      } else {
        result.integers[places[next++]] = x.constant().integers[from];
      }
    });
    begin += x.dims[axis];
  }
  return {constant_view(std::move(result), dims)};
}

/// Slices of the data at these places replaced (ONNX ScatterND): how exporters write to parts of a
/// tensor, masks of attention for one.
Views scatter(const Node& node) {
  const View &data = node.input(0), &indices = node.input(1), &updates = node.input(2);
  if (node.text("reduction", "none") != "none") node.fail("adds or multiplies, which is not read");
  const auto size = static_cast<std::size_t>(checked_size(node, data.dims));
  const std::size_t depth = indices.rank() == 0 ? 0 : static_cast<std::size_t>(indices.dims.back());
  if (depth < 1 || depth > data.rank()) node.fail("has places of other dimensions than its data");
  const bool real = data.constant().type == Type::kFloat;
  Constant result{data.constant().type, {}, {}};
  if (real) {
    result.floats = floats_of(data);
  } else {
    result.integers = integers_of(data);
  }
  const Dims strides = dense_strides(data.dims);
  const std::int64_t length = strides[depth - 1];
  const std::vector<std::int64_t> places = integers_of(indices);
  const std::vector<float> floats = real ? floats_of(updates) : std::vector<float>();
  const std::vector<std::int64_t> whole = real ? std::vector<std::int64_t>() : integers_of(updates);
  const std::size_t count = places.size() / depth;
  if (std::max(floats.size(), whole.size()) != count * static_cast<std::size_t>(length)) {
    node.fail("has other than the values that its places take");
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      std::int64_t place = places[i * depth + k];
      if (place < -data.dims[k] || place >= data.dims[k]) node.fail("has a place out of range");
      if (place < 0) place += data.dims[k];
      at += place * strides[k];
    }
    for (std::int64_t j = 0; j < length; ++j) {
      const auto from = i * static_cast<std::size_t>(length) + static_cast<std::size_t>(j);
      const auto to = static_cast<std::size_t>(at + j);
      if (to >= size) node.fail("has a place out of range");
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

}  // namespace

std::optional<Views> fold(const Node& node) {
  const std::string& type = node.type();
  if (type == "Shape") return shape(node);
  if (type == "Size") return size(node);
  if (type == "Constant") return constant(node);
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i) && !node.input(i).is_constant()) return {};
  }
  if (node.input_count() == 0) return {};
  if (type == "ConstantOfShape") return constant_of_shape(node);
  if (type == "Range") return range(node);
  if (type == "Cast") return cast(node);
  if (type == "Where") return where(node);
  if (type == "ScatterND") return scatter(node);
  if (type == "Concat") return concat(node);
  if (type == "ReduceProd" && node.input(0).constant().type == Type::kInteger &&
      !node.has_attribute("axes")) {
    return product(node);
  }
  if (const BinaryRow* row = binary_row(type)) return binary(node, *row);
  if (const Real1 function = unary_function(type)) {
    const Type of = type == "Not" ? Type::kBool : node.input(0).constant().type;
    return Views{each(
        node, {node.input(0)}, of, [&](auto v) { return function(v[0]); }, nullptr)};
  }
  return {};
}

}  // namespace hios::onnx
