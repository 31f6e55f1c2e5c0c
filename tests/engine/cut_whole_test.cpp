// The tensors and operators of a cut network next to those of its whole.
#include "hios/graph/cuts/whole_ranges.h"

#include <gtest/gtest.h>

#include <map>

#include "hios/graph/cuts/layer_range.h"
#include "hios/graph/fusion/whole_graph.h"
#include "support/networks/random_cuts.h"

namespace hios {
namespace {

TEST(WholeRanges, KnowShardsJoinsAndSlices) {
  ModelBuilder net("net", {1, 16, 12, 9});
  const TensorId a = net.conv("a", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId b = net.conv("b", a, {32, {3, 3}, {1, 1}, {1, 1}});
  net.conv("c", b, {16, {3, 3}, {1, 1}, {1, 1}});
  net.keep_layer_names();
  const Network cut =
      test::cut_network(std::move(net).build(), {{"a", {5}}, {"b", {16}, 0, Axis::kC}, {"c", {4}}});
  const Model& whole = *cut.model.whole();
  const std::vector<WholeRange> ranges = whole_ranges(cut.model);
  std::map<std::string, std::string> by_name;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    by_name[cut.model.tensor(TensorId(i)).name] =
        whole.tensor(ranges[i].tensor).name + " " + to_string(ranges[i].range);
  }
  EXPECT_EQ(by_name["input"], "input [0, 12)");
  EXPECT_EQ(by_name["a [0, 5)"], "a [0, 5)");
  EXPECT_EQ(by_name["a [5, 12)"], "a [5, 12)");
  EXPECT_EQ(by_name["a"], "a [0, 12)") << "joined";
  EXPECT_EQ(by_name["b channels [16, 32)"], "b channels [16, 32)");
  EXPECT_EQ(by_name["b"], "b channels [0, 32)") << "joined";
  EXPECT_EQ(by_name["b slice [3, 12)"], "b [3, 12)") << "what the second shard of c reads";
  EXPECT_EQ(by_name["input slice [0, 6)"], "input [0, 6)");
}

TEST(WholeRanges, HaveTheirShapesAndTheWholesGraph) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "whole ranges");
    const Model model = test::random_layers(12, random);
    const Cuts cuts = test::random_cuts(model, random);
    if (cuts.empty()) continue;
    const Network cut = test::cut_network(model, cuts);
    const std::vector<WholeRange> ranges = whole_ranges(cut.model);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Tensor& made = cut.model.tensor(TensorId(i));
      Shape shape = model.tensor(ranges[i].tensor).shape;
      const AxisRange& range = ranges[i].range;
      (range.axis == Axis::kC ? shape.c : shape.h) = range.count();
      EXPECT_EQ(made.shape, shape) << made.name;
    }
    EXPECT_EQ(whole_graph(cut.coarse, cut.model).graph.digest(),
              Network(model).coarse.graph.digest());
  }
}

TEST(WholeRanges, ValuesOfARangeLieInTheOrderOfMemory) {
  const Shape shape{2, 2, 3, 1};
  const std::vector<float> whole{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(values_in(whole, shape, {Axis::kH, 1, 3}),
            (std::vector<float>{2, 3, 4, 5, 12, 13, 14, 15}));
  EXPECT_EQ(values_in(whole, shape, {Axis::kC, 1, 2}), (std::vector<float>{1, 3, 5, 11, 13, 15}));
}

}  // namespace
}  // namespace hios
