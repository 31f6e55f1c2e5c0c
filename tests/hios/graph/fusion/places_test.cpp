// Moves and joins of rows that copy nothing: which are such, where tensors lie then, and which
// bytes each edge carries.
#include "hios/graph/fusion/places.h"

#include <gtest/gtest.h>

#include <map>

#include "hios/graph/network.h"

namespace hios {
namespace {

/// Returns "a", "b" and "c", 3x3 convolutions, each of which reads the one before, and a pool of
/// all.
Model three_convolutions(const Shape& input) {
  ModelBuilder net("three", input);
  const Conv same{input.c, {3, 3}, {1, 1}, {1, 1}};
  const TensorId a = net.conv("a", net.input(), same), b = net.conv("b", a, same);
  net.global_average_pool("mean", net.conv("c", b, same));
  net.keep_layer_names();
  return std::move(net).build();
}

CoarseGraph cut_graph(const Model& model, const Cuts& cuts) {
  FusionRules rules;
  rules.cuts = cuts;
  return Network(model, 4, rules).coarse;
}

/// Returns "from>to: begin-end" for each edge, in the graph's order.
std::vector<std::string> reads(const CoarseGraph& coarse, Bytes unit) {
  std::vector<std::string> lines;
  for (std::size_t e = 0; e < coarse.graph.edge_count(); ++e) {
    const Edge& edge = coarse.graph.edge(EdgeId(e));
    const ByteRange bytes = coarse.read_by(EdgeId(e));
    EXPECT_EQ(edge.size_bytes, bytes.size());
    lines.push_back(coarse.graph.op(edge.from).name + ">" + coarse.graph.op(edge.to).name + ": " +
                    std::to_string(bytes.begin / unit) + "-" + std::to_string(bytes.end / unit));
  }
  return lines;
}

std::size_t operators_named_like(const CoarseGraph& coarse, const std::string& text) {
  std::size_t count = 0;
  for (const Operator& op : coarse.graph.operators())
    count += op.name.find(text) != std::string::npos ? 1 : 0;
  return count;
}

constexpr Bytes kRow = 6 * 16 * 4;  ///< bytes of a row of six pixels and 16 channels

TEST(Places, ReadersOfNeighboursRowsReadThemWhereTheyLie) {
  const Model model = three_convolutions({1, 16, 9, 6});
  const CoarseGraph coarse = cut_graph(model, {{.op = "a", .at = {4}}, {.op = "b", .at = {5}}});
  EXPECT_EQ(reads(coarse, kRow),
            (std::vector<std::string>{"a [0, 4)>b [0, 5): 0-4", "a [4, 9)>b [0, 5): 0-2",
                                      "a [4, 9)>b [5, 9): 0-5", "b [0, 5)>c: 0-5",
                                      "b [5, 9)>c: 0-4", "c>mean: 0-9"}));
  const Graph& graph = coarse.graph;
  const OpId above = *graph.find("a [0, 4)"), below = *graph.find("a [4, 9)");
  EXPECT_EQ(coarse.place_of(above).region, coarse.place_of(below).region);
  EXPECT_EQ(coarse.place_of(below).begin - coarse.place_of(above).begin, 4 * kRow);
  const OpId reader = *graph.find("b [5, 9)");  // of rows from 4 on
  EXPECT_EQ(coarse.distance(below, coarse.layers(reader).inputs.front(), reader), 0);
  const OpId other = *graph.find("b [0, 5)");  // of rows from 0 to 6
  EXPECT_EQ(coarse.distance(above, coarse.layers(other).inputs.front(), other), 0);
  EXPECT_EQ(coarse.distance(below, coarse.layers(other).inputs.front(), other),
            -4 * static_cast<std::int64_t>(kRow));
}

TEST(Places, RowsThatAreComputedTwiceAreCopied) {
  const CoarseGraph coarse =
      cut_graph(three_convolutions({1, 16, 9, 6}), {{.op = "a", .at = {4}, .overlap = 1}});
  EXPECT_EQ(operators_named_like(coarse, "a"), 4u);  // two shards, their join, "mean"
  EXPECT_EQ(operators_named_like(coarse, "slice"), 0u);
}

TEST(Places, ShardsOfManyPicturesAndRowsWithinACacheLineAreCopied) {
  const Cuts cuts = {{.op = "a", .at = {4}}};
  EXPECT_EQ(cut_graph(three_convolutions({2, 16, 9, 6}), cuts).graph.size(), 8u);
  EXPECT_EQ(cut_graph(three_convolutions({1, 3, 9, 6}), cuts).graph.size(), 7u);
  EXPECT_EQ(cut_graph(three_convolutions({1, 16, 9, 6}), cuts).graph.size(), 5u);
}

TEST(Places, EveryByteThatIsReadHasOneWriter) {
  const CoarseGraph coarse =
      cut_graph(three_convolutions({1, 16, 9, 6}),
                {{.op = "a", .at = {2, 5}}, {.op = "b", .at = {3}}, {.op = "c", .at = {1, 7, 8}}});
  std::map<OpId, Bytes> read;
  for (const Edge& edge : coarse.graph.edges()) read[edge.to] += edge.size_bytes;
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    const OperatorLayers& op = coarse.layers(OpId(i));
    if (!coarse.producer(op.inputs.front())) continue;  // of the model's input
    EXPECT_EQ(read[OpId(i)], coarse.size_bytes(op.input_shapes.front()))
        << coarse.graph.op(OpId(i)).name;
  }
}

}  // namespace
}  // namespace hios
