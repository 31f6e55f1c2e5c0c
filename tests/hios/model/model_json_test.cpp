#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "hios/graph/fusion/coarsen.h"
#include "hios/model/layer_fields.h"
#include "hios/model/model_json.h"
#include "hios/model/networks/networks.h"
#include "support/message.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::expect_message;
using test::message_of;

Model read_model(const std::string& text) {
  const Json json = parse_json(text, "m.json");
  return model_from_json(JsonView(json, "m.json"));
}

/// A small file with `layer` after one good layer.
std::string model_text(const std::string& layer, const std::string& more = "") {
  return R"({"format": "hios-model", "version": 1, "name": "m", "input": {"shape": [1, 3, 8, 8]},
             "layers": [{"name": "a", "type": "Relu", "inputs": ["input"]}, )" +
         layer + "]" + more + "}";
}

/// One layer of each kind, no attribute at its default.
Model model_of_every_kind() {
  ModelBuilder b("every", {2, 6, 8, 8});
  const Padding uneven(Extent{0, 1}, Extent{2, 0});
  TensorId x = b.conv("conv", b.input(), {12, {3, 2}, {2, 1}, uneven, 3, false, {1, 2}});
  x = b.add("spread", ConvTranspose{8, {2, 3}, {2, 1}, uneven, {1, 0}, 2, false, {1, 3}}, {x});
  x = b.pool("pool", x, {Pool::Kind::kAverage, {2, 2}, {2, 2}, uneven, {2, 1}, true, true});
  x = b.add("clip", Unary{Unary::Function::kClip, -0.1f, 3.4e38f}, {x});
  x = b.add("pow", Binary{Binary::Function::kPow, Shape{1, 8, 1, 1}, true}, {x});
  const TensorId mean = b.add("max", Reduce{Reduce::Function::kMax, {.h = true, .w = true}}, {x});
  x = b.add("mul", Binary{Binary::Function::kMul, {}, false}, {x, mean});
  x = b.add("softmax", Softmax{{.c = true, .w = true}, true}, {x});
  x = b.add("group", Normalization{{.h = true}, 4, 1e-3f, Shape{1, 8, 1, 1}, Shape{1, 1, 1, 1}},
            {x});
  x = b.add("plain", Normalization{{.c = true}, 0, 1e-3f, {}, {}}, {x});
  x = b.add("lrn", LocalResponseNormalization{3, 0.1f, 0.7f, 2}, {x});
  x = b.add("resize",
            Resize{Resize::Mode::kCubic,
                   Resize::Coordinates::kHalfPixelSymmetric,
                   Resize::Nearest::kCeil,
                   {5, 6},
                   0.7,
                   1.3,
                   -0.5f,
                   true},
            {x});
  x = b.add("pad", Pad{Pad::Mode::kEdge, {0, 1, 0, 2}, {1, 0, 3, 0}, 0.25f}, {x});
  const std::int64_t values = b.shape(x).elements();
  x = b.add("move", Move{{1, 4, 1, 6}, {{4, -3}, {6, 0}}, values - 1}, {x});
  x = b.add("matmul", MatMul{true}, {x, x}, {Shape{1, 4, 1, 6}, Shape{1, 4, 1, 6}});
  x = b.add("rows", Gather{Shape{5, 1, 2, 3}}, {x});
  x = b.add("read", Relu{}, {x}, {Shape{6, 1, 3, 2}});
  b.add("top", TopK{1, false, true}, {x});
  b.add("concat", Concat{Axis::kN}, {x, x});
  b.sum("sum", {mean, mean});
  b.global_average_pool("average", mean);
  b.keep_layer_names();
  return std::move(b).build({x, mean});
}

void expect_equal_models(const Model& a, const Model& b) {
  EXPECT_EQ(a.name(), b.name());
  ASSERT_EQ(a.layers().size(), b.layers().size());
  ASSERT_EQ(a.tensors().size(), b.tensors().size());
  for (std::size_t i = 0; i < a.layers().size(); ++i) {
    const Layer& mine = a.layers()[i];
    const Layer& yours = b.layers()[i];
    SCOPED_TRACE(mine.name);
    EXPECT_EQ(mine.name, yours.name);
    EXPECT_EQ(mine.kind, yours.kind);
    EXPECT_EQ(mine.inputs, yours.inputs);
    EXPECT_EQ(mine.input_shapes, yours.input_shapes);
    EXPECT_EQ(mine.output, yours.output);
    EXPECT_EQ(mine.block, yours.block);
    EXPECT_EQ(a.tensor(mine.output).shape, b.tensor(yours.output).shape);
  }
}

TEST(ModelIo, GivesBackEveryBuiltInModel) {
  for (const models::Entry& entry : models::all()) {
    const Model model = entry.build(2, 96, 112);
    const Model again = read_model(to_text(to_json(model)));
    expect_equal_models(model, again);
    EXPECT_EQ(coarsen(model).graph.digest(), coarsen(again).graph.digest());
  }
}

TEST(ModelIo, GivesBackEveryKind) {
  const Model model = model_of_every_kind();
  std::set<std::size_t> kinds;
  for (const Layer& layer : model.layers()) kinds.insert(layer.kind.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<LayerKind>);
  const Json json = to_json(model);
  EXPECT_EQ(json.at("version"), 1);
  test::expect_meets_schema(json);
  const Model again = read_model(to_text(json));
  expect_equal_models(model, again);
  EXPECT_EQ(to_json(again), json);
  EXPECT_TRUE(std::ranges::equal(model.outputs(), again.outputs()));
  EXPECT_TRUE(again.keeps_layer_names());
  EXPECT_EQ(coarsen(model).graph.digest(), coarsen(again).graph.digest());
}

TEST(ModelIo, GivesBackEveryFunctionAndMode) {
  const auto expect_back = [](const LayerKind& kind) {
    ModelBuilder builder("m", {1, 3, 8, 8});
    builder.add("layer", kind, {builder.input()});
    const Model model = std::move(builder).build();
    const Json json = to_json(model);
    test::expect_meets_schema(json);
    EXPECT_EQ(read_model(to_text(json)).layer(LayerId(0)).kind, kind) << attributes_text(kind);
  };
  const auto each = []<class Enum>(Enum, auto&& visit) {
    for (std::size_t i = 0; i < Names<Enum>::kAll.size(); ++i) visit(static_cast<Enum>(i));
  };
  each(Unary::Function{}, [&](auto function) { expect_back(Unary{function, 0.1f, -3}); });
  each(Binary::Function{}, [&](auto function) {
    expect_back(Binary{function, Shape{1, 3, 1, 1}, false});
  });
  each(Reduce::Function{}, [&](auto function) { expect_back(Reduce{function, {.h = true}}); });
  each(Resize::Mode{}, [&](auto mode) { expect_back(Resize{.mode = mode, .size = {9, 9}}); });
  each(Resize::Coordinates{}, [&](auto coordinates) {
    expect_back(Resize{.coordinates = coordinates, .size = {9, 9}});
  });
  each(Resize::Nearest{}, [&](auto to) { expect_back(Resize{.nearest = to, .size = {9, 9}}); });
  each(Pad::Mode{}, [&](auto mode) { expect_back(Pad{mode, {0, 1, 2, 0}, {0, 0, 1, 1}, 0.5f}); });
  each(Axis{}, [&](auto axis) { expect_back(Concat{axis}); });
}

TEST(ModelIo, WritesItsOutputsAndWhetherLayersKeepTheirNames) {
  for (const models::Entry& entry : models::all()) {
    const Json json = to_json(entry.build(1, 96, 96));
    EXPECT_EQ(json.at("version"), 1) << entry.name;
    EXPECT_EQ(json.at("outputs").size(), 1U) << entry.name;
    EXPECT_EQ(json.at("keep_names"), false) << entry.name;
  }
  const auto written = [](bool keep_names, bool output_inside) {
    ModelBuilder builder("m", {1, 3, 8, 8});
    const TensorId first = builder.relu("first", builder.input());
    builder.relu("second", first);
    if (keep_names) builder.keep_layer_names();
    const std::vector<TensorId> outputs{first};
    return to_json(std::move(builder).build(output_inside ? outputs : std::vector<TensorId>()));
  };
  EXPECT_EQ(written(true, false).at("keep_names"), true);
  EXPECT_EQ(written(false, false).at("outputs"), Json({"second"}));
  EXPECT_EQ(written(false, true).at("outputs"), Json({"first"}));
}

TEST(ModelIo, TakesTheOutputsThatNoLayerReadsWhereNoneIsNamed) {
  const std::string relu = R"({"name": "b", "type": "Relu", "inputs": ["a"]})";
  const Model plain = read_model(model_text(relu));
  ASSERT_EQ(plain.outputs().size(), 1U);
  EXPECT_EQ(plain.tensor(plain.outputs()[0]).name, "b");
  EXPECT_FALSE(plain.keeps_layer_names());
  const Model named = read_model(model_text(relu, R"(, "outputs": ["a"], "keep_names": true)"));
  ASSERT_EQ(named.outputs().size(), 1U);
  EXPECT_EQ(named.tensor(named.outputs()[0]).name, "a");
  EXPECT_TRUE(named.keeps_layer_names());
}

TEST(ModelIo, NamesThePathOfWrongAttributes) {
  const auto message = [](const std::string& layer, const std::string& more = "") {
    return message_of([&] { read_model(model_text(layer, more)); });
  };
  const std::string start = R"({"name": "b", "inputs": ["a"], )",
                    relu = start + R"("type": "Relu"})";
  expect_message(message(start + R"("type": "LSTM"})"), "$.layers[1].type: 'LSTM' is unknown");
  expect_message(message(start + R"("type": "Softmax", "axes": "cc"})"),
                 "$.layers[1].axes: must be some of the letters n, c, h and w");
  expect_message(message(start + R"("type": "Softmax"})"), "needs at least one axis");
  expect_message(message(start + R"("type": "Pad", "mode": "circular"})"),
                 "$.layers[1].mode: 'circular' is unknown; known are constant, reflect");
  expect_message(message(start + R"("type": "Move", "output": [1, 1, 1, 2], "dimensions": [[2]]})"),
                 "$.layers[1].dimensions[0]: must be [size, stride]");
  expect_message(message(start + R"("type": "Sigmoid", "axis": 1})"), "unknown key \"axis\"");
  expect_message(message(start + R"("type": "Clip", "alpha": 1e39})"), "$.layers[1].alpha");
  expect_message(message(start + R"("type": "Relu", "input_shapes": [[1, 3, 8, 9]]})"),
                 "reads 1x3x8x8 as 1x3x8x9, which is not as many values");
  expect_message(message(start + R"("type": "Relu", "input_shapes": []})"),
                 "$.layers[1].input_shapes: must hold a shape for each input");
  expect_message(message(relu, R"(, "outputs": ["c"])"), "$.outputs[0]: no layer before");
  expect_message(message(relu, R"(, "outputs": [])"), "$.outputs: needs at least one output");
}

TEST(ModelIo, TakesAnotherBatchAndSize) {
  const Json json = to_json(models::squeezenet(1, 96, 112));
  const Model model = model_from_json(JsonView(json, "m.json"), 4, 100, std::nullopt);
  expect_equal_models(model, models::squeezenet(4, 100, 112));
}

TEST(ModelIo, FillsInWhatOnnxLeavesOut) {
  const Model model = read_model(model_text(
      R"({"name": "b", "type": "Conv", "inputs": ["a"], "out_channels": 6, "kernel_shape": [3, 2],
          "extra": {"note": 1}},
         {"name": "c", "type": "Add", "inputs": ["b", "b"]},
         {"name": "d", "type": "GlobalAveragePool", "inputs": ["c"]},
         {"name": "e", "type": "Add", "inputs": ["c", "d"]})"));
  EXPECT_EQ(model.layer(LayerId(1)).kind, LayerKind(Conv{6, {3, 2}, {1, 1}, {0, 0}, 1, true}));
  EXPECT_EQ(model.layer(LayerId(2)).kind, LayerKind(Sum{})) << "of two values of one shape";
  EXPECT_EQ(model.layer(LayerId(4)).kind, LayerKind(Binary{Binary::Function::kAdd, {}, false}));
  EXPECT_EQ(model.layer(LayerId(2)).block, "");
}

TEST(ModelIo, EveryMessageNamesItsPath) {
  const auto message = [](const std::string& layer) {
    return message_of([&] { read_model(model_text(layer)); });
  };
  expect_message(message(R"({"name": "b", "type": "LSTM", "inputs": ["a"]})"),
                 "m.json: $.layers[1].type: 'LSTM' is unknown; known are Conv");
  expect_message(message(R"({"name": "b", "type": "Relu", "inputs": ["c"]})"),
                 "$.layers[1].inputs[0]: no layer before this one is named 'c'");
  expect_message(message(R"({"name": "a", "type": "Relu", "inputs": ["a"]})"),
                 "$.layers[1]: model 'm', layer 'a' (Relu): its name is taken");
  expect_message(message(R"({"name": "b", "type": "Relu", "inputs": ["a"], "axis": 1})"),
                 "unknown key \"axis\"");
  expect_message(message(R"({"name": "b", "type": "Relu"})"), "\"inputs\" is missing");
  expect_message(message(R"({"name": "b", "type": "Add", "inputs": ["a", "a", "a"]})"),
                 "layer 'b' (Add): ");
  expect_message(
      message(R"({"name": "b", "type": "MaxPool", "inputs": ["a"], "kernel_shape": [9, 9]})"),
      "layer 'b' (MaxPool): its kernel 9x9 does not fit");
  expect_message(
      message(R"({"name": "b", "type": "MaxPool", "inputs": ["a"], "kernel_shape": [3]})"),
      "$.layers[1].kernel_shape: must hold 2 numbers, not 1");
  expect_message(message(R"({"name": "b", "type": "MaxPool", "inputs": ["a"],
                                 "kernel_shape": [3, 3], "pads": [1, 1, 0]})"),
                 "$.layers[1].pads: must hold 4 numbers, not 3");
  for (const char* bad : {"0", "-1", "4294967297", "3.9", "\"3\"", "1e2"}) {
    SCOPED_TRACE(bad);
    expect_message(message(std::string(R"({"name": "b", "type": "Conv", "inputs": ["a"],
                                 "kernel_shape": [1, 1], "out_channels": )") +
                           bad + "}"),
                   "$.layers[1].out_channels: must be a whole number from 1 to 2147483647");
  }
}

TEST(ModelIo, RefusesAnEmptyModelAndABadInput) {
  const auto message = [](const std::string& shape, const std::string& layers) {
    return message_of([&] {
      read_model(R"({"format": "hios-model", "version": 1, "name": "m", "input": {"shape": )" +
                 shape + R"(}, "layers": )" + layers + "}");
    });
  };
  expect_message(message("[1, 3, 8, 8]", "[]"), "m.json: $.layers: needs at least one layer");
  expect_message(message("[1, 3, 0, 8]", "[]"), "$.input.shape[2]: must be a whole number");
  expect_message(message("[1, 3, 2000000000, 2000000000]", "[]"),
                 "m.json: $.input: model 'm': an input of 1x3x2000000000x2000000000 cannot be");
}

}  // namespace
}  // namespace hios
