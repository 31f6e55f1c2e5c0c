// Operators on more than four dimensions, gathers by known indices, and attention: the values of
// files are compared with plain loops over indices.

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

// Two pixels of four: taps at distances of a quarter and three quarters of the widened filter. What
// lies outside counts for the border, or not at all.
TEST(Resizes, WidenTheirFilterAgainstAliases) {
  const Table x = wide_input({2, 3, 4});
  for (const bool outside : {false, true}) {
    Net net(x.dims);
    net.model.mutable_opset_import(0)->set_version(18);
    net.op("Resize", {"x", "", "", integer_table(net, {3}, {2, 3, 2})});
    OnnxBuilder::attribute(net.last(), "antialias", 1);
    OnnxBuilder::attribute(net.last(), "exclude_outside", outside ? 1 : 0);
    proto::AttributeProto& mode = *net.last().add_attribute();
    mode.set_name("mode"), mode.set_type(proto::AttributeProto::STRING), mode.set_s("linear");
    expect_values(net, table_of({2, 3, 2}, [&](const List& index) {
                    const auto pixel = [&](std::int64_t from_border) {
                      const std::int64_t at = index[2] == 0 ? from_border : 3 - from_border;
                      return double{x.at({index[0], index[1], at})};
                    };
                    const double border = outside ? 0.75 : 1;
                    return (border * pixel(0) + 0.75 * pixel(1) + 0.25 * pixel(2)) / (border + 1);
                  }));
  }
}

TEST(Gathers, TablesOfIndicesMoveValues) {
  struct Case {
    const char* what;
    List dims, indices;
    std::size_t layers;  ///< of any kind
  };
  const std::vector<Case> cases = {{"windows", {2, 3}, {0, 1, 2, 3, 4, 5}, 1},
                                   {"overlapping windows", {3, 2}, {4, 3, 3, 2, 2, 1}, 1},
                                   {"one of each", {2, 1}, {5, -6}, 1},
                                   {"unequal steps", {5}, {0, 2, 5, 5, 1}, 4},
                                   {"a table without order", {2, 2}, {3, 1, 0, 5}, 5}};
  const Table x = wide_input({2, 6, 5});
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Net net(x.dims);
    net.op("Gather", {"x", integer_table(net, each.dims, each.indices)});
    OnnxBuilder::attribute(net.last(), "axis", 1);
    List dims = {2};
    dims.insert(dims.end(), each.dims.begin(), each.dims.end());
    dims.push_back(5);
    const std::size_t rank = each.dims.size();
    expect_values(net, table_of(dims, [&](const List& index) {
                    std::int64_t at = 0;
                    for (std::size_t k = 0; k < rank; ++k) at = at * each.dims[k] + index[1 + k];
                    const std::int64_t from = each.indices[static_cast<std::size_t>(at)];
                    return x.at({index[0], (from + 6) % 6, index.back()});
                  }));
    EXPECT_LE(onnx::import_model(net.file()).layers().size(), each.layers);
  }
}

// unfold: rows and columns by tables of windows, as exporters write im2col.
TEST(Gathers, WindowsOfImagesAreOneMove) {
  const Table x = wide_input({3, 6, 5});
  Net net(x.dims);
  const std::string rows =
      net.op("Gather", {"x", integer_table(net, {3, 4}, {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5})});
  OnnxBuilder::attribute(net.last(), "axis", 1);
  const std::string both =
      net.op("Gather", {rows, integer_table(net, {2, 4}, {0, 1, 2, 3, 1, 2, 3, 4})});
  OnnxBuilder::attribute(net.last(), "axis", 3);
  net.op("Transpose", {both}, "perm", {0, 1, 3, 2, 4});
  expect_values(net, table_of({3, 3, 2, 4, 4}, [&](const List& i) {
                  return x.at({i[0], i[1] + i[3], i[2] + i[4]});
                }));
  EXPECT_EQ(layers_of(onnx::import_model(net.file())), Layers{"Move"});
}

TEST(Gathers, TuplesOfIndicesMoveValues) {
  const Table x = wide_input({2, 3, 4});
  Net pairs(x.dims);
  pairs.op("GatherND", {"x", integer_table(pairs, {2, 2, 2}, {0, 1, 1, 2, 1, 0, 0, -1})});
  const std::vector<List> from = {{0, 1}, {1, 2}, {1, 0}, {0, 2}};
  expect_values(pairs, table_of({2, 2, 4}, [&](const List& i) {
                  const List& pair = from[static_cast<std::size_t>(2 * i[0] + i[1])];
                  return x.at({pair[0], pair[1], i[2]});
                }));
  Net batches(x.dims);
  batches.op("GatherND", {"x", integer_table(batches, {2, 2, 1}, {0, 2, 1, 1})});
  OnnxBuilder::attribute(batches.last(), "batch_dims", 1);
  const List of_batch = {0, 2, 1, 1};
  expect_values(batches, table_of({2, 2, 4}, [&](const List& i) {
                  return x.at({i[0], of_batch[static_cast<std::size_t>(2 * i[0] + i[1])], i[2]});
                }));
  Net single(x.dims);
  single.op("GatherElements",
            {"x", integer_table(single, {2, 3, 2}, {0, 3, 1, 1, 2, 0, -1, 2, 0, 0, 1, 3})});
  OnnxBuilder::attribute(single.last(), "axis", 2);
  const List columns = {0, 3, 1, 1, 2, 0, 3, 2, 0, 0, 1, 3};
  expect_values(
      single, table_of({2, 3, 2}, [&](const List& i) {
        return x.at({i[0], i[1], columns[static_cast<std::size_t>(6 * i[0] + 2 * i[1] + i[2])]});
      }));
}

TEST(Gathers, MoreStretchesThanABoundAreRefused) {
  Net net({1, 600});
  List indices;
  for (std::int64_t i = 0; i < 600; ++i) indices.push_back(i * i % 599);
  net.op("Gather", {"x", integer_table(net, {600}, indices)});
  OnnxBuilder::attribute(net.last(), "axis", 1);
  net.output(net.last().output(0));
  expect_error([&] { onnx::import_model(net.write()); },
               {"net.onnx",
                "(Gather): gathers by indices of more than 256 stretches of equal steps: "
                "sort its input, or simplify the file"});
}

// Products whose outer axes broadcast in each way, of five dimensions.
TEST(ManyDimensions, ProductsOfMatrices) {
  const List shapes[][2] = {{{2, 3, 2, 4, 5}, {2, 3, 2, 5, 3}},
                            {{2, 3, 1, 4, 5}, {2, 3, 2, 5, 3}},
                            {{1, 3, 1, 4, 5}, {2, 1, 2, 5, 3}},
                            {{2, 1, 1, 4, 5}, {3, 2, 5, 3}}};
  for (const auto& [left, right] : shapes) {
    SCOPED_TRACE(testing::PrintToString(left) + testing::PrintToString(right));
    const Table a{left, {}}, b{right, {}};
    const std::int64_t first = count_of(left), all = first + count_of(right);
    const Table x = wide_input({1, all});
    Table of_a{left, {x.values.begin(), x.values.begin() + first}},
        of_b{right, {x.values.begin() + first, x.values.end()}};
    while (of_b.dims.size() < 5) of_b.dims.insert(of_b.dims.begin(), 1);
    Net net(x.dims);
    net.integers("sizes", {first, all - first}), net.integers("left", left),
        net.integers("right", right);
    const std::string l = net.op("Split", {"x", "sizes"});
    net.last().add_output("other");
    OnnxBuilder::attribute(net.last(), "axis", 1);
    net.op("MatMul", {net.op("Reshape", {l, "left"}), net.op("Reshape", {"other", "right"})});
    List dims;
    for (std::size_t k = 0; k < 3; ++k) dims.push_back(std::max(of_a.dims[k], of_b.dims[k]));
    dims.insert(dims.end(), {4, 3});
    expect_values(net, table_of(dims, [&](const List& i) {
                    double sum = 0;
                    for (std::int64_t k = 0; k < 5; ++k) {
                      const auto of = [&](const Table& t, std::int64_t row, std::int64_t column) {
                        List index(3);
                        for (std::size_t d = 0; d < 3; ++d) index[d] = t.dims[d] == 1 ? 0 : i[d];
                        index.insert(index.end(), {row, column});
                        return double{t.at(index)};
                      };
                      sum += of(of_a, i[3], k) * of(of_b, k, i[4]);
                    }
                    return sum;
                  }));
  }
}

/// Returns the sum of a function of all values that differ from this index along some axes only.
double over(const Table& x, List index, const std::vector<std::size_t>& axes,
            const std::function<double(double)>& value) {
  double sum = 0;
  List extents;
  for (const std::size_t axis : axes) extents.push_back(x.dims[axis]);
  for (const List& each : indices_in(extents)) {
    for (std::size_t k = 0; k < axes.size(); ++k) index[axes[k]] = each[k];
    sum += value(x.at(index));
  }
  return sum;
}

TEST(ManyDimensions, SoftmaxAlongEachAxis) {
  const Table x = wide_input({2, 3, 2, 4, 2, 3});
  for (std::size_t axis = 0; axis < 6; ++axis) {
    SCOPED_TRACE(axis);
    Net net(x.dims);
    net.op("Softmax", {"x"});
    OnnxBuilder::attribute(net.last(), "axis", static_cast<std::int64_t>(axis));
    expect_values(net, table_of(x.dims, [&](const List& i) {
                    return std::exp(x.at(i)) /
                           over(x, i, {axis}, [](double v) { return std::exp(v); });
                  }));
  }
}

TEST(ManyDimensions, ReductionsOfEachSecondAxis) {
  const Table x = wide_input({2, 3, 2, 4, 3});
  Net net(x.dims);
  net.op("ReduceSum", {"x", integer_table(net, {2}, {1, 3})});
  OnnxBuilder::attribute(net.last(), "keepdims", 0);
  expect_values(net, table_of({2, 2, 3}, [&](const List& i) {
                  return over(x, {i[0], 0, i[1], 0, i[2]}, {1, 3}, [](double v) { return v; });
                }));
}

// Batches, two letters that are summed, and one of the first operand alone.
TEST(Products, EinsumIsAProductOfMatrices) {
  const Table x = wide_input({2, 3, 4, 5});
  const Table one{{2, 3, 20}, x.values};
  Net net(one.dims);
  net.integers("q", {2, 3, 4, 5}), net.integers("k", {4, 2, 5, 3});
  const std::string q = net.op("Reshape", {"x", "q"}), k = net.op("Reshape", {"x", "k"});
  net.op("Einsum", {q, k});
  auto& equation = *net.last().add_attribute();
  equation.set_name("equation"), equation.set_type(proto::AttributeProto::STRING);
  equation.set_s("bihd, hbdj -> jbi");
  const Table right{{4, 2, 5, 3}, one.values}, left{{2, 3, 4, 5}, one.values};
  expect_values(net, table_of({3, 2, 3}, [&](const List& i) {
                  double sum = 0;
                  for (const List& each : indices_in({4, 5})) {
                    sum += double{left.at({i[1], i[2], each[0], each[1]})} *
                           right.at({each[0], i[1], each[1], i[0]});
                  }
                  return sum;
                }));
}

TEST(ManyDimensions, NormalizationsOfTheLastAxes) {
  const Table x = wide_input({2, 3, 2, 4, 5});
  for (const char* type : {"LayerNormalization", "RMSNormalization"}) {
    SCOPED_TRACE(type);
    const bool centres = std::string(type) == "LayerNormalization";
    Net net(x.dims);
    net.model.mutable_opset_import(0)->set_version(23);
    std::vector<float> scale(20);
    std::iota(scale.begin(), scale.end(), 1.0f);
    net.op(type, {"x", net.constant({4, 5}, scale)});
    OnnxBuilder::attribute(net.last(), "axis", -2);
    expect_values(
        net, table_of(x.dims, [&](const List& i) {
          const double mean = centres ? over(x, i, {3, 4}, [](double v) { return v; }) / 20 : 0;
          const double variance =
              over(x, i, {3, 4}, [&](double v) { return (v - mean) * (v - mean); }) / 20;
          return (x.at(i) - mean) / std::sqrt(variance + 1e-5) * double(i[3] * 5 + i[4] + 1);
        }));
  }
}

// RMSNormalization of an image's channels, whose values lie NHWC.
TEST(ManyDimensions, RootMeanSquaresOfFourDimensions) {
  const Table x = wide_input({2, 60});
  Net net(x.dims);
  net.model.mutable_opset_import(0)->set_version(23);
  net.integers("image", {2, 3, 4, 5});
  net.op("RMSNormalization",
         {net.op("Reshape", {"x", "image"}), net.constant({5}, {1, 2, 3, 4, 5})});
  const Table image{{2, 3, 4, 5}, x.values};
  expect_values(net, table_of(image.dims, [&](const List& i) {
                  const double squares = over(image, i, {3}, [](double v) { return v * v; }) / 5;
                  return image.at(i) / std::sqrt(squares + 1e-5) * double(i[3] + 1);
                }));
}

TEST(ManyDimensions, PadsAndJoinedConstants) {
  const Table x = wide_input({2, 2, 3, 2, 3});
  Net padded_net(x.dims);
  padded_net.integers("pads", {0, 0, 1, 0, 0, 0, 0, 2, 0, 0});
  padded_net.op("Pad", {"x", "pads", padded_net.constant(7)});
  expect_values(padded_net, table_of({2, 2, 6, 2, 3}, [&](const List& i) {
                  const bool inside = i[2] >= 1 && i[2] < 4;
                  return inside ? x.at({i[0], i[1], i[2] - 1, i[3], i[4]}) : 7;
                }));
  Net joined_net(x.dims);
  const std::string token = joined_net.constant({2, 2, 1, 2, 3}, std::vector<float>(24, 0.5f));
  joined_net.op("Concat", {token, "x"});
  OnnxBuilder::attribute(joined_net.last(), "axis", 2);
  expect_values(joined_net, table_of({2, 2, 4, 2, 3}, [&](const List& i) {
                  return i[2] == 0 ? 0.5 : x.at({i[0], i[1], i[2] - 1, i[3], i[4]});
                }));
}

TEST(ManyDimensions, SevenOfAnInputAreRefused) {
  Net net({1, 1, 1, 1, 1, 1, 2});
  net.output(net.op("Relu", {"x"}));
  expect_error([&] { onnx::import_model(net.write()); },
               {"the input 'x' has 7 dimensions; up to six are read"});
}

/// Adds a mask of truth values of three rows and columns, of which two are false: in the file, or
/// computed from "x".
std::string add_mask(Net& net, bool computed) {
  const std::vector<float> use = {1, 1, 1, 1, 1, 0, 0, 1, 1};
  if (computed) {
    net.integers("begin", {0, 0, 0});
    net.integers("end", {1, 3, 3});
    const std::string zeros =
        net.op("Mul", {net.op("Slice", {"x", "begin", "end"}), net.constant(0)});
    const std::string sum = net.op("Add", {zeros, net.constant({3, 3}, use)});
    return net.op("Greater", {sum, net.constant(0.5)});
  }
  auto& mask = *net.graph().add_initializer();
  mask.set_name("mask"), mask.set_data_type(proto::TensorProto::BOOL);
  for (const int extent : {3, 3}) mask.add_dims(extent);
  for (const float used : use) mask.add_int32_data(used == 1 ? 1 : 0);
  return "mask";
}

// Four heads of Q share two of K and V; a mask of truth values, and none later than Q.
TEST(Attention, IsASoftmaxOfProducts) {
  const Table x = wide_input({2, 3, 24});  // Q and K of two values in a head, V of two, too
  for (const int chosen : {0, 1, 2, 3}) {
    const bool causal = chosen % 2 == 1, computed = chosen >= 2;
    SCOPED_TRACE(chosen);
    Net net(x.dims);
    net.model.mutable_opset_import(0)->set_version(23);
    net.integers("sizes", {8, 4, 4, 8});
    const std::string q = net.op("Split", {"x", "sizes"});
    for (const char* part : {"k", "v", "rest"}) net.last().add_output(part);
    OnnxBuilder::attribute(net.last(), "axis", 2);
    net.op("Attention", {q, "k", "v", add_mask(net, computed)});
    OnnxBuilder::attribute(net.last(), "q_num_heads", 4);
    OnnxBuilder::attribute(net.last(), "kv_num_heads", 2);
    OnnxBuilder::attribute(net.last(), "is_causal", causal);
    const auto used = [&](std::int64_t row, std::int64_t column) {
      const bool out = (row == 1 && column == 2) || (row == 2 && column == 0);
      return !out && (!causal || column <= row);
    };
    expect_values(net, table_of({2, 3, 8}, [&](const List& i) {
                    const std::int64_t head = i[2] / 2, shared = head / 2;
                    double sum = 0, all = 0;
                    for (std::int64_t j = 0; j < 3; ++j) {
                      if (!used(i[1], j)) continue;
                      double score = 0;
                      for (std::int64_t k = 0; k < 2; ++k) {
                        score += double{x.at({i[0], i[1], 2 * head + k})} *
                                 x.at({i[0], j, 8 + 2 * shared + k});
                      }
                      const double share = std::exp(score / std::sqrt(2.0));
                      all += share;
                      sum += share * x.at({i[0], j, 12 + 2 * shared + i[2] % 2});
                    }
                    return sum / all;
                  }));
  }
}

}  // namespace
}  // namespace hios::test
