#include "hios/graph/fusion/merge_siblings.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "hios/base/error.h"
#include "hios/graph/network.h"
#include "hios/model/channel_slice.h"
#include "hios/model/model_json.h"
#include "hios/model/networks/networks.h"

namespace hios {
namespace {

using LayerNames = std::vector<std::string>;

Conv pointwise_conv(std::int64_t channels) { return {channels, {1, 1}, {1, 1}, {0, 0}}; }

/// Sets as names of convolutions.
std::vector<LayerNames> sets_of(const Model& model) {
  std::vector<LayerNames> sets;
  for (const auto& set : sibling_sets(model)) {
    LayerNames& names = sets.emplace_back();
    for (const LayerId id : set) names.push_back(model.layer(id).name);
  }
  return sets;
}

LayerNames layers_of(const Model& model) {
  LayerNames names;
  for (const Layer& layer : model.layers()) names.push_back(layer.name);
  return names;
}

/// Two convolutions of one tensor, "a" and "b", each with a relu and read by a pool.
struct Pair {
  Conv a = pointwise_conv(3), b = pointwise_conv(5);
  LayerKind activation_a = Relu{}, activation_b = Relu{};
  std::string block_b = "block";

  ModelBuilder builder() const {
    ModelBuilder net("net", {2, 8, 6, 6});
    net.begin_block("block");
    const TensorId x = net.relu("x", net.input());
    const TensorId left = net.add("ra", activation_a, {net.conv("a", x, a)});
    net.begin_block(block_b);
    const TensorId right = net.add("rb", activation_b, {net.conv("b", x, b)});
    net.global_average_pool("pa", left);
    net.global_average_pool("pb", right);
    return net;
  }
  Model model() const { return builder().build(); }
};

TEST(SiblingSets, AreOfOneTensor) {
  EXPECT_EQ(sets_of(Pair().model()), (std::vector<LayerNames>{{"a", "b"}}));
}

TEST(SiblingSets, DifferInNothingButTheirChannels) {
  const std::map<std::string, std::function<void(Pair&)>> changes = {
      {"kernel",
       [](Pair& p) {
         p.b.kernel = {1, 3};
       }},
      {"both kernels",
       [](Pair& p) {
         p.a.kernel = p.b.kernel = {3, 3};
       }},
      {"stride",
       [](Pair& p) {
         p.b.stride = {2, 2};
       }},
      {"padding",
       [](Pair& p) {
         p.b.padding = {1, 1};
       }},
      {"dilation",
       [](Pair& p) {
         p.b.dilation = {2, 2};
       }},
      {"groups",
       [](Pair& p) {
         p.a = p.b = Conv{8, {1, 1}, {1, 1}, {0, 0}, 8};
       }},
      {"bias", [](Pair& p) { p.b.bias = false; }},
      {"activation", [](Pair& p) { p.activation_b = Unary{Unary::Function::kSilu}; }},
      {"no activation", [](Pair& p) { p.activation_b = Unary{Unary::Function::kNeg}; }},
      {"block", [](Pair& p) { p.block_b = "other"; }},
  };
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    Pair pair;
    change(pair);
    EXPECT_TRUE(sets_of(pair.model()).empty());
    EXPECT_EQ(to_json(merge_siblings(pair.model())), to_json(pair.model()));
  }
}

TEST(SiblingSets, HaveEqualActivationsOrNone) {
  Pair pair;
  pair.activation_a = pair.activation_b = Unary{Unary::Function::kLeakyRelu, 0.2f};
  EXPECT_EQ(sets_of(pair.model()).size(), 1u);
  pair.activation_b = Unary{Unary::Function::kLeakyRelu, 0.1f};
  EXPECT_TRUE(sets_of(pair.model()).empty());
  pair.activation_a = pair.activation_b = Unary{Unary::Function::kNeg};  // none of its own
  EXPECT_EQ(sets_of(pair.model()), (std::vector<LayerNames>{{"a", "b"}}));
}

TEST(SiblingSets, HoldNothingThatTheModelIsComputedFor) {
  for (const std::string output : {"a", "ra"}) {
    SCOPED_TRACE(output);
    ModelBuilder net = Pair().builder();
    const Model all = Pair().model();
    std::vector<TensorId> outputs(all.outputs().begin(), all.outputs().end());
    for (std::size_t t = 0; t < all.tensors().size(); ++t) {
      if (all.tensor(TensorId(t)).name == output) outputs.emplace_back(t);
    }
    EXPECT_TRUE(sets_of(std::move(net).build(outputs)).empty());
  }
}

TEST(SiblingSets, LeaveConvolutionsToTheSumsThatTheyTakeIn) {
  ModelBuilder net("net", {1, 8, 6, 6});
  const TensorId x = net.relu("x", net.input());
  const TensorId a = net.conv("a", x, pointwise_conv(8));
  net.conv("b", x, pointwise_conv(8));
  net.sum("sum", {x, a});
  EXPECT_TRUE(sets_of(std::move(net).build()).empty());
}

TEST(MergeSiblings, WritesSlicesBeforeTheirConsumers) {
  const Model model = Pair().model(), merged = merge_siblings(model);
  EXPECT_EQ(layers_of(merged), (LayerNames{"x", "a+b", "a+b/activation", "ra", "pa", "rb", "pb"}));
  const Layer &wide = merged.layer(LayerId(1)), &second = merged.layer(LayerId(5));
  EXPECT_EQ(std::get<Conv>(wide.kind), pointwise_conv(8));
  EXPECT_EQ(wide.merged, (std::vector<MergedConvolution>{{"a", 3}, {"b", 5}}));
  const Shape whole = merged.tensor(wide.output).shape;
  EXPECT_EQ(std::get<Move>(second.kind), channel_slice(whole, 3, 5));
  EXPECT_EQ(first_sliced_channel(std::get<Move>(second.kind), whole), 3);
  EXPECT_EQ(merged.tensor(second.output).shape, (Shape{2, 5, 6, 6}));
  EXPECT_EQ(merged.parameters(), model.parameters());
  EXPECT_EQ(merged.named_outputs()[1].name, "pb");
  EXPECT_EQ(layers_of(merge_siblings(merged)), layers_of(merged)) << "there is no more to merge";
}

TEST(MergeSiblings, FindsFreeNames) {
  ModelBuilder net("net", {1, 8, 6, 6});
  const TensorId x = net.relu("a+b", net.input());
  net.global_average_pool("pa", net.conv("a", x, pointwise_conv(4)));
  net.global_average_pool("pb", net.conv("b", x, pointwise_conv(4)));
  EXPECT_EQ(layers_of(merge_siblings(std::move(net).build())),
            (LayerNames{"a+b", "a+b+", "a", "pa", "b", "pb"}));
}

TEST(MergeSiblings, IsAChoiceOfTheNetwork) {
  const FusionRules siblings{.merge = Merge::kSiblings};
  const Network apart(Pair().model()), merged(Pair().model(), 4, siblings);
  EXPECT_EQ(apart.merge, Merge::kNone);
  EXPECT_EQ(merged.merge, Merge::kSiblings);
  EXPECT_NE(apart.digest(), merged.digest());
  LayerNames names;
  for (const Operator& op : merged.coarse.graph.operators()) names.push_back(op.name);
  EXPECT_EQ(names, (LayerNames{"relu_1", "conv_2", "move_3", "pool_4", "move_5", "pool_6"}));
}

/// How many operators a built-in network has, apart and merged, and how many sets.
struct Counted {
  std::string network;
  std::size_t apart, merged, sets;
};

class MergedNetworks : public testing::TestWithParam<Counted> {};

TEST_P(MergedNetworks, HaveThisManyOperators) {
  const auto& [name, apart, merged, sets] = GetParam();
  const Model model = load_model(name);
  EXPECT_EQ(sibling_sets(model).size(), sets);
  EXPECT_EQ(Network(model).coarse.graph.size(), apart);
  EXPECT_EQ(Network(model, 4, {.merge = Merge::kSiblings}).coarse.graph.size(), merged);
}

INSTANTIATE_TEST_SUITE_P(Each, MergedNetworks,
                         testing::Values(Counted{"inception_v3", 119, 120, 10},
                                         Counted{"squeezenet", 50, 54, 4},
                                         Counted{"randwire_large", 120, 120, 0},
                                         Counted{"nasnet_large", 374, 374, 0}),
                         [](const auto& counted) { return counted.param.network; });

/// Four convolutions of one tensor, "a" to "d".
Model four() {
  ModelBuilder net("net", {2, 8, 6, 6});
  const TensorId x = net.relu("x", net.input());
  for (const std::string name : {"a", "b", "c", "d"})
    net.global_average_pool("p" + name, net.conv(name, x, pointwise_conv(4)));
  return std::move(net).build();
}

LayerNames merged_by(const std::vector<std::vector<std::string>>& sets) {
  LayerNames names;
  for (const std::string& name : layers_of(merge_siblings(four(), {.sets = sets}))) {
    if (!name.starts_with("p") && name != "x") names.push_back(name);
  }
  return names;
}

TEST(MergeSiblings, MergesChosenSets) {
  EXPECT_EQ(merged_by({}), (LayerNames{"a", "b", "c", "d"}));
  EXPECT_EQ(merged_by({{"b", "d"}}), (LayerNames{"a", "b+d", "b", "c", "d"}));
  EXPECT_EQ(merged_by({{"d", "b"}}), merged_by({{"b", "d"}})) << "they are in the model's order";
  EXPECT_EQ(merged_by({{"c", "d"}, {"a", "b"}}), (LayerNames{"a+b", "a", "b", "c+d", "c", "d"}));
  const Network chosen(four(), 4, {.merge = {.sets = {{"b", "d"}}}});
  EXPECT_EQ(chosen.merge, (Merge{.sets = {{"b", "d"}}}));
  EXPECT_NE(chosen.coarse.graph.digest(), Network(four()).coarse.graph.digest());
}

TEST(MergeSiblings, RefusesChosenConvolutionsThatAreNoSiblings) {
  const auto refused = [](const std::vector<std::string>& set, const std::string& message) {
    try {
      merge_siblings(Pair{.block_b = "other"}.model(), {.sets = {set}});
      FAIL();
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), message);
    }
  };
  const std::string end = ", so they cannot be merged (docs/fusion.md)";
  refused({"a", "b"}, "model net: \"a\" is no sibling of \"b\"" + end);
  refused({"a", "e"}, "model net: \"a\" is no sibling of \"e\"" + end);
  EXPECT_THROW(merge_siblings(four(), {.sets = {{"a", "e"}}}), InputError);
}

TEST(Merge, IsGivenByName) {
  for (const Merge& merge : {Merge::kNone, Merge::kSiblings}) {
    EXPECT_EQ(load_merge(to_string(merge)), merge);
  }
  try {
    load_merge("all");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "merge all: neither none nor siblings, and no file (a file's name has a '.' or a "
                 "'/')");
  }
}

}  // namespace
}  // namespace hios
