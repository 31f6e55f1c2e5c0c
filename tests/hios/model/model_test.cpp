#include "hios/model/model.h"

#include <gtest/gtest.h>

#include "support/message.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

Conv conv1x1(std::int64_t channels) {
  Conv conv;
  conv.out_channels = channels;
  return conv;
}

TEST(Model, KnowsItsLayersTensorsAndConsumers) {
  ModelBuilder builder("two_branches", {2, 3, 8, 6});
  builder.begin_block("left");
  const TensorId left = builder.conv("a", builder.input(), conv1x1(4));
  builder.begin_block("right");
  const TensorId right = builder.conv("b", builder.input(), conv1x1(4));
  const TensorId twice = builder.sum("twice", {left, left});
  builder.concat("both", {twice, right});
  const TensorId loose = builder.relu("loose", right);
  const Model model = std::move(builder).build();

  EXPECT_EQ(model.name(), "two_branches");
  EXPECT_EQ(model.batch(), 2);
  EXPECT_EQ(model.height(), 8);
  EXPECT_EQ(model.width(), 6);
  ASSERT_EQ(model.layers().size(), 5u);
  ASSERT_EQ(model.tensors().size(), 6u);
  EXPECT_EQ(model.tensor(model.input()).name, "input");
  EXPECT_EQ(model.tensor(model.input()).producer, std::nullopt);
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    const Layer& layer = model.layer(LayerId(i));
    EXPECT_EQ(model.tensor(layer.output).producer, LayerId(i));
    EXPECT_EQ(model.tensor(layer.output).name, layer.name);
  }
  EXPECT_EQ(model.layer(LayerId(0)).block, "left");
  EXPECT_EQ(model.layer(LayerId(4)).block, "right");

  const auto consumers_of_left = model.consumers(left);
  EXPECT_EQ(std::vector<LayerId>(consumers_of_left.begin(), consumers_of_left.end()),
            (std::vector{LayerId(2), LayerId(2)}));
  EXPECT_EQ(model.consumers(model.input()).size(), 2u);
  const auto outputs = model.outputs();
  EXPECT_EQ(std::vector<TensorId>(outputs.begin(), outputs.end()),
            (std::vector{TensorId(4), loose}));
  EXPECT_EQ(model.tensor(TensorId(4)).shape, (Shape{2, 8, 8, 6}));
  EXPECT_EQ(model.layer(LayerId(3)).input_shapes,
            (std::vector{Shape{2, 4, 8, 6}, Shape{2, 4, 8, 6}}));
  EXPECT_EQ(model.flop(), 2.0 * 2 * (2 * 4 * 8 * 6 * 3));
  EXPECT_EQ(model.parameters(), 2 * (4 * 3 + 4));
}

TEST(ModelBuilder, LayersReadValuesInOtherShapes) {
  ModelBuilder builder("m", {1, 6, 2, 4});
  const TensorId read = builder.add("read", Relu{}, {builder.input()}, {Shape{4, 1, 4, 3}});
  EXPECT_EQ(builder.shape(read), (Shape{4, 1, 4, 3}));
  const auto refused = [&](const std::vector<Shape>& shapes, const std::string& part) {
    const std::string message = test::message_of(
        [&] { builder.add("a" + std::to_string(shapes.size()), Relu{}, {read}, shapes); });
    test::expect_message(message, part);
  };
  refused({{4, 1, 4, 4}}, "reads 4x1x4x3 as 4x1x4x4, which is not as many values");
  refused({{4, 1, 4, 3}, {4, 1, 4, 3}}, "needs a shape for each input that it reads");
}

TEST(ModelBuilder, TakesOutputsThatLayersRead) {
  ModelBuilder builder("m", {1, 6, 2, 4});
  const TensorId first = builder.relu("first", builder.input());
  builder.relu("second", first);
  const Model model = std::move(builder).build({first, first});
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs().front(), first);
  EXPECT_TRUE(model.is_output(first));
}

TEST(ModelBuilder, NamesTheLayerThatCannotBe) {
  ModelBuilder builder("m", {1, 3, 4, 4});
  const TensorId x = builder.conv("first", builder.input(), conv1x1(4));
  Conv large = conv1x1(4);
  large.kernel = {5, 5};
  expect_message(message_of([&] { builder.conv("second", x, large); }),
                 "model 'm', layer 'second' (Conv): its kernel 5x5 does not fit");
  expect_message(message_of([&] { builder.relu("first", x); }),
                 "layer 'first' (Relu): its name is taken");
  expect_message(message_of([&] { builder.relu("input", x); }), "its name is taken");
  expect_message(message_of([&] { builder.relu("", x); }), "has no name");
  expect_message(message_of([&] { builder.relu("later", TensorId(9)); }),
                 "reads a tensor that does not exist yet");
}

TEST(Model, ForgetsWeightsInAllModelsThatShareThem) {
  ModelBuilder builder("merged", {1, 3, 8, 8});
  const TensorId x = builder.merged_conv("both", conv1x1(5), builder.input(), {1, 3, 8, 8},
                                         {{"left", 2}, {"right", 3}});
  builder.conv("last", x, conv1x1(1));
  const Model model = std::move(builder).build();
  ModelWeights weights;
  weights.set("left", {{1, 2, 3, 4, 5, 6}, {7, 8}});
  weights.set("right", {std::vector<float>(9), std::vector<float>(3)});
  weights.set("last", {std::vector<float>(5), {1}});
  const Model with = model.with_weights(std::move(weights)), same = with;
  EXPECT_EQ(with.weights()->size_bytes(), (8 + 12 + 6) * sizeof(float));
  with.forget_weights(with.layer(LayerId(0)));
  EXPECT_EQ(same.weights()->size_bytes(), 6 * sizeof(float));
  EXPECT_EQ(same.weights()->find("left"), nullptr);
  EXPECT_NE(same.weights()->find("last"), nullptr);
  EXPECT_NO_THROW(model.forget_weights(model.layer(LayerId(0)))) << "it has none";
}

TEST(ModelBuilder, RefusesAnImpossibleInputAndAnEmptyModel) {
  expect_message(message_of([] {
                   ModelBuilder("m", {1, 3, 0, 4});
                 }),
                 "model 'm': an input of 1x3x0x4 cannot be");
  expect_message(message_of([] { ModelBuilder("m", {1, 3, 4, 4}).build(); }), "no layers");
}

}  // namespace
}  // namespace hios
