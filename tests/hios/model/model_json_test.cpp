#include <gtest/gtest.h>

#include "hios/graph/coarsen.h"
#include "hios/model/networks/networks.h"
#include "support/complaint.h"

namespace hios {
namespace {

using test::complaint_of;
using test::expect_complaint;

Model read(const std::string& text) {
  const Json json = parse_json(text, "m.json");
  return model_from_json(JsonView(json, "m.json"));
}

/// A small file with `layer` behind one good layer.
std::string file_with(const std::string& layer) {
  return R"({"format": "hios-model", "version": 1, "name": "m", "input": {"shape": [1, 3, 8, 8]},
             "layers": [{"name": "a", "type": "Relu", "inputs": ["input"]}, )" +
         layer + "]}";
}

void expect_equal(const Model& a, const Model& b) {
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
    EXPECT_EQ(mine.output, yours.output);
    EXPECT_EQ(mine.block, yours.block);
    EXPECT_EQ(a.tensor(mine.output).shape, b.tensor(yours.output).shape);
  }
}

TEST(ModelIo, GivesBackEveryBuiltInModel) {
  for (const models::Entry& entry : models::all()) {
    const Model model = entry.build(2, 96, 112);
    const Model again = read(to_text(to_json(model)));
    expect_equal(model, again);
    EXPECT_EQ(coarsen(model).graph.digest(), coarsen(again).graph.digest());
  }
}

TEST(ModelIo, TakesAnotherBatchAndSize) {
  const Json json = to_json(models::squeezenet(1, 96, 112));
  const Model model = model_from_json(JsonView(json, "m.json"), 4, 100, std::nullopt);
  expect_equal(model, models::squeezenet(4, 100, 112));
}

TEST(ModelIo, FillsInWhatOnnxLeavesOut) {
  const Model model = read(file_with(
      R"({"name": "b", "type": "Conv", "inputs": ["a"], "out_channels": 6, "kernel_shape": [3, 2],
          "extra": {"note": 1}},
         {"name": "c", "type": "Add", "inputs": ["b", "b"]})"));
  EXPECT_EQ(model.layer(LayerId(1)).kind, LayerKind(Conv{6, {3, 2}, {1, 1}, {0, 0}, 1, true}));
  EXPECT_EQ(model.layer(LayerId(2)).kind, LayerKind(Sum{}));
  EXPECT_EQ(model.layer(LayerId(2)).block, "");
}

TEST(ModelIo, PlacesEveryComplaint) {
  const auto complaint = [](const std::string& layer) {
    return complaint_of([&] { read(file_with(layer)); });
  };
  expect_complaint(complaint(R"({"name": "b", "type": "Softmax", "inputs": ["a"]})"),
                   "m.json: $.layers[1].type: 'Softmax' is unknown; known are Conv");
  expect_complaint(complaint(R"({"name": "b", "type": "Relu", "inputs": ["c"]})"),
                   "$.layers[1].inputs[0]: no layer before this one is named 'c'");
  expect_complaint(complaint(R"({"name": "a", "type": "Relu", "inputs": ["a"]})"),
                   "$.layers[1]: model 'm', layer 'a' (Relu): its name is taken");
  expect_complaint(complaint(R"({"name": "b", "type": "Relu", "inputs": ["a"], "axis": 1})"),
                   "unknown key \"axis\"");
  expect_complaint(complaint(R"({"name": "b", "type": "Relu"})"), "\"inputs\" is missing");
  expect_complaint(complaint(R"({"name": "b", "type": "Add", "inputs": ["a"]})"), "use Sum");
  expect_complaint(
      complaint(R"({"name": "b", "type": "MaxPool", "inputs": ["a"], "kernel_shape": [9, 9]})"),
      "layer 'b' (MaxPool): its kernel 9x9 does not fit");
  expect_complaint(
      complaint(R"({"name": "b", "type": "MaxPool", "inputs": ["a"], "kernel_shape": [3]})"),
      "$.layers[1].kernel_shape: must hold 2 numbers, not 1");
  expect_complaint(complaint(R"({"name": "b", "type": "MaxPool", "inputs": ["a"],
                                 "kernel_shape": [3, 3], "pads": [1, 1, 0, 1]})"),
                   "$.layers[1].pads: padding must be the same before and after");
  for (const char* bad : {"0", "-1", "4294967297", "3.9", "\"3\"", "1e2"}) {
    SCOPED_TRACE(bad);
    expect_complaint(complaint(std::string(R"({"name": "b", "type": "Conv", "inputs": ["a"],
                                 "kernel_shape": [1, 1], "out_channels": )") +
                               bad + "}"),
                     "$.layers[1].out_channels: must be a whole number from 1 to 2147483647");
  }
}

TEST(ModelIo, RefusesAnEmptyModelAndABadInput) {
  const auto complaint = [](const std::string& shape, const std::string& layers) {
    return complaint_of([&] {
      read(R"({"format": "hios-model", "version": 1, "name": "m", "input": {"shape": )" + shape +
           R"(}, "layers": )" + layers + "}");
    });
  };
  expect_complaint(complaint("[1, 3, 8, 8]", "[]"), "m.json: $.layers: needs at least one layer");
  expect_complaint(complaint("[1, 3, 0, 8]", "[]"), "$.input.shape[2]: must be a whole number");
  expect_complaint(complaint("[1, 3, 2000000000, 2000000000]", "[]"),
                   "m.json: $.input: model 'm': an input of 1x3x2000000000x2000000000 cannot be");
}

}  // namespace
}  // namespace hios
