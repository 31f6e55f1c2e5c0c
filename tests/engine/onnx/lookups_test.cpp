// Rows and elements of tables by indices that the input decides, against plain loops.

#include <algorithm>
#include <limits>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "hios/graph/separate_inputs.h"
#include "hios/onnx/write/export.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

/// Values of which indices are made, which are whole numbers from -3 to 2.
class Indices {
 public:
  explicit Indices(const List& dims) : x_(wide_input(dims)) {}

  const Table& x() const { return x_; }
  /// Returns the row of a table of six that the value at this index names.
  std::int64_t row(const List& at) const {
    return (static_cast<std::int64_t>(x_.at(at) / 2) + 6) % 6;
  }
  /// Adds the nodes that make the indices of "x".
  static std::string of(Net& net) {
    const std::string cast = net.op("Cast", {net.op("Div", {"x", net.constant(2)})});
    OnnxBuilder::attribute(net.last(), "to", proto::TensorProto::INT64);
    return cast;
  }

 private:
  Table x_;
};

std::int64_t layers_of_type(const Model& model, std::string_view type) {
  return std::ranges::count(model.layers(), type,
                            [](const Layer& layer) { return onnx_type(layer.kind); });
}

TEST(Lookups, TakeRowsOfConstants) {
  const Indices indices({4, 5});
  const Table table = waves({2, 6, 3}, 0.7);
  Net net(indices.x().dims);
  net.op("Gather", {table_constant(net, table), Indices::of(net)});
  OnnxBuilder::attribute(net.last(), "axis", 1);
  expect_values(net, table_of({2, 4, 5, 3}, [&](const List& at) {
                  return table.at({at[0], indices.row({at[1], at[2]}), at[3]});
                }));
  const Model model = onnx::import_model(net.write(), {.kernel = layer_kernel()});
  EXPECT_EQ(layers_of_type(model, "Gather"), 1);
  EXPECT_EQ(layers_of_type(model, "Conv") + layers_of_type(model, "Equal"), 0) << "no product";
}

TEST(Lookups, TakeIndicesOfAnyRank) {
  const Table table = waves({6, 3}, 0.7);
  for (const List& dims : {List{}, List{5}, List{2, 3, 2}, List{2, 1, 2, 3, 2}}) {
    SCOPED_TRACE(dims.size());
    const Indices indices(dims);
    Net net(dims);
    net.op("Gather", {table_constant(net, table), Indices::of(net)});
    List wanted = dims;
    wanted.push_back(3);
    expect_values(net, table_of(wanted, [&](const List& at) {
                    return table.at({indices.row(List(at.begin(), at.end() - 1)), at.back()});
                  }));
  }
}

TEST(Lookups, TakeRowsOfComputedTables) {
  const Indices indices({4, 5});
  Net net(indices.x().dims);
  const Table factors = waves({6, 1, 1}, 0.9);
  const std::string table = net.op("Mul", {"x", table_constant(net, factors)});
  net.op("Gather", {table, Indices::of(net)});
  expect_values(
      net, table_of({4, 5, 4, 5}, [&](const List& at) {
        return indices.x().at({at[2], at[3]}) * factors.at({indices.row({at[0], at[1]}), 0, 0});
      }));
}

/// A product with ones and zeros would spread it to all rows.
TEST(Lookups, KeepAnInfinityInItsRow) {
  const Indices indices({4, 5});
  Table table = waves({6, 2}, 0.7);
  table.values[3 * 2] = std::numeric_limits<float>::infinity();
  Net net(indices.x().dims);
  net.op("Gather", {table_constant(net, table), Indices::of(net)});
  net.op("Min", {net.last().output(0), net.constant(100)});
  expect_values(net, table_of({4, 5, 2}, [&](const List& at) {
                  return std::min(table.at({indices.row({at[0], at[1]}), at[2]}), 100.0f);
                }));
}

TEST(Lookups, TakeIntegersThatFp32Holds) {
  const Indices indices({4, 5});
  const auto write = [&](Net& net, std::int64_t largest) {
    const std::string table = integer_table(net, {6}, {7, -2, 0, largest, 5, 1});
    net.op("Gather", {table, Indices::of(net)});
    net.op("Cast", {net.last().output(0)});
    OnnxBuilder::attribute(net.last(), "to", proto::TensorProto::FLOAT);
  };
  Net net(indices.x().dims), refused(indices.x().dims);
  write(net, 16777216);
  const List numbers{7, -2, 0, 16777216, 5, 1};
  expect_values(net, table_of({4, 5}, [&](const List& at) {
                  return static_cast<double>(numbers[static_cast<std::size_t>(indices.row(at))]);
                }));
  write(refused, 16777217);
  refused.output(refused.last().output(0));
  expect_error<InputError>([&] { onnx::import_model(refused.write()); },
                           {"(Gather): looks up integers beyond 2^24"});
}

TEST(Lookups, TakeSingleElements) {
  const Indices indices({4, 5});
  const Table wide = waves({4, 6, 5}, 0.9);
  Net net(indices.x().dims);
  const std::string row = net.op("Unsqueeze", {Indices::of(net), integer_table(net, {1}, {1})});
  net.op("GatherElements", {table_constant(net, wide), row});
  OnnxBuilder::attribute(net.last(), "axis", 1);
  expect_values(net, table_of({4, 1, 5}, [&](const List& at) {
                  return wide.at({at[0], indices.row({at[0], at[2]}), at[2]});
                }));
}

/// The numbers that a seed draws for an input are part of what is written.
TEST(Lookups, AreWrittenWithTheirTables) {
  OnnxBuilder b;
  b.input("ids", {2, 5}, proto::TensorProto::INT64);
  const Table words = waves({7, 4}, 0.7);
  b.floats("words", words.dims, words.values);
  b.node("Gather", {"words", "ids"}, "word");
  b.node("Relu", {"word"}, "y");
  b.output("y");
  const Model model = onnx::import_model(b.write());
  TemporaryFolder folder;
  const std::string file = (folder.path() / "written.onnx").string();
  SeededSource source(0);
  onnx::export_model(
      model, [&](const Layer& layer) { return values_of(source, model, layer); }, file,
      Existing::kRefuse);
  const Model read = onnx::import_model(file);
  EXPECT_EQ(layers_of_type(read, "Gather"), 1);
  EXPECT_EQ(layers_of_type(read, "Floor"), 0) << "ids are whole numbers";
  EXPECT_EQ(read.named_inputs()[0].below, 7);
  EXPECT_TRUE(read.named_inputs()[0].is_index);
  EXPECT_EQ(first_output(read), first_output(model));
}

/// Each text of a batch looks up its own words, so that devices may share the texts.
TEST(Lookups, TakeTheInputsOfABatchOneByOne) {
  OnnxBuilder b;
  b.input("ids", {2, 5}, proto::TensorProto::INT64);
  b.input("mask", {2, 5}, proto::TensorProto::INT64);
  const Table words = waves({7, 4}, 0.7);
  b.floats("words", words.dims, words.values);
  b.integers("axis", {2});
  b.node("Gather", {"words", "ids"}, "word");
  OnnxBuilder::attribute(b.node("Cast", {"mask"}, "weight"), "to",
                         std::int64_t{proto::TensorProto::FLOAT});
  b.node("Unsqueeze", {"weight", "axis"}, "wide");
  b.node("Mul", {"word", "wide"}, "y");
  b.output("y");
  const Model model = onnx::import_model(b.write());
  ASSERT_EQ(model.batch(), 2);
  EXPECT_NO_THROW(require_separate_inputs(model));
}

}  // namespace
}  // namespace hios::test
