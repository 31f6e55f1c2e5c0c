#include "hios/graph/fusion/fusion_rules.h"
#include "hios/base/json/json_parse.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/layer_types.h"
#include "hios/model/networks/block.h"
#include "hios/model/networks/networks.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

using models::same;
using Texts = std::vector<std::string>;
using Rules = std::vector<std::vector<std::string>>;

/// 8 channels, 6x6.
struct ScaledNet : ModelBuilder {
  ScaledNet() : ModelBuilder("net", {1, 8, 6, 6}) {}
  TensorId conv(const std::string& name, TensorId x) {
    return ModelBuilder::conv(name, x, same(8, {3, 3}));
  }
  /// A normalization of a model that was not folded.
  TensorId scale(const std::string& name, TensorId x) {
    Conv layer = same(8, {1, 1});
    layer.groups = 8;
    return ModelBuilder::conv(name, x, layer);
  }
};

/// The layers of each operator.
Texts operators(const Model& model, const FusionRules& fusion) {
  const CoarseGraph coarse = coarsen(model, 4, fusion);
  Texts texts;
  for (const OperatorLayers& op : coarse.operators) {
    std::string text;
    for (const LayerId id : op.layers) text += (text.empty() ? "" : " ") + model.layer(id).name;
    texts.push_back(text);
  }
  return texts;
}

FusionRules listed(Rules rules) { return {FusionRules::Kind::kListed, std::move(rules)}; }

/// MOIRAI, Table I.
FusionRules paper_rules() {
  return listed({{"Conv", "BatchNormalization"},
                 {"Conv", "BatchNormalization", "Relu"},
                 {"Conv", "BatchNormalization", "Add", "Relu"}});
}

// The graph of Fig. 7 by the text: an add with two consumers; the upper branch has three
// pairs of add and relu, the lower two of conv and bn, and they meet in the third add.
TEST(FusionRules, FollowFigure7OfThePaper) {
  ScaledNet net;
  const TensorId add1 = net.sum("add1", {net.input(), net.input()});
  const TensorId relu1 = net.relu("relu1", add1);
  const TensorId relu2 = net.relu("relu2", net.sum("add2", {relu1, net.input()}));
  const TensorId bn1 = net.scale("bn1", net.conv("conv1", add1));
  const TensorId bn2 = net.scale("bn2", net.conv("conv2", bn1));
  net.relu("relu3", net.sum("add3", {relu2, bn2}));
  EXPECT_EQ(operators(std::move(net).build(), paper_rules()),
            (Texts{"add1", "relu1", "add2", "relu2", "conv1 bn1", "conv2 bn2 add3 relu3"}));
}

TEST(FusionRules, MatchAcrossFoldedNormalizations) {
  ScaledNet net;
  TensorId x = net.conv("c1", net.input());
  x = net.sum("s", {net.relu("r1", x), net.conv("c2", x)});
  net.relu("r2", x);
  // c1 has two consumers; c2's sum and relu follow it as in the paper's third rule.
  EXPECT_EQ(operators(std::move(net).build(), paper_rules()), (Texts{"c1", "r1", "c2 s r2"}));
}

TEST(FusionRules, TheLongestWinsWhereverItIsListed) {
  ScaledNet net;
  net.relu("r2", net.conv("c", net.relu("r1", net.input())));
  const Model model = std::move(net).build();
  EXPECT_EQ(operators(model, listed({{"Relu", "Conv"}, {"Conv", "Relu"}})), (Texts{"r1 c", "r2"}));
  EXPECT_EQ(operators(model, listed({{"Conv", "Relu"}, {"Relu", "Conv"}})), (Texts{"r1", "c r2"}));
  EXPECT_EQ(operators(model, listed({{"Conv", "Relu"}, {"Relu", "Conv", "Relu"}})),
            (Texts{"r1 c r2"}));
}

TEST(FusionRules, AnIncompleteMatchJoinsNothing) {
  ScaledNet net;
  net.conv("c2", net.relu("r", net.conv("c1", net.input())));
  const Model model = std::move(net).build();
  EXPECT_EQ(operators(model, listed({{"Conv", "Relu", "Relu", "Conv"}})), (Texts{"c1", "r", "c2"}));
  EXPECT_EQ(operators(model, listed({{"Conv", "Relu", "MaxPool"}, {"Conv", "Relu"}})),
            (Texts{"c1 r", "c2"}));
}

// Joining c and s would make s wait for itself through p: c has two consumers.
TEST(FusionRules, AreSafeWhereATensorHasTwoConsumersOrIsAnOutput) {
  ScaledNet net;
  const TensorId c = net.conv("c", net.input());
  net.sum("s", {c, net.relu("p", c)});
  EXPECT_EQ(operators(std::move(net).build(), listed({{"Conv", "Sum"}})), (Texts{"c", "p", "s"}));

  ScaledNet twice;  // one consumer, which reads it twice
  const TensorId once = twice.conv("c", twice.input());
  twice.sum("s", {once, once});
  EXPECT_EQ(operators(std::move(twice).build(), listed({{"Conv", "Sum"}})), (Texts{"c", "s"}));

  ScaledNet output;
  const TensorId wanted = output.conv("c", output.input());
  const TensorId last = output.relu("r", wanted);
  EXPECT_EQ(operators(std::move(output).build({wanted, last}), listed({{"Conv", "Relu"}})),
            (Texts{"c", "r"}));
}

TEST(FusionRules, StayWithinABlock) {
  ScaledNet net;
  net.begin_block("a");
  const TensorId c = net.conv("c", net.input());
  net.begin_block("b");
  net.relu("r", c);
  EXPECT_EQ(operators(std::move(net).build(), listed({{"Conv", "Relu"}})), (Texts{"c", "r"}));
}

TEST(FusionRules, NoneIsOneLayerAnOperator) {
  for (const models::Entry& entry : models::all()) {
    SCOPED_TRACE(entry.name);
    const Model model = entry.build(1, entry.default_size, entry.default_size);
    const CoarseGraph coarse = coarsen(model, 4, {FusionRules::Kind::kNone});
    EXPECT_EQ(coarse.graph.size(), model.layers().size());
    EXPECT_NE(coarse.graph.digest(), coarsen(model).graph.digest());
  }
}

TEST(FusionRules, WordsAndFiles) {
  EXPECT_EQ(load_fusion("default"), FusionRules{});
  EXPECT_EQ(load_fusion("none"), FusionRules{FusionRules::Kind::kNone});
  const test::TemporaryFolder folder;
  const auto file = folder.put("rules.json", to_json(paper_rules()).dump());
  EXPECT_EQ(load_fusion(file.string()), paper_rules());
  test::expect_error([] { load_fusion("all"); }, {"fusion all", "neither default nor none"});
  test::expect_error([&] { load_fusion((folder / "missing.json").string()); }, {"missing.json"});
}

TEST(FusionRules, MistakesAreNamedByPath) {
  const auto expect_refused = [](const std::string& rules, const std::string& part) {
    const Json json =
        parse_json(R"({"format": "hios-fusion", "version": 1, "rules": )" + rules + "}", "f.json");
    test::expect_error([&] { fusion_from_json(JsonView(json, "f.json")); }, {"f.json: " + part});
  };
  const auto many_times = [](const std::string& text, int times) {
    std::string list = "[" + text;
    for (int i = 1; i < times; ++i) list += ", " + text;
    return list + "]";
  };
  expect_refused("[]", "$.rules: needs at least one rule");
  expect_refused(R"([["Conv", "Relu"], []])", "$.rules[1]: joins nothing");
  expect_refused(R"([["Conv"]])", "$.rules[0]: joins nothing");
  expect_refused(R"([["Conv", "relu6"]])",
                 "$.rules[0][1]: no layer is of type \"relu6\"; the nearest is \"Relu\"");
  expect_refused(R"([["Conv", "Rleu"]])",
                 "$.rules[0][1]: no layer is of type \"Rleu\"; the nearest is ");
  expect_refused(R"([["conv", "Relu"]])",
                 "$.rules[0][0]: no layer is of type \"conv\"; the nearest is \"Conv\"");
  expect_refused(R"([["Conv", "MaxPol"]])",
                 "$.rules[0][1]: no layer is of type \"MaxPol\"; the nearest is \"MaxPool\"");
  expect_refused(R"([["Conv", 3]])", "$.rules[0][1]: must be a string, not 3");
  expect_refused(R"([["Relu", "Relu"]])", "$.rules[0][1]: Relu directly after Relu does nothing");
  expect_refused(R"([["Conv", "Relu"], ["Relu", "Conv"], ["Conv", "Relu"]])",
                 "$.rules[2]: is the same rule as $.rules[0]");
  expect_refused(many_times(R"(["Conv", "Relu"])", 257), "$.rules: has 257 rules; at most 256");
  expect_refused("[" + many_times("\"Conv\"", 33) + "]", "$.rules[0]: has 33 types; at most 32");
}

TEST(LayerTypes, AreThoseOfEveryKind) {
  const auto& types = layer_types();
  EXPECT_TRUE(std::ranges::is_sorted(types));
  const std::vector<LayerKind> kinds = {Conv{},
                                        Pool{},
                                        Pool{Pool::Kind::kAverage, {}, {}, {}},
                                        GlobalAveragePool{},
                                        Relu{},
                                        Sum{},
                                        Concat{},
                                        ConvTranspose{},
                                        Unary{},
                                        Binary{},
                                        Softmax{},
                                        Reduce{},
                                        Normalization{},
                                        LocalResponseNormalization{},
                                        Resize{},
                                        Pad{},
                                        Move{},
                                        MatMul{},
                                        Gather{},
                                        TopK{}};
  std::vector<bool> seen(std::variant_size_v<LayerKind>, false);
  for (const LayerKind& kind : kinds) {
    seen[kind.index()] = true;
    EXPECT_TRUE(std::ranges::binary_search(types, onnx_type(kind))) << onnx_type(kind);
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](bool is) { return is; })) << "a new kind of layer";
}

}  // namespace
}  // namespace hios
