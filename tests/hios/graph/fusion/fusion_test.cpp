#include "hios/graph/fusion/fusion.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hios/graph/fusion/coarsen.h"

namespace hios {
namespace {

constexpr std::int64_t kChannels = 8;

Conv dense(Extent kernel, Extent stride, Extent padding) {
  return {kChannels, kernel, stride, padding};
}
Conv depthwise() { return {kChannels, {3, 3}, {1, 1}, {1, 1}, kChannels}; }
Conv pointwise(Extent stride = {1, 1}) { return dense({1, 1}, stride, {0, 0}); }

ModelBuilder network() { return {"net", {1, kChannels, 6, 6}}; }

/// All layers of the model as one operator.
OperatorLayers whole(const Model& model) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < model.layers().size(); ++i) layers.emplace_back(i);
  return fuse(model, std::move(layers));
}

std::vector<InputIndex> inputs(std::initializer_list<std::size_t> indices) {
  std::vector<InputIndex> result;
  for (const std::size_t index : indices) result.emplace_back(index);
  return result;
}

TEST(Fusion, AChainNamesItsTermsAndConvolutions) {
  ModelBuilder net = network();
  const TensorId x = net.input();
  TensorId y = net.relu("before", net.sum("sum", {x, x, x}));
  y = net.conv("pointwise", net.conv("depthwise", y, depthwise()), pointwise());
  net.relu("after", y);
  const Model model = std::move(net).build();
  const ConvolutionChain expected{.terms = inputs({0, 1, 2}),
                                  .relu_before = true,
                                  .depthwise = LayerId(2),
                                  .convolution = LayerId(3),
                                  .activation = LayerId(4)};
  EXPECT_EQ(std::get<ConvolutionChain>(whole(model).form), expected);
  EXPECT_EQ(whole(model).inputs, (std::vector{x, x, x}));
}

TEST(Fusion, AChainNamesTheActivationBetweenItsConvolutions) {
  ModelBuilder net = network();
  const TensorId y = net.add("between", Unary{Unary::Function::kClip, 0, 6},
                             {net.conv("depthwise", net.input(), depthwise())});
  net.relu("after", net.conv("pointwise", y, pointwise()));
  const ConvolutionChain expected{.terms = inputs({0}),
                                  .depthwise = LayerId(0),
                                  .between = LayerId(1),
                                  .convolution = LayerId(2),
                                  .activation = LayerId(3)};
  EXPECT_EQ(std::get<ConvolutionChain>(whole(std::move(net).build()).form), expected);
}

TEST(Fusion, AChainNamesItsAddendAndActivation) {
  for (const bool first : {false, true}) {
    ModelBuilder net = network();
    const TensorId x = net.input();
    const TensorId y = net.conv("conv", x, pointwise());
    const TensorId sum = first ? net.sum("sum", {y, x}) : net.sum("sum", {x, y});
    net.add("after", Unary{Unary::Function::kSilu}, {sum});
    const Model model = std::move(net).build();
    const ConvolutionChain expected{.terms = inputs({0}),
                                    .convolution = LayerId(0),
                                    .addend = InputIndex(1),
                                    .activation = LayerId(2)};
    EXPECT_EQ(std::get<ConvolutionChain>(whole(model).form), expected);
    EXPECT_EQ(whole(model).inputs, (std::vector{x, x}));
    const std::vector<Part> parts = parts_of(model, whole(model));
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[1].operands.at(first ? 0 : 1), (Operand{true, 0}));
  }
}

TEST(Fusion, AChainNamesItsGate) {
  for (const bool first : {false, true}) {
    ModelBuilder net = network();
    const TensorId x = net.input();
    const TensorId gate = net.add("mean", GlobalAveragePool{}, {x});
    const std::vector<TensorId> factors = first ? std::vector{gate, x} : std::vector{x, gate};
    const TensorId scaled = net.add("scaled", Binary{Binary::Function::kMul, {}, false}, factors);
    net.sum("sum", {x, net.conv("conv", scaled, pointwise())});
    const Model model = std::move(net).build();
    EXPECT_EQ(gate_of(model.layer(LayerId(1))), first ? 0u : 1u);
    const CoarseGraph coarse = coarsen(model);
    ASSERT_EQ(coarse.graph.size(), 2u);
    const ConvolutionChain expected{.terms = inputs({first ? 1u : 0u}),
                                    .gate = InputIndex(first ? 0 : 1),
                                    .convolution = LayerId(2),
                                    .addend = InputIndex(2)};
    EXPECT_EQ(std::get<ConvolutionChain>(coarse.layers(OpId(1)).form), expected);
  }
}

TEST(Fusion, AProductIsNoGateBeforeAWindowNorOfOnePixel) {
  ModelBuilder net = network();
  const TensorId gate = net.add("mean", GlobalAveragePool{}, {net.input()});
  const TensorId scaled =
      net.add("scaled", Binary{Binary::Function::kMul, {}, false}, {net.input(), gate});
  const TensorId squared =
      net.add("squared", Binary{Binary::Function::kMul, {}, false}, {gate, gate});
  net.conv("window", scaled, dense({3, 3}, {1, 1}, {1, 1}));
  net.conv("pointwise", squared, pointwise());
  const Model model = std::move(net).build();
  EXPECT_FALSE(gate_of(model.layer(LayerId(2))));
  EXPECT_EQ(coarsen(model).graph.size(), 5u);
}

TEST(Fusion, ASumOfWhatWasMadeTwiceIsNoAddend) {
  ModelBuilder net = network();
  const TensorId y = net.conv("conv", net.input(), pointwise());
  net.sum("sum", {y, y});
  EXPECT_EQ(whole(std::move(net).build()).form, Form(LayeredForm{}));
}

TEST(Fusion, ADepthwiseConvolutionAloneIsTheConvolution) {
  ModelBuilder net = network();
  net.conv("depthwise", net.input(), depthwise());
  const ConvolutionChain expected{.terms = inputs({0}), .convolution = LayerId(0)};
  EXPECT_EQ(std::get<ConvolutionChain>(whole(std::move(net).build()).form), expected);
}

TEST(Fusion, APointwiseConvolutionThatSkipsPixelsFusesWithNothing) {
  ModelBuilder net = network();
  const TensorId y = net.conv("depthwise", net.relu("relu", net.input()), depthwise());
  net.conv("pointwise", y, pointwise({2, 2}));
  const Model model = std::move(net).build();
  const Layer& second = model.layer(LayerId(2));
  EXPECT_TRUE(is_pointwise(second));
  EXPECT_FALSE(is_separable(model.layer(LayerId(1)), second));
  EXPECT_EQ(whole(model).form, Form(LayeredForm{}));
  EXPECT_EQ(coarsen(model).graph.size(), 2u) << "coarsen fuses what is_separable says";
}

TEST(Fusion, PointwiseAndDepthwiseAreDecidedByAttributes) {
  ModelBuilder net = network();
  net.conv("pointwise", net.input(), pointwise({3, 3}));
  net.conv("padded", net.input(), dense({1, 1}, {1, 1}, {1, 1}));
  net.conv("large", net.input(), dense({1, 3}, {1, 1}, {0, 1}));
  net.conv("depthwise", net.input(), depthwise());
  Conv twice = depthwise();
  twice.out_channels = 2 * kChannels;
  net.conv("two_filters_a_channel", net.input(), twice);
  net.relu("relu", net.input());
  const Model model = std::move(net).build();
  std::vector<std::string> pointwise, depthwise;
  for (const Layer& layer : model.layers()) {
    if (is_pointwise(layer)) pointwise.push_back(layer.name);
    if (is_depthwise(layer)) depthwise.push_back(layer.name);
  }
  EXPECT_EQ(pointwise, std::vector<std::string>{"pointwise"});
  EXPECT_EQ(depthwise, std::vector<std::string>{"depthwise"});
}

TEST(Fusion, AConcatOfSumsHasARangeForEachOfItsInputs) {
  ModelBuilder net = network();
  const TensorId x = net.input();
  const TensorId a = net.conv("a", x, pointwise());
  const TensorId first = net.sum("first", {x, a});
  const TensorId second = net.sum("second", {a, a});
  net.concat("concat", {second, x, first});
  const Model model = std::move(net).build();
  const OperatorLayers op = fuse(model, {LayerId(1), LayerId(2), LayerId(3)});
  EXPECT_EQ(op.inputs, (std::vector{x, a, a, a, x}));
  const CombineForm expected{{inputs({2, 3}), inputs({4}), inputs({0, 1})}, false};
  EXPECT_EQ(std::get<CombineForm>(op.form), expected);
}

TEST(Fusion, SumsRelusAndPoolsHaveFormsOfTheirOwn) {
  ModelBuilder net = network();
  const TensorId x = net.input();
  net.relu("relu", net.sum("sum", {x, x}));
  net.pool("pool", x, Pool{Pool::Kind::kMax, {3, 3}, {2, 2}, {0, 0}});
  net.global_average_pool("mean", x);
  const Model model = std::move(net).build();
  EXPECT_EQ(fuse(model, {LayerId(0), LayerId(1)}).form, Form(CombineForm{{inputs({0, 1})}, true}));
  EXPECT_EQ(fuse(model, {LayerId(0)}).form, Form(CombineForm{{inputs({0, 1})}, false}));
  EXPECT_EQ(fuse(model, {LayerId(1)}).form, Form(CombineForm{{inputs({0})}, true}));
  EXPECT_EQ(fuse(model, {LayerId(2)}).form, Form(PoolForm{InputIndex(0), LayerId(2)}));
  EXPECT_EQ(fuse(model, {LayerId(3)}).form, Form(GlobalAverageForm{InputIndex(0)}));
}

/// concat, then conv and relu, then a sum of that and of an input: no form covers it.
Model layered_model() {
  ModelBuilder net = network();
  const TensorId x = net.input();
  const TensorId y = net.relu("relu", net.conv("conv", net.concat("concat", {x, x}), pointwise()));
  net.sum("sum", {x, y});
  return std::move(net).build();
}

TEST(Fusion, LayersReadInputsOfTheOperatorOrEarlierLayers) {
  const Model model = layered_model();
  const OperatorLayers op = whole(model);
  EXPECT_EQ(op.form, Form(LayeredForm{}));
  const std::vector<Part> parts = parts_of(model, op);
  ASSERT_EQ(parts.size(), 3u) << "the relu goes with its convolution";
  EXPECT_EQ(parts[0].operands, (std::vector{Operand{false, 0}, Operand{false, 1}}));
  EXPECT_EQ(parts[1].operands, (std::vector{Operand{true, 0}}));
  EXPECT_EQ(parts[2].operands, (std::vector{Operand{false, 2}, Operand{true, 1}}));
  EXPECT_TRUE(std::get<ConvolutionChain>(parts[1].layers.form).activation.has_value());
  EXPECT_EQ(parts[1].layers.output, model.layer(LayerId(2)).output);

  const std::vector<Part> layers = single_layers(model, op);
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[3].operands, (std::vector{Operand{false, 2}, Operand{true, 2}}));
}

TEST(Fusion, AReluThatIsNotTheOnlyConsumerStaysSeparate) {
  ModelBuilder net = network();
  const TensorId y = net.conv("conv", net.input(), pointwise());
  net.sum("sum", {net.relu("relu", y), y});
  const Model model = std::move(net).build();
  EXPECT_EQ(parts_of(model, whole(model)).size(), 3u);
}

}  // namespace
}  // namespace hios
