// Models written as ONNX files and read again compute the same: the built-in networks bit for bit,
// and each kind of layer. Names and extents are those of the model.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

#include "engine/backend/tensor_source.h"
#include "engine/backends.h"
#include "engine/job/verification.h"
#include "hios/base/error.h"
#include "hios/graph/network.h"
#include "hios/onnx/read/import.h"
#include "hios/onnx/write/export.h"
#include "support/layers/layer_operations.h"
#include "support/layers/onnx_builder.h"

namespace hios::test {
namespace {

using Outputs = std::vector<std::vector<float>>;
constexpr std::uint64_t kSeed = 7;

ModelWeights::Values drawn(const Model& model, const Layer& layer) {
  SeededSource source(kSeed);
  const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
  ModelWeights::Values values{std::vector<float>(static_cast<std::size_t>(counts.weights)),
                              std::vector<float>(static_cast<std::size_t>(counts.bias))};
  if (counts.weights > 0) source.weights(model, layer, values.weights);
  if (counts.bias > 0) source.bias(model, layer, values.bias);
  return values;
}

/// Expects that each node and each value has a name, and no other one's. Other runtimes refuse such
/// files.
void expect_each_named_once(const std::string& file) {
  proto::ModelProto written;
  std::ifstream bytes(file, std::ios::binary);
  ASSERT_TRUE(written.ParseFromIstream(&bytes));
  std::set<std::string> nodes{""}, values{""};
  values.insert(written.graph().input(0).name());
  for (const auto& constant : written.graph().initializer()) {
    EXPECT_TRUE(values.insert(constant.name()).second) << constant.name();
  }
  for (const auto& node : written.graph().node()) {
    EXPECT_TRUE(nodes.insert(node.name()).second) << "node " << node.name();
    EXPECT_TRUE(values.insert(node.output(0)).second) << "value " << node.output(0);
  }
}

/// Writes the model and reads it.
Model written_and_read(const Model& model) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "written.onnx").string();
  onnx::export_model(
      model, [&](const Layer& layer) { return drawn(model, layer); }, file, Existing::kRefuse);
  expect_each_named_once(file);
  return onnx::import_model(file);
}

/// Returns the model's named outputs, in row-major order.
Outputs computed(const Model& model, Backend& backend) {
  const CoarseGraph coarse = coarsen(model);
  SeededSource source(kSeed);
  const job::OneRankRun run(coarse, model, backend, std::vector<int>(coarse.graph.size(), 1),
                            source, "");
  Outputs outputs;
  for (const NamedOutput& output : model.named_outputs()) {
    outputs.push_back(in_row_major_order(run.output(*coarse.producer(output.tensor)), output.dims));
  }
  return outputs;
}

std::vector<std::unique_ptr<Backend>> host_backends() {
  std::vector<std::unique_ptr<Backend>> made;
  for (const BackendEntry& entry : backends()) {
    if (entry.make != nullptr && entry.kind == "cpu") made.push_back(entry.make({}));
  }
  return made;
}

void expect_same_bits(const Outputs& left, const Outputs& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    ASSERT_EQ(left[i].size(), right[i].size());
    EXPECT_EQ(std::memcmp(left[i].data(), right[i].data(), left[i].size() * sizeof(float)), 0);
  }
}

/// Compares values. Inputs may lie outside a function's domain, so NaN must stay NaN.
void expect_near(const Outputs& got, const Outputs& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), wanted[i].size());
    for (std::size_t k = 0; k < got[i].size(); ++k) {
      const float a = got[i][k], b = wanted[i][k];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      ASSERT_NEAR(a, b, 1e-6 + 1e-5 * std::abs(b)) << "output " << i << ", value " << k;
    }
  }
}

void expect_same_inputs_and_outputs(const Model& left, const Model& right) {
  EXPECT_EQ(left.named_inputs()[0].name, right.named_inputs()[0].name);
  EXPECT_EQ(left.named_inputs()[0].dims, right.named_inputs()[0].dims);
  ASSERT_EQ(left.named_outputs().size(), right.named_outputs().size());
  for (std::size_t i = 0; i < left.named_outputs().size(); ++i) {
    EXPECT_EQ(left.named_outputs()[i].name, right.named_outputs()[i].name);
    EXPECT_EQ(left.named_outputs()[i].dims, right.named_outputs()[i].dims);
  }
}

TEST(Export, NetworksAreReadBackBitForBit) {
  struct Case {
    const char* network;
    std::int64_t pixels;
    bool all_backends;
  };
  const auto backends = host_backends();
  for (const auto& [network, pixels, all] :
       {Case{"squeezenet", 48, true}, Case{"inception_v3", 96, false},
        Case{"randwire_large", 32, false}}) {
    SCOPED_TRACE(network);
    const Model model = load_model(network, {1, pixels, pixels, {}});
    const Model read = written_and_read(model);
    expect_same_inputs_and_outputs(model, read);
    EXPECT_EQ(read.layers().size(), model.layers().size());
    EXPECT_EQ(read.layers().front().name, model.layers().front().name);
    for (std::size_t i = all ? 0 : backends.size() - 1; i < backends.size(); ++i) {
      expect_same_bits(computed(read, *backends[i]), computed(model, *backends[i]));
    }
  }
}

/// Opset 14 lacks these layers, or needs several nodes for them.
TEST(Export, EveryKindOfLayerIsWrittenOrNamed) {
  const std::set<std::string> inexpressible = {"AveragePool with dilation",
                                               "Equal",
                                               "Gelu",
                                               "GeluTanh",
                                               "KeepIf",
                                               "Less",
                                               "LessOrEqual",
                                               "Mish",
                                               "Move",
                                               "Normalization other than InstanceNormalization",
                                               "Pad by wrap",
                                               "PRelu of a constant",
                                               "Resize by half_pixel_symmetric",
                                               "Resize by tf_half_pixel_for_nn",
                                               "Resize that aligns corners of no whole extent",
                                               "Softmax over several axes",
                                               "a reduction over no axis"};
  const auto backend = find_backend("reference").make({});
  std::set<std::string> refused;
  std::size_t written = 0;
  for (const OperationCase& each : layer_operation_cases()) {
    SCOPED_TRACE(each.name);
    try {
      onnx::check_exportable(each.model);
    } catch (const InputError& error) {
      const std::string text = error.what();
      const std::size_t begin = text.find("opset 14): ") + 11;
      refused.insert(text.substr(begin, text.find(" (", begin) - begin));
      continue;
    }
    const Model read = written_and_read(each.model);
    expect_same_inputs_and_outputs(each.model, read);
    expect_near(computed(read, *backend), computed(each.model, *backend));
    ++written;
  }
  EXPECT_EQ(refused, inexpressible);
  EXPECT_GT(written, 250u);
}

TEST(Export, ImportedFilesKeepTheirNamesExtentsAndWeights) {
  OnnxBuilder b;
  b.input("x", {2, 3, 4, 4});
  b.floats("w", {5, 3, 1, 1}, std::vector<float>(15, 0.3f));
  b.node("Conv", {"x", "w"}, "y").set_name("scores");  // the name of an output
  b.node("GlobalAveragePool", {"y"}, "mean");
  b.node("Flatten", {"mean"}, "row");
  b.floats("m", {5, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  b.node("Gemm", {"row", "m"}, "scores");
  b.node("Identity", {"scores"}, "twin");
  b.node("Relu", {"y"}, "features");
  for (const char* name : {"scores", "features", "twin"}) b.output(name);
  const Model model = onnx::import_model(b.write());
  EXPECT_EQ(model.named_outputs()[0].dims, (std::vector<std::int64_t>{2, 3}));
  const Model read = written_and_read(model);
  expect_same_inputs_and_outputs(model, read);
  const auto backend = find_backend("reference").make({});
  expect_same_bits(computed(read, *backend), computed(model, *backend));
}

TEST(Export, NodesAreNotNamedAsTheirOutputs) {
  OnnxBuilder b;
  b.input("picture", {2, 3, 4, 4});
  b.floats("m", {3, 2}, std::vector<float>(6, 0.3f));
  b.node("GlobalAveragePool", {"picture"}, "mean");
  b.node("Flatten", {"mean"}, "row");
  b.node("MatMul", {"row", "m"}, "scores");  // a node without a name, and one more after it
  b.output("scores");
  const Model model = onnx::import_model(b.write());
  expect_same_inputs_and_outputs(model, written_and_read(model));
  EXPECT_EQ(model.named_inputs()[0].name, "picture");
}

TEST(Export, InputsOfOtherRanks) {
  OnnxBuilder b;
  b.input("x", {3, 8});
  b.floats("m", {8, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  b.node("MatMul", {"x", "m"}, "y");
  b.node("Sigmoid", {"y"}, "z");
  b.output("z");
  const Model model = onnx::import_model(b.write());
  const Model read = written_and_read(model);
  expect_same_inputs_and_outputs(model, read);
  const auto backend = find_backend("reference").make({});
  expect_same_bits(computed(read, *backend), computed(model, *backend));
}

TEST(Export, RefusesMoreThanAFileHolds) {
  ModelBuilder b("large", {1, 20000, 1, 1});
  b.conv("conv", b.input(), {30000, {1, 1}, {1, 1}, {0, 0}});
  const Model model = std::move(b).build();
  try {
    onnx::check_exportable(model);
    FAIL() << "600 million weights are more than 2 GiB";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("600030000 weights"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace hios::test
