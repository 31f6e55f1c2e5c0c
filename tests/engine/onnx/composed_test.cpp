// Operators that become several layers: convolutions and pools of volumes, convolutions by computed
// weights, recurrent networks, products with tables of constants, and functions of integers. Their
// values are compared with plain loops.

#include <cmath>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

void text_attribute(Net& net, const char* name, const char* value) {
  proto::AttributeProto& added = *net.last().add_attribute();
  added.set_name(name);
  added.set_type(proto::AttributeProto::STRING);
  added.set_s(value);
}

/// A window over the three spatial axes of (N, C, D, H, W).
struct Walk {
  List kernel, strides, pads, dilations;

  std::int64_t out(std::size_t axis, std::int64_t extent) const {
    const std::int64_t reach = (kernel[axis] - 1) * dilations[axis] + 1;
    return (extent + pads[axis] + pads[axis + 3] - reach) / strides[axis] + 1;
  }
  /// Calls visit(tap, input's index) for each tap inside the input.
  void each(const List& position, const List& dims,
            const std::function<void(const List&, const List&)>& visit) const {
    for (const List& tap : indices_in(kernel)) {
      List at(3);
      bool inside = true;
      for (std::size_t k = 0; k < 3; ++k) {
        at[k] = position[k] * strides[k] + tap[k] * dilations[k] - pads[k];
        inside = inside && at[k] >= 0 && at[k] < dims[2 + k];
      }
      if (inside) visit(tap, at);
    }
  }
  void write(Net& net) const {
    OnnxBuilder::attribute(net.last(), "kernel_shape", kernel);
    OnnxBuilder::attribute(net.last(), "strides", strides);
    OnnxBuilder::attribute(net.last(), "pads", pads);
  }
};

TEST(Volumes, AreConvolved) {
  const Table x = wide_input({2, 4, 5, 4, 6}), weights = waves({6, 2, 3, 2, 3}, 0.7);
  for (const Walk& walk : {Walk{{3, 2, 3}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}},
                           Walk{{3, 2, 3}, {2, 1, 2}, {1, 0, 1, 2, 1, 1}, {1, 1, 1}},
                           Walk{{3, 2, 3}, {1, 2, 1}, {2, 1, 0, 1, 0, 1}, {2, 1, 1}}}) {
    Net net(x.dims);
    net.op("Conv", {"x", table_constant(net, weights), net.constant({6}, {1, 2, 3, 4, 5, 6})});
    walk.write(net);
    OnnxBuilder::attribute(net.last(), "dilations", walk.dilations);
    OnnxBuilder::attribute(net.last(), "group", 2);
    const List dims{2, 6, walk.out(0, 5), walk.out(1, 4), walk.out(2, 6)};
    expect_values(net, table_of(dims, [&](const List& index) {
                    double sum = static_cast<double>(index[1] + 1);
                    walk.each({index[2], index[3], index[4]}, x.dims,
                              [&](const List& tap, const List& at) {
                                for (std::int64_t c = 0; c < 2; ++c) {
                                  const std::int64_t from = index[1] / 3 * 2 + c;
                                  sum += x.at({index[0], from, at[0], at[1], at[2]}) *
                                         weights.at({index[1], c, tap[0], tap[1], tap[2]});
                                }
                              });
                    return sum;
                  }));
  }
}

TEST(Volumes, AreConvolvedTransposed) {
  const Table x = wide_input({2, 4, 3, 2, 3}), weights = waves({4, 3, 3, 2, 2}, 0.7);
  const List strides{2, 1, 2}, dilations{1, 2, 1}, pads{1, 0, 1, 0, 1, 0}, more{1, 0, 1};
  Net net(x.dims);
  net.op("ConvTranspose",
         {"x", table_constant(net, weights), net.constant({6}, {1, 2, 3, 4, 5, 6})});
  OnnxBuilder::attribute(net.last(), "strides", strides);
  OnnxBuilder::attribute(net.last(), "dilations", dilations);
  OnnxBuilder::attribute(net.last(), "pads", pads);
  OnnxBuilder::attribute(net.last(), "output_padding", more);
  OnnxBuilder::attribute(net.last(), "group", 2);
  List dims{2, 6};
  for (std::size_t k = 0; k < 3; ++k) {
    dims.push_back((x.dims[k + 2] - 1) * strides[k] + (weights.dims[k + 2] - 1) * dilations[k] + 1 +
                   more[k] - pads[k] - pads[k + 3]);
  }
  Table wanted =
      table_of(dims, [](const List& index) { return static_cast<double>(index[1] + 1); });
  for (const List& from : indices_in(x.dims)) {
    for (const List& tap : indices_in({3, 3, 2, 2})) {  // output channel of the group, d, h, w
      List to{from[0], from[1] / 2 * 3 + tap[0]};
      bool inside = true;
      for (std::size_t k = 0; k < 3; ++k) {
        to.push_back(from[k + 2] * strides[k] + tap[k + 1] * dilations[k] - pads[k]);
        inside = inside && to.back() >= 0 && to.back() < dims[k + 2];
      }
      if (!inside) continue;
      std::int64_t at = 0;
      for (std::size_t k = 0; k < dims.size(); ++k) at = at * dims[k] + to[k];
      wanted.values[static_cast<std::size_t>(at)] +=
          x.at(from) * weights.at({from[1], tap[0], tap[1], tap[2], tap[3]});
    }
  }
  expect_values(net, wanted);
}

TEST(Volumes, ArePooled) {
  const Table x = wide_input({1, 3, 5, 4, 6});
  const Walk walk{{3, 2, 3}, {2, 1, 2}, {1, 0, 1, 1, 1, 0}, {1, 1, 1}};
  const List dims{1, 3, walk.out(0, 5), walk.out(1, 4), walk.out(2, 6)};
  for (const bool average : {false, true}) {
    Net net(x.dims);
    net.op(average ? "AveragePool" : "MaxPool", {"x"});
    walk.write(net);
    if (average) OnnxBuilder::attribute(net.last(), "count_include_pad", 1);
    expect_values(net, table_of(dims, [&](const List& index) {
                    double sum = 0, most = -10;
                    walk.each({index[2], index[3], index[4]}, x.dims,
                              [&](const List&, const List& at) {
                                const double value = x.at({0, index[1], at[0], at[1], at[2]});
                                sum += value;
                                most = std::max(most, value);
                              });
                    return average ? sum / 18 : most;
                  }));
  }
  Net net(x.dims);
  net.op("GlobalAveragePool", {"x"});
  expect_values(net, table_of({1, 3, 1, 1, 1}, [&](const List& index) {
                  double sum = 0;
                  for (const List& at : indices_in({5, 4, 6}))
                    sum += x.at({0, index[1], at[0], at[1], at[2]});
                  return sum / 120;
                }));
}

// The weights are a table plus the input's first value, as networks choose among experts.
TEST(Convolutions, TakeComputedWeights) {
  const Table x = wide_input({2, 4, 7}), weights = waves({6, 2, 3}, 0.7);
  Net net(x.dims);
  const std::string first = net.op(
      "Slice", {"x", integer_table(net, {3}, {0, 0, 0}), integer_table(net, {3}, {1, 1, 1})});
  const std::string filter = net.op("Add", {table_constant(net, weights), first});
  net.op("Conv", {"x", filter, net.constant({6}, {1, 2, 3, 4, 5, 6})});
  OnnxBuilder::attribute(net.last(), "group", 2);
  OnnxBuilder::attribute(net.last(), "strides", List{2});
  OnnxBuilder::attribute(net.last(), "pads", List{1, 1});
  expect_values(net, table_of({2, 6, 4}, [&](const List& index) {
                  double sum = static_cast<double>(index[1] + 1);
                  for (std::int64_t c = 0; c < 2; ++c) {
                    for (std::int64_t k = 0; k < 3; ++k) {
                      const std::int64_t at = index[2] * 2 + k - 1;
                      if (at < 0 || at >= 7) continue;
                      sum += x.at({index[0], index[1] / 3 * 2 + c, at}) *
                             (weights.at({index[1], c, k}) + x.values[0]);
                    }
                  }
                  return sum;
                }));
}

// Windows of 2x3 at steps of 2x1 of an image of 5x5 with a border on the left: no window reaches
// its last row.
TEST(Windows, AreAddedWhereTheyOverlap) {
  const Table x = wide_input({2, 2 * 6, 2 * 4});
  Net net(x.dims);
  net.op("Col2Im", {"x", integer_table(net, {2}, {5, 5}), integer_table(net, {2}, {2, 3})});
  OnnxBuilder::attribute(net.last(), "strides", List{2, 1});
  OnnxBuilder::attribute(net.last(), "pads", List{0, 1, 0, 0});
  expect_values(net, table_of({2, 2, 5, 5}, [&](const List& index) {
                  double sum = 0;
                  for (const List& at : indices_in({2, 3, 2, 4})) {  // tap, window
                    if (at[2] * 2 + at[0] != index[2] || at[3] + at[1] - 1 != index[3]) continue;
                    sum += x.at({index[0], index[1] * 6 + at[0] * 3 + at[1], at[2] * 4 + at[3]});
                  }
                  return sum;
                }));
}

TEST(Scatters, ReplaceSlicesAndElements) {
  const Table x = wide_input({3, 4, 2}), slices = waves({2, 2}, 0.7);
  Net net(x.dims);
  net.op("ScatterND", {"x", integer_table(net, {2, 2}, {0, 3, 2, 1}), table_constant(net, slices)});
  expect_values(net, table_of(x.dims, [&](const List& index) {
                  if (index[0] == 0 && index[1] == 3) return slices.at({0, index[2]});
                  if (index[0] == 2 && index[1] == 1) return slices.at({1, index[2]});
                  return x.at(index);
                }));
  // The first column is replaced by twice the second one.
  const Table matrix = wide_input({4, 3});
  Net elements(matrix.dims);
  const std::string twice = elements.op("Add", {"x", "x"});
  const std::string column =
      elements.op("Slice", {twice, integer_table(elements, {1}, {1}),
                            integer_table(elements, {1}, {2}), integer_table(elements, {1}, {1})});
  elements.op("ScatterElements", {"x", integer_table(elements, {4, 1}, {0, 0, 0, 0}), column});
  OnnxBuilder::attribute(elements.last(), "axis", 1);
  expect_values(elements, table_of(matrix.dims, [&](const List& index) {
                  return index[1] == 0 ? 2 * matrix.at({index[0], 1}) : matrix.at(index);
                }));
}

// More stretches of equal steps than a gather of computed values may have.
TEST(Scatters, ReplaceManyElementsOfConstants) {
  const std::int64_t columns = 1009;
  const Table x = wide_input({2, columns}), data = waves({2, columns}, 0.3),
              updates = waves({2, 600}, 0.7);
  List positions;
  const auto position = [&](std::int64_t row, std::int64_t i) {
    return (i * i + row) % columns;  // a later update replaces an earlier one
  };
  for (std::int64_t i = 0; i < 1200; ++i) positions.push_back(position(i / 600, i % 600));
  Net net(x.dims);
  const std::string scattered =
      net.op("ScatterElements", {table_constant(net, data), integer_table(net, {2, 600}, positions),
                                 table_constant(net, updates)});
  OnnxBuilder::attribute(net.last(), "axis", 1);
  net.op("Add", {"x", scattered});
  expect_values(net, table_of(x.dims, [&](const List& index) {
                  double value = data.at(index);
                  for (std::int64_t i = 0; i < 600; ++i) {
                    if (position(index[0], i) == index[1]) value = updates.at({index[0], i});
                  }
                  return x.at(index) + value;
                }));
}

TEST(Rotary, TurnsPairsByTheirPositions) {
  const Table x = wide_input({2, 3, 12});  // 2 heads of 6 values, of which 4 are turned
  const Table cosine = waves({5, 2}, 0.7), sine = waves({5, 2}, 0.9);
  const List positions = {4, 0, 2, 1, 1, 3};
  for (const bool neighbours : {false, true}) {
    Net net(x.dims);
    net.model.mutable_opset_import(0)->set_version(23);
    net.op("RotaryEmbedding", {"x", table_constant(net, cosine), table_constant(net, sine),
                               integer_table(net, {2, 3}, positions)});
    OnnxBuilder::attribute(net.last(), "num_heads", 2);
    OnnxBuilder::attribute(net.last(), "rotary_embedding_dim", 4);
    OnnxBuilder::attribute(net.last(), "interleaved", neighbours ? 1 : 0);
    expect_values(net, table_of(x.dims, [&](const List& index) {
                    const std::int64_t head = index[2] / 6 * 6, at = index[2] % 6;
                    if (at >= 4) return double{x.at(index)};
                    const std::int64_t pair = neighbours ? at / 2 : at % 2;
                    const bool second = neighbours ? at % 2 == 1 : at >= 2;
                    const std::int64_t a = head + (neighbours ? 2 * pair : pair),
                                       b = head + (neighbours ? 2 * pair + 1 : pair + 2);
                    const auto value = [&](std::int64_t k) {
                      return double{x.at({index[0], index[1], k})};
                    };
                    const std::int64_t position =
                        positions[static_cast<std::size_t>(index[0] * 3 + index[1])];
                    const double c = cosine.at({position, pair}), s = sine.at({position, pair});
                    return second ? value(a) * s + value(b) * c : value(a) * c - value(b) * s;
                  }));
  }
}

TEST(Products, WithTablesOfConstants) {
  const Table x = wide_input({2, 3, 4, 5});
  const Table right = waves({3, 5, 2}, 0.7), left = waves({3, 6, 4}, 0.9);
  Net net({6, 4, 5});
  const Table flat = wide_input({6, 4, 5});
  const std::string image = net.op("Reshape", {"x", integer_table(net, {4}, {2, 3, 4, 5})});
  const std::string product = net.op("MatMul", {image, table_constant(net, right)});
  net.op("MatMul", {table_constant(net, left), product});
  net.op("Reshape", {net.last().output(0), integer_table(net, {3}, {6, 6, 2})});
  expect_values(net, table_of({6, 6, 2}, [&](const List& index) {
                  double sum = 0;
                  const std::int64_t which = index[0] % 3;
                  for (std::int64_t k = 0; k < 4; ++k) {
                    double inner = 0;
                    for (std::int64_t j = 0; j < 5; ++j)
                      inner += flat.at({index[0], k, j}) * right.at({which, j, index[2]});
                    sum += left.at({which, index[1], k}) * inner;
                  }
                  return sum;
                }));
}

TEST(Joins, TakeConstantsBetweenTensors) {
  const Table x = wide_input({2, 3});
  Net net(x.dims);
  net.op("Concat", {"x", net.constant({2, 1}, {7, 8}), "x", net.constant({2, 1}, {9, 10})});
  OnnxBuilder::attribute(net.last(), "axis", 1);
  expect_values(net, table_of({2, 8}, [&](const List& index) {
                  if (index[1] == 3) return 7.0 + static_cast<double>(index[0]);
                  if (index[1] == 7) return 9.0 + static_cast<double>(index[0]);
                  return static_cast<double>(x.at({index[0], index[1] % 4}));
                }));
}

/// A recurrent node's parameters, and its steps in plain loops.
struct Recurrent {
  std::int64_t gates, directions;
  bool reset_after = false;
  Table x = wide_input({5, 2, 3});
  Table w = waves({directions, gates * 4, 3}, 0.7), r = waves({directions, gates * 4, 4}, 0.9),
        b = waves({directions, gates * 8}, 1.1);

  double product(const Table& weights, std::int64_t d, std::int64_t row,
                 const std::vector<double>& by) const {
    double sum = 0;
    for (std::size_t k = 0; k < by.size(); ++k)
      sum += weights.at({d, row, static_cast<std::int64_t>(k)}) * by[k];
    return sum;
  }
  /// Returns h after the steps of a direction, of one sequence.
  std::vector<std::vector<double>> states(std::int64_t d, std::int64_t batch, bool back) const {
    std::vector<std::vector<double>> all(5);
    std::vector<double> h(4, 0), c(4, 0);
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t at = back ? 4 - i : i;
      std::vector<double> in;
      for (std::int64_t k = 0; k < 3; ++k) in.push_back(x.at({at, batch, k}));
      std::vector<double> next(4);
      const auto input = [&](std::int64_t row) { return product(w, d, row, in) + b.at({d, row}); };
      const auto state = [&](std::int64_t row, const std::vector<double>& by) {
        return product(r, d, row, by) + b.at({d, gates * 4 + row});
      };
      std::vector<double> reset = h;
      for (std::int64_t k = 0; gates == 3 && k < 4; ++k)
        reset[static_cast<std::size_t>(k)] *= logistic(input(4 + k) + state(4 + k, h));
      for (std::int64_t k = 0; k < 4; ++k) {
        const auto unit = static_cast<std::size_t>(k);
        const double first = logistic(input(k) + state(k, h));
        const double second = logistic(input(4 + k) + state(4 + k, h));
        if (gates == 4) {
          const double forget = logistic(input(8 + k) + state(8 + k, h));
          c[unit] = forget * c[unit] + first * std::tanh(input(12 + k) + state(12 + k, h));
          next[unit] = second * std::tanh(c[unit]);
        } else {
          const double rest = reset_after ? second * state(8 + k, h) : state(8 + k, reset);
          next[unit] = (1 - first) * std::tanh(input(8 + k) + rest) + first * h[unit];
        }
      }
      h = next;
      all[static_cast<std::size_t>(at)] = h;
    }
    return all;
  }
};

TEST(Recurrent, AreThoseOfPlainLoops) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const int form : {0, 1, 2}) {  // LSTM, and GRU with the reset before or after its product
      SCOPED_TRACE(std::string(direction) + " " + std::to_string(form));
      const bool both = std::string(direction) == "bidirectional";
      const Recurrent of{form == 0 ? 4 : 3, both ? 2 : 1, form == 2};
      Net net(of.x.dims);
      net.op(form == 0 ? "LSTM" : "GRU", {"x", table_constant(net, of.w), table_constant(net, of.r),
                                          table_constant(net, of.b)});
      OnnxBuilder::attribute(net.last(), "hidden_size", 4);
      text_attribute(net, "direction", direction);
      if (form == 2) OnnxBuilder::attribute(net.last(), "linear_before_reset", 1);
      net.op("Reshape", {net.last().output(0), integer_table(net, {3}, {5, -1, 4})});
      expect_values(
          net, table_of({5, 2 * of.directions, 4}, [&](const List& index) {
            const std::int64_t d = index[1] / 2;
            const bool back = d == 1 || std::string(direction) == "reverse";
            return of.states(
                d, index[1] % 2,
                back)[static_cast<std::size_t>(index[0])][static_cast<std::size_t>(index[2])];
          }));
    }
  }
}

TEST(Integers, AreWholeNumbers) {
  const Table x = wide_input({3, 7});
  Net net(x.dims);
  const auto cast = [&](const std::string& from, int type) {
    const std::string to = net.op("Cast", {from});
    OnnxBuilder::attribute(net.last(), "to", type);
    return to;
  };
  const std::string whole = cast("x", proto::TensorProto::INT32);
  const std::string two = integer_table(net, {1}, {2});
  const std::string half = net.op("Div", {whole, two}), rest = net.op("Mod", {whole, two});
  cast(net.op("Sub", {net.op("Mul", {half, integer_table(net, {1}, {10})}), rest}),
       proto::TensorProto::FLOAT);
  expect_values(net, table_of(x.dims, [&](const List& index) {
                  const int value = static_cast<int>(x.at(index));
                  return value / 2 * 10 - (value % 2 + 2) % 2;
                }));
}

}  // namespace
}  // namespace hios::test
