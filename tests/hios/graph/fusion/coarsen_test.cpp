#include "hios/graph/fusion/coarsen.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/model/networks/block.h"

namespace hios {
namespace {

using models::same;

/// One operator as "name: layer layer …".
std::vector<std::string> operators_of(const Model& model) {
  const CoarseGraph coarse = coarsen(model);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    std::string text = coarse.graph.op(OpId(i)).name + ":";
    for (const LayerId id : coarse.layers(OpId(i)).layers) text += " " + model.layer(id).name;
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

/// A network under test: 8 channels, 6x6.
struct Net : ModelBuilder {
  Net() : ModelBuilder("net", {1, 8, 6, 6}) {}
  TensorId conv(const std::string& name, TensorId x) {
    return ModelBuilder::conv(name, x, same(8, {3, 3}));
  }
  TensorId depthwise(const std::string& name, TensorId x) {
    Conv layer = same(8, {3, 3});
    layer.groups = 8;
    return ModelBuilder::conv(name, x, layer);
  }
  TensorId pointwise(const std::string& name, TensorId x) {
    return ModelBuilder::conv(name, x, same(8, {1, 1}));
  }
  Texts operators() && { return operators_of(std::move(*this).build()); }
};

TEST(Coarsen, JoinsConvolutionAndRelu) {
  Net net;
  net.relu("r2", net.conv("c2", net.relu("r1", net.conv("c1", net.input()))));
  EXPECT_EQ(std::move(net).operators(), (Texts{"conv_1: c1 r1", "conv_2: c2 r2"}));
}

TEST(Coarsen, JoinsReluAndConvolutionOfPreActivatedChains) {
  Net net;
  TensorId x = net.input();
  for (const char* i : {"1", "2"}) {
    x = net.pointwise(std::string("p") + i,
                      net.depthwise(std::string("d") + i, net.relu(std::string("r") + i, x)));
  }
  net.conv("c", net.relu("r3", x));
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"sepconv_1: r1 d1 p1", "sepconv_2: r2 d2 p2", "conv_3: r3 c"}));
}

TEST(Coarsen, GivesASeparableConvolutionTheReluWithoutOtherConsumers) {
  Net net;
  net.relu("r2", net.pointwise("p", net.depthwise("d", net.relu("r1", net.input()))));
  EXPECT_EQ(std::move(net).operators(), (Texts{"sepconv_1: r1 d p r2"}));
}

TEST(Coarsen, GivesADepthwiseThePointwiseAfterItsActivation) {
  Net net;
  const TensorId a = net.pointwise("p1", net.relu("r1", net.depthwise("d1", net.input())));
  const TensorId b = net.pointwise("p2", net.depthwise("d2", a));
  const TensorId sum = net.sum("s", {a, b});
  const TensorId twice = net.relu("r2", net.depthwise("d3", sum));  // two read it
  net.sum("last", {net.pointwise("p3", twice), twice});
  EXPECT_EQ(std::move(net).operators(), (Texts{"sepconv_1: d1 r1 p1", "sepconv_2: d2 p2 s",
                                               "conv_3: d3 r2", "conv_4: p3 last"}));
}

TEST(Coarsen, KeepsADepthwiseOfARareWindowApart) {
  const auto operators = [](Extent kernel, Extent stride) {
    ModelBuilder net("net", {1, 8, 9, 9});
    const Padding same{kernel.h / 2, kernel.w / 2};
    net.conv("b", net.conv("a", net.input(), {8, kernel, stride, same, 8}),
             {8, {1, 1}, {1, 1}, {0, 0}});
    return operators_of(std::move(net).build()).size();
  };
  EXPECT_EQ(operators({5, 5}, {2, 2}), 1u);
  EXPECT_EQ(operators({7, 7}, {1, 1}), 1u);
  EXPECT_EQ(operators({3, 5}, {1, 1}), 2u);
  EXPECT_EQ(operators({9, 9}, {1, 1}), 2u);
  EXPECT_EQ(operators({3, 3}, {2, 1}), 2u);
  EXPECT_EQ(operators({3, 3}, {3, 3}), 2u);
}

TEST(Coarsen, KeepsADepthwiseWithoutPointwiseAsAConvolution) {
  Net net;
  net.conv("c", net.depthwise("d", net.relu("r", net.input())));
  EXPECT_EQ(std::move(net).operators(), (Texts{"conv_1: r d", "conv_2: c"}));
}

TEST(Coarsen, TakesOnlyATrueSeparableConvolution) {
  const Conv depthwise{8, {3, 3}, {1, 1}, {1, 1}, 8, false};
  const Conv pointwise{8, {1, 1}, {1, 1}, {0, 0}, 1, true};
  const auto operators = [](const Conv& first, const Conv& second, std::int64_t channels = 8) {
    ModelBuilder net("net", {1, channels, 6, 6});
    net.conv("b", net.conv("a", net.relu("r", net.input()), first), second);
    return operators_of(std::move(net).build());
  };
  EXPECT_EQ(operators(depthwise, pointwise), (Texts{"sepconv_1: r a b"}));

  const Texts two{"conv_1: r a", "conv_2: b"};
  Conv grouped = depthwise, multiplied = depthwise, single = depthwise;
  grouped.groups = 4;
  EXPECT_EQ(operators(grouped, pointwise), two);
  multiplied.out_channels = 16;
  EXPECT_EQ(operators(multiplied, pointwise), two);
  single.out_channels = single.groups = 1;
  EXPECT_EQ(operators(single, pointwise, 1), two) << "one channel is a plain convolution";

  Conv wide = pointwise, strided = pointwise, padded = pointwise, shuffled = pointwise;
  wide.kernel = {1, 3};
  strided.stride = {1, 2};
  padded.padding = {1, 0};
  shuffled.groups = 2;
  for (const Conv& second : {wide, strided, padded, shuffled}) {
    EXPECT_EQ(operators(depthwise, second), two) << attributes_text(second);
  }
}

TEST(Coarsen, TakesTheSumBeforeAConvolution) {
  Net net;
  const TensorId a = net.pool("a", net.input(), {Pool::Kind::kMax, {1, 1}, {1, 1}, {0, 0}});
  net.relu("r1", net.conv("c1", net.sum("s1", {a, net.input()})));
  net.conv("c2", net.relu("r2", net.sum("s2", {a, a, net.input()})));
  net.pointwise("p", net.depthwise("d", net.relu("r3", net.sum("s3", {a}))));
  net.relu("r4", net.sum("s4", {a, a}));
  EXPECT_EQ(std::move(net).operators(), (Texts{"pool_1: a", "conv_2: s1 c1 r1", "conv_3: s2 r2 c2",
                                               "sepconv_4: s3 r3 d p", "sum_5: s4", "relu_6: r4"}));
}

TEST(Coarsen, GivesASumOfTwoToTheConvolutionThatComesLast) {
  Net net;
  const TensorId x = net.relu("x", net.input());
  const TensorId y = net.relu("r", net.sum("s", {net.conv("left", x), net.conv("right", x)}));
  net.sum("t", {y, net.conv("last", net.conv("before", y))});
  EXPECT_EQ(std::move(net).operators(), (Texts{"relu_1: x", "conv_2: left", "conv_3: right s r",
                                               "conv_4: before", "conv_5: last t"}));
}

TEST(Coarsen, LeavesASumAloneThatAConvolutionCannotAdd) {
  Net net;
  const TensorId x = net.relu("x", net.input());
  net.sum("later",
          {net.conv("a", x), net.pool("p", x, {Pool::Kind::kMax, {1, 1}, {1, 1}, {0, 0}})});
  net.sum("three", {x, x, net.conv("b", x)});
  const TensorId c = net.conv("c", x);
  net.sum("itself", {c, c});
  net.sum("read", {x, net.sum("shared", {c, x})});
  net.sum("after", {x, net.conv("d", net.relu("r", x))});
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"relu_1: x", "conv_2: a", "pool_3: p", "sum_4: later", "conv_5: b",
                   "sum_6: three", "conv_7: c", "sum_8: itself", "sum_9: shared", "sum_10: read",
                   "conv_11: r d", "sum_12: after"}));
}

TEST(Coarsen, GivesAConvolutionTheActivationAfterIt) {
  Net net;
  const Unary silu{Unary::Function::kSilu}, root{Unary::Function::kSqrt};
  const TensorId x = net.add("u", silu, {net.conv("c", net.input())});
  const TensorId y = net.add("v", silu, {net.sum("s", {x, net.conv("d", x)})});
  net.add("w", root, {net.conv("e", y)});
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"conv_1: c u", "conv_2: d s v", "conv_3: e", "sqrt_4: w"}));
}

TEST(Coarsen, LeavesASumThatOthersReadAlone) {
  Net net;
  const TensorId sum = net.sum("s", {net.input(), net.input()});
  net.conv("c1", sum);
  net.conv("c2", sum);
  const TensorId last = net.sum("last", {sum, sum});
  net.global_average_pool("g", last);
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"sum_1: s", "conv_2: c1", "conv_3: c2", "sum_4: last", "pool_5: g"}));
}

TEST(Coarsen, JoinsTheSumsDirectlyBeforeAConcat) {
  Net net;
  const TensorId x = net.input();
  const TensorId early = net.sum("early", {x, x});
  const TensorId pooled = net.pool("pool", x, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  const TensorId a = net.sum("a", {x, pooled});
  const TensorId b = net.sum("b", {pooled, pooled});
  net.concat("out", {early, a, x, b});
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"sum_1: early", "pool_2: pool", "concat_3: a b out"}));
}

TEST(Coarsen, LeavesASumThatAConvolutionHasTakenOutOfItsConcat) {
  Net net;
  const TensorId x = net.relu("x", net.input());
  const TensorId c = net.conv("c", x);
  const TensorId a = net.sum("a", {x, x});
  const TensorId b = net.sum("b", {c, x});
  net.concat("out", {a, b});
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"relu_1: x", "sum_2: a", "conv_3: c b", "concat_4: out"}));
}

TEST(Coarsen, DoesNotJoinASumWithConsumersNextToItsConcat) {
  Net net;
  const TensorId x = net.input();
  const TensorId a = net.sum("a", {x, x});
  const TensorId b = net.sum("b", {a, x});
  const TensorId c = net.sum("c", {x, x});
  net.concat("out", {a, b, c, c});
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"sum_1: a", "sum_2: b", "sum_3: c", "concat_4: out"}));
}

TEST(Coarsen, NeverSwallowsALayerThatOthersRead) {
  Net net;
  const TensorId conv = net.conv("c1", net.input());
  const TensorId relu = net.relu("r", conv);
  net.sum("s", {conv, relu});
  const TensorId shared = net.relu("shared", net.input());
  net.conv("c2", shared);
  net.conv("c3", shared);
  const TensorId depth = net.depthwise("d", net.relu("r2", net.input()));
  net.pointwise("p", depth);
  net.relu("r3", depth);
  EXPECT_EQ(std::move(net).operators(),
            (Texts{"conv_1: c1", "relu_2: r", "sum_3: s", "relu_4: shared", "conv_5: c2",
                   "conv_6: c3", "conv_7: r2 d", "conv_8: p", "relu_9: r3"}));
}

TEST(Coarsen, NeverSpansTwoBlocks) {
  Net net;
  net.begin_block("one");
  const TensorId sum = net.sum("s", {net.input(), net.input()});
  net.begin_block("two");
  const TensorId conv = net.conv("c", sum);
  net.begin_block("three");
  net.relu("r", conv);
  const CoarseGraph coarse = coarsen(std::move(net).build());
  ASSERT_EQ(coarse.graph.size(), 3u);
  EXPECT_EQ(coarse.graph.op(OpId(0)).block, "one");
  EXPECT_EQ(coarse.graph.op(OpId(1)).block, "two");
  EXPECT_EQ(coarse.graph.op(OpId(2)).block, "three");
}

TEST(Coarsen, OrdersByLastLayersWhereChainsInterleave) {
  Net net;
  const TensorId a = net.conv("a", net.input());
  const TensorId b = net.conv("b", net.input());
  net.relu("rb", b);
  net.relu("ra", a);
  const Model model = std::move(net).build();
  EXPECT_EQ(operators_of(model), (Texts{"conv_1: b rb", "conv_2: a ra"}));
}

TEST(Coarsen, KnowsBordersEdgesAndBytes) {
  Net net;
  const TensorId x = net.input();
  const TensorId a = net.relu("ra", net.conv("ca", x));
  const TensorId s = net.sum("s", {a, x, a});
  net.concat("out", {s, a});
  const Model model = std::move(net).build();
  const CoarseGraph coarse = coarsen(model);
  ASSERT_EQ(coarse.graph.size(), 2u);
  const OperatorLayers& out = coarse.layers(OpId(1));
  EXPECT_EQ(out.inputs, (std::vector{a, x, a, a}));
  EXPECT_EQ(out.output, model.layer(LayerId(3)).output);
  ASSERT_EQ(coarse.graph.edge_count(), 3u);
  for (const Edge& edge : coarse.graph.edges()) {
    EXPECT_EQ(edge.from, OpId(0));
    EXPECT_EQ(edge.to, OpId(1));
    EXPECT_EQ(edge.size_bytes, 4u * 8 * 6 * 6);
    EXPECT_EQ(edge.transfer_ms, std::nullopt);
  }
  EXPECT_EQ(coarse.producer(x), std::nullopt);
  EXPECT_EQ(coarse.producer(a), OpId(0));
  EXPECT_EQ(coarse.producer(s), OpId(1));
  EXPECT_EQ(coarse.graph.op(OpId(0)).parameter_bytes, 4u * (8 * 8 * 9 + 8));
  EXPECT_EQ(coarse.graph.op(OpId(1)).parameter_bytes, 0u);
  EXPECT_EQ(coarse.graph.op(OpId(1)).memory_bytes, 4u * 16 * 6 * 6);
  EXPECT_FALSE(coarse.graph.op(OpId(0)).has_time);
}

/// The signature of the last operator of a network over an 8-channel input of `shape`.
template <class Build>
std::string signature(Build&& build, const Shape& shape = {1, 8, 6, 6}) {
  ModelBuilder builder("net", shape);
  build(builder);
  const CoarseGraph coarse = coarsen(std::move(builder).build());
  return coarse.graph.operators().back().signature;
}

TEST(Coarsen, GivesEqualOperatorsEqualSignatures) {
  const auto conv = [](const std::string& name) {
    return [name](ModelBuilder& net) { net.conv(name, net.input(), same(8, {3, 3})); };
  };
  EXPECT_EQ(signature(conv("a")), signature(conv("b")));
  EXPECT_EQ(signature(conv("a")), "1x8x6x6 > Conv 8 k3x3 s1x1 p1x1 g1 b > 1x8x6x6");
  EXPECT_EQ(signature([](ModelBuilder& net) {
              const TensorId x = net.input();
              const TensorId s = net.sum("s", {x, x});
              net.concat("c", {x, s});
            }),
            "3*1x8x6x6 > Sum 2 > Concat is > 1x16x6x6");
}

/// The signatures of a convolution with a ReLU after it, and of those that differ in one value.
std::vector<std::string> signatures_of_convolutions() {
  const auto conv = [](auto change) {
    return [change](ModelBuilder& net) {
      Conv layer = same(8, {3, 3});
      change(layer);
      net.relu("r", net.conv("c", net.input(), layer));
    };
  };
  const auto plain = conv([](Conv&) {});
  return {
      signature(plain),
      signature(plain, {2, 8, 6, 6}),
      signature(plain, {1, 8, 6, 7}),
      signature(plain, {1, 8, 7, 6}),
      signature(plain, {1, 16, 6, 6}),
      signature(conv([](Conv& c) { c.out_channels = 16; })),
      signature(conv([](Conv& c) {
        c.kernel = {1, 3}, c.padding = {0, 1};
      })),
      signature(conv([](Conv& c) {
        c.kernel = {3, 1}, c.padding = {1, 0};
      })),
      signature(conv([](Conv& c) {
        c.stride = {2, 1};
      })),
      signature(conv([](Conv& c) {
        c.stride = {1, 2};
      })),
      signature(conv([](Conv& c) {
        c.padding = {0, 1};
      })),
      signature(conv([](Conv& c) { c.groups = 2; })),
      signature(conv([](Conv& c) { c.bias = false; })),
  };
}

/// The signatures of operators that differ in their layers or in the order of their tensors.
std::vector<std::string> signatures_of_joined_layers() {
  return {
      signature([](ModelBuilder& net) {
        net.conv("c", net.input(), same(8, {3, 3}));
      }),
      signature([](ModelBuilder& net) {
        net.conv("c", net.relu("r", net.input()), same(8, {3, 3}));
      }),
      signature([](ModelBuilder& net) { net.relu("r", net.input()); }),
      signature([](ModelBuilder& net) {
        net.sum("s", {net.input(), net.input()});
      }),
      signature([](ModelBuilder& net) {
        const TensorId x = net.input();
        const TensorId a = net.sum("a", {x, x, x});
        const TensorId b = net.sum("b", {x});
        net.concat("c", {a, b});
      }),
      signature([](ModelBuilder& net) {
        const TensorId x = net.input();
        const TensorId a = net.sum("a", {x, x});
        const TensorId b = net.sum("b", {x, x});
        net.concat("c", {a, b});
      }),
      signature([](ModelBuilder& net) {
        const TensorId x = net.input();
        const TensorId a = net.sum("a", {x, x, x});
        net.concat("c", {a, x});
      }),
      signature([](ModelBuilder& net) {
        const TensorId x = net.input();
        const TensorId a = net.sum("a", {x, x, x});
        net.concat("c", {x, a});
      }),
  };
}

TEST(Coarsen, GivesDifferentOperatorsDifferentSignatures) {
  std::vector<std::string> signatures = signatures_of_convolutions();
  std::ranges::copy(signatures_of_joined_layers(), std::back_inserter(signatures));
  EXPECT_EQ(std::set<std::string>(signatures.begin(), signatures.end()).size(), signatures.size());
}

}  // namespace
}  // namespace hios
