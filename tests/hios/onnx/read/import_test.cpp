// Models that ONNX files become.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "hios/base/error.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/onnx/operators/registry.h"
#include "hios/onnx/read/import.h"
#include "hios/onnx/view.h"
#include "support/layers/onnx_builder.h"

namespace hios::onnx {
namespace {

using test::OnnxBuilder;
using test::small_net;
namespace fs = std::filesystem;

std::vector<std::string> types(const Model& model) {
  std::vector<std::string> result;
  for (const Layer& layer : model.layers()) result.emplace_back(onnx_type(layer.kind));
  return result;
}
using Types = std::vector<std::string>;

TEST(Import, KeepsNamesWeightsAndOutputs) {
  OnnxBuilder b;
  small_net(b);
  b.node("Relu", {"y"}, "z");
  b.output("z");
  const Model model = import_model(b.write());
  EXPECT_EQ(types(model), (Types{"Conv", "Relu"}));
  EXPECT_EQ(model.layers()[0].name, "Conv_of_y");
  ASSERT_NE(model.weights(), nullptr);
  EXPECT_EQ(model.weights()->find("Conv_of_y")->weights, std::vector<float>(12, 0.5f));
  ASSERT_EQ(model.named_outputs().size(), 2u);
  EXPECT_EQ(model.named_outputs()[1].name, "z");
  EXPECT_EQ(model.named_outputs()[1].dims, (std::vector<std::int64_t>{1, 4, 8, 8}));
  // A tensor with consumers that is also an output stays an operator of its own.
  const CoarseGraph coarse = coarsen(model);
  EXPECT_EQ(coarse.graph.size(), 2u);
  EXPECT_TRUE(coarse.is_output(OpId(0)));
  EXPECT_EQ(coarse.graph.op(OpId(0)).name, "Conv_of_y");
}

/// A node that reads weights last may take their values (LayerEmitter::take_floats()).
TEST(Import, WeightsThatSeveralNodesReadAreInEach) {
  OnnxBuilder b;
  b.input("x", {2, 2});
  b.floats("w", {2, 2}, {1, 2, 3, 4});
  const auto product = [&](const std::string& from, const std::string& weights,
                           const std::string& to) {
    OnnxBuilder::attribute(b.node("Gemm", {from, weights}, to), "transB", std::int64_t{1});
  };
  product("x", "w", "a");
  b.node("Identity", {"w"}, "same");
  product("a", "w", "b");     // the last use of this name
  product("b", "same", "c");  // of the values
  b.output("c");
  const Model model = import_model(b.write());
  for (const char* layer : {"Gemm_of_a", "Gemm_of_b", "Gemm_of_c"})
    EXPECT_EQ(model.weights()->find(layer)->weights, (std::vector<float>{1, 2, 3, 4})) << layer;
}

TEST(Import, FoldsBatchNormalizationIntoTheConvolution) {
  OnnxBuilder b;
  small_net(b);
  b.graph().clear_output();
  b.floats("scale", {4}, {1, 2, 3, 4});
  b.floats("shift", {4}, {0, 0, 0, 1});
  b.floats("mean", {4}, {0, 0, 0, 2});
  b.floats("variance", {4}, {1, 1, 1, 1});
  auto& node = b.node("BatchNormalization", {"y", "scale", "shift", "mean", "variance"}, "n");
  auto& epsilon = *node.add_attribute();
  epsilon.set_name("epsilon");
  epsilon.set_type(proto::AttributeProto::FLOAT);
  epsilon.set_f(0);
  b.output("n");
  const Model model = import_model(b.write());
  ASSERT_EQ(types(model), (Types{"Conv"}));
  const ModelWeights::Values& values = *model.weights()->find("Conv_of_y");
  EXPECT_EQ(values.weights[0], 0.5f);
  EXPECT_EQ(values.weights[11], 2.0f);
  EXPECT_EQ(values.bias, (std::vector<float>{0, 0, 0, -7}));
}

TEST(Import, OperatorsThatRearrangeValuesAreViewsUntilAMoveIsNeeded) {
  OnnxBuilder b;
  small_net(b);
  b.graph().clear_output();
  // A channel shuffle: five dimensions, two of them exchanged. One Move in total.
  b.integers("apart", {1, 2, 2, 8, 8});
  b.integers("together", {1, 4, 8, 8});
  b.node("Reshape", {"y", "apart"}, "five");
  OnnxBuilder::attribute(b.node("Transpose", {"five"}, "turned"), "perm",
                         std::vector<std::int64_t>{0, 2, 1, 3, 4});
  b.node("Reshape", {"turned", "together"}, "shuffled");
  b.node("Relu", {"shuffled"}, "r");
  // The mean over the image, as a matrix: no Move.
  b.node("GlobalAveragePool", {"r"}, "mean");
  b.node("Flatten", {"mean"}, "row");
  b.floats("m", {4, 5}, std::vector<float>(20, 1));
  b.node("MatMul", {"row", "m"}, "out");
  b.output("out");
  const Model model = import_model(b.write());
  EXPECT_EQ(types(model), (Types{"Conv", "Move", "Relu", "GlobalAveragePool", "Conv"}));
  EXPECT_EQ(model.named_outputs()[0].dims, (std::vector<std::int64_t>{1, 5}));
}

TEST(Import, ConstantsAreFolded) {
  OnnxBuilder b;
  small_net(b);
  b.graph().clear_output();
  b.node("Shape", {"y"}, "shape");
  b.integers("zero", {0});
  b.node("Gather", {"shape", "zero"}, "batch");
  b.integers("rest", {-1});
  auto& joined = b.node("Concat", {"batch", "rest"}, "wanted");
  OnnxBuilder::attribute(joined, "axis", 0);
  b.node("Reshape", {"y", "wanted"}, "flat");
  b.output("flat");
  const Model model = import_model(b.write());
  EXPECT_EQ(model.named_outputs()[0].dims, (std::vector<std::int64_t>{1, 256}));
}

// Shape gives the extents from `start` to before `end`, which count from the end where negative.
TEST(Import, ShapeGivesSomeOfTheExtents) {
  struct Case {
    std::int64_t start, end;
    std::vector<std::int64_t> dims;
  };
  const std::vector<Case> cases = {
      {1, 3, {4, 8, 8}}, {-2, 9, {8, 8, 4}}, {-9, -2, {1, 4, 64}}, {3, 4, {8, 32}}, {3, 1, {256}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(std::to_string(each.start) + " to " + std::to_string(each.end));
    OnnxBuilder b;
    small_net(b);
    b.graph().clear_output();
    auto& shape = b.node("Shape", {"y"}, "some");
    OnnxBuilder::attribute(shape, "start", each.start);
    OnnxBuilder::attribute(shape, "end", each.end);
    b.integers("rest", {-1});
    OnnxBuilder::attribute(b.node("Concat", {"some", "rest"}, "wanted"), "axis", 0);
    b.node("Reshape", {"y", "wanted"}, "other");
    b.output("other");
    EXPECT_EQ(import_model(b.write()).named_outputs()[0].dims, each.dims);
  }
}

// The number of elements, as exporters write it, gives the shape of a flat tensor.
TEST(Import, ProductsOfAllExtentsAreFoldedHoweverTheyNameTheAxes) {
  for (const char* axes : {"none", "attribute", "input"}) {
    SCOPED_TRACE(axes);
    OnnxBuilder b;
    small_net(b);
    b.model.mutable_opset_import(0)->set_version(18);
    b.graph().clear_output();
    b.node("Shape", {"y"}, "shape");
    b.integers("all", {-1});
    const bool input = axes == std::string("input");
    auto& product = input ? b.node("ReduceProd", {"shape", "all"}, "count")
                          : b.node("ReduceProd", {"shape"}, "count");
    if (axes == std::string("attribute"))
      OnnxBuilder::attribute(product, "axes", std::vector<std::int64_t>{0});
    b.node("Reshape", {"y", "count"}, "flat");
    b.output("flat");
    EXPECT_EQ(import_model(b.write()).named_outputs()[0].dims, (std::vector<std::int64_t>{256}));
  }
}

TEST(Import, ARangeEndsBeforeItsLimit) {
  OnnxBuilder b;
  small_net(b);
  b.graph().clear_output();
  b.integers("start", {4}), b.integers("limit", {65}), b.integers("delta", {60});
  b.node("Range", {"start", "limit", "delta"}, "extents");
  b.node("Reshape", {"y", "extents"}, "z");
  b.output("z");
  EXPECT_EQ(import_model(b.write()).named_outputs()[0].dims, (std::vector<std::int64_t>{4, 64}));
}

// From opset 18 on, an axis may be split evenly up to the last output, which is smaller.
TEST(Import, TheLastOfUnevenOutputsIsSmaller) {
  OnnxBuilder b;
  b.model.mutable_opset_import(0)->set_version(18);
  b.input("x", {1, 5, 4, 4});
  auto& split = b.node("Split", {"x"}, "left");
  split.add_output("right");
  OnnxBuilder::attribute(split, "axis", 1);
  OnnxBuilder::attribute(split, "num_outputs", 2);
  for (const std::string side : {"left", "right"}) {
    b.node("Relu", {side}, side + "_relu");
    b.output(side + "_relu");
  }
  const Model model = import_model(b.write());
  EXPECT_EQ(model.named_outputs()[0].dims, (std::vector<std::int64_t>{1, 3, 4, 4}));
  EXPECT_EQ(model.named_outputs()[1].dims, (std::vector<std::int64_t>{1, 2, 4, 4}));
}

TEST(Elements, MayBeTwoToTheFortieth) {
  constexpr std::int64_t kMillion = 1 << 20;
  EXPECT_EQ(elements({kMillion, kMillion}), std::int64_t{1} << 40);
  EXPECT_THROW(elements({kMillion, kMillion, 2}), InputError);
}

TEST(Import, GatesBecomeOneLayer) {
  OnnxBuilder b;
  small_net(b);
  b.graph().clear_output();
  b.node("Sigmoid", {"y"}, "s");
  b.node("Mul", {"y", "s"}, "silu");
  b.output("silu");
  EXPECT_EQ(types(import_model(b.write())), (Types{"Conv", "Silu"}));
}

TEST(Import, ReadsExternalData) {
  OnnxBuilder b;
  small_net(b);
  auto& tensor = *b.graph().mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& value) {
    auto& added = *tensor.add_external_data();
    added.set_key(key);
    added.set_value(value);
  };
  entry("location", "data/weights.bin");
  entry("offset", "8");
  entry("length", "48");
  fs::create_directory(b.folder / "data");
  const std::vector<float> values(14, 0.25f);
  std::ofstream(b.folder / "data/weights.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), 56);
  const Model model = import_model(b.write());
  EXPECT_EQ(model.weights()->find("Conv_of_y")->weights, std::vector<float>(12, 0.25f));
}

TEST(Import, NamesAllFilesOfExternalData) {
  OnnxBuilder b;
  small_net(b);
  EXPECT_TRUE(external_files(b.write()).empty());
  const auto move_out = [](proto::TensorProto& tensor, const std::string& location) {
    tensor.set_data_location(proto::TensorProto::EXTERNAL);
    auto& added = *tensor.add_external_data();
    added.set_key("location");
    added.set_value(location);
  };
  move_out(*b.graph().mutable_initializer(0), "data/weights.bin");
  for (const char* unread : {"u", "v"}) move_out(b.floats(unread, {1}, {1}), "unread.bin");
  auto& attribute = *b.node("Constant", {}, "c").add_attribute();
  move_out(*attribute.mutable_t(), "constant.bin");
  move_out(*attribute.mutable_g()->add_initializer(), "branch.bin");
  move_out(*b.model.add_training_info()->mutable_algorithm()->add_initializer(), "rate.bin");
  EXPECT_EQ(external_files(b.write()),
            (std::vector<fs::path>{b.folder / "branch.bin", b.folder / "constant.bin",
                                   b.folder / "data/weights.bin", b.folder / "rate.bin",
                                   b.folder / "unread.bin"}));
  EXPECT_TRUE(external_files(b.folder / "none.onnx").empty());
}

/// Returns raw numbers, little-endian.
template <class Number>
std::string raw(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

TEST(Import, WeightsOfEveryFloatingPointTypeBecomeFp32) {
  const std::vector<std::pair<int, std::string>> types = {
      {proto::TensorProto::FLOAT, raw(std::vector<float>(12, 1.5f))},
      {proto::TensorProto::DOUBLE, raw(std::vector<double>(12, 1.5))},
      {proto::TensorProto::FLOAT16, raw(std::vector<std::uint16_t>(12, 0x3e00))},
      {proto::TensorProto::BFLOAT16, raw(std::vector<std::uint16_t>(12, 0x3fc0))}};
  for (const auto& [type, bytes] : types) {
    SCOPED_TRACE(proto::TensorProto_DataType_Name(static_cast<proto::TensorProto_DataType>(type)));
    OnnxBuilder b;
    small_net(b);
    auto& tensor = *b.graph().mutable_initializer(0);
    tensor.clear_float_data();
    tensor.set_data_type(type);
    tensor.set_raw_data(bytes);
    const Model model = import_model(b.write());
    EXPECT_EQ(model.weights()->find("Conv_of_y")->weights, std::vector<float>(12, 1.5f));
  }
}

TEST(Import, IntegersOfEveryWidthAreExtents) {
  const std::vector<std::pair<int, std::string>> types = {
      {proto::TensorProto::INT8, raw(std::vector<std::int8_t>{4, -1})},
      {proto::TensorProto::UINT8, raw(std::vector<std::uint8_t>{4, 64})},
      {proto::TensorProto::INT32, raw(std::vector<std::int32_t>{4, -1})},
      {proto::TensorProto::INT64, raw(std::vector<std::int64_t>{4, -1})}};
  for (const auto& [type, bytes] : types) {
    OnnxBuilder b;
    small_net(b);
    b.graph().clear_output();
    auto& extents = b.integers("extents", {0, 0});
    extents.clear_int64_data();
    extents.set_data_type(type);
    extents.set_raw_data(bytes);
    b.node("Reshape", {"y", "extents"}, "z");
    b.output("z");
    EXPECT_EQ(import_model(b.write()).named_outputs()[0].dims, (std::vector<std::int64_t>{4, 64}));
  }
}

// ONNX lets the exponent alone be of another type.
TEST(Import, ExponentsMayBeIntegers) {
  OnnxBuilder b;
  small_net(b);
  b.integers("two", {2});
  b.node("Pow", {"y", "two"}, "z");
  b.output("z");
  const Model model = import_model(b.write());
  EXPECT_EQ(types(model), (Types{"Conv", "Pow"}));
  EXPECT_EQ(model.weights()->find("Pow_of_z")->weights, std::vector<float>{2});
}

TEST(Import, ThePageNamesEveryOperator) {
  std::ostringstream text;
  text << std::ifstream(HIOS_SOURCE_DIR "/docs/onnx.md").rdbuf();
  const std::string page = text.str();
  for (const std::string& type : known_operators()) {
    EXPECT_TRUE(std::regex_search(page, std::regex("\\b" + type + "\\b"))) << type;
  }
}

}  // namespace
}  // namespace hios::onnx
