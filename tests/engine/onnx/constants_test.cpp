// Nodes whose inputs are all known are computed while the file is read: weights that a network
// computes, extents that its exporter wrote out, branches and iterations, quantised weights.
// Expected values are worked out by hand; nodes_test.cpp judges single operators by ONNX's own
// results.

#include "engine/onnx/written_out.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

using Values = std::vector<float>;

Model read_constants(const Net& net) {
  return onnx::import_model(net.write(), {.kernel = layer_kernel()});
}

/// Returns the weights of the layer of a node.
Values weights_of(const Model& model, const std::string& layer) {
  const ModelWeights::Values* values = model.weights()->find(layer);
  return values ? values->weights : Values{};
}

/// Returns a constant's values: adds them to an input of one value, and reads that layer's weights.
Values values_of(Net& net, const std::string& constant) {
  net.output(net.op("Add", {"x", constant}));
  return weights_of(read_constants(net), net.last().name());
}

void expect_near(const Values& got, const Values& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5) << i;
}

void set_type(proto::NodeProto& cast, int type) { OnnxBuilder::attribute(cast, "to", type); }

std::string cast_to(Net& n, const std::string& x, int type) {
  const std::string y = n.op("Cast", {x});
  set_type(n.last(), type);
  return y;
}

/// Returns the name of a scalar integer.
std::string whole(Net& n, std::int64_t value) {
  const std::string name = "whole_" + std::to_string(n.graph().initializer_size());
  n.integers(name, {value}).clear_dims();
  return name;
}

/// Writes out max((ceil(extent / stride) - 1) * stride + kernel - extent, 0), as exporters trace
/// the padding "same": in floating-point numbers.
std::string same_padding(Net& n, const std::string& x, std::int64_t axis, float stride,
                         float kernel) {
  const std::string extent =
      cast_to(n, n.op("Gather", {n.op("Shape", {x}), whole(n, axis)}), proto::TensorProto::FLOAT);
  const std::string steps = n.op("Ceil", {n.op("Div", {extent, n.constant(stride)})});
  const std::string all = n.op("Mul", {n.op("Sub", {steps, n.constant(1)}), n.constant(stride)});
  const std::string wanted = n.op("Sub", {n.op("Add", {all, n.constant(kernel)}), extent});
  return cast_to(n, n.op("Clip", {wanted, n.constant(0)}), proto::TensorProto::INT64);
}

// A network with input of another size has other pads: the exporter writes their arithmetic.
TEST(Constants, PaddingThatAnExporterTracedIsTheConvolutions) {
  Net net({1, 3, 7, 10});
  net.integers("two", {2}), net.integers("zeros", {0, 0}), net.integers("none", {0});
  std::vector<std::string> before, after;
  for (const std::int64_t axis : {2, 3}) {
    const std::string all = same_padding(net, "x", axis, 2, 3);
    const std::string less = net.op("Div", {all, "two"});
    before.push_back(net.op("Reshape", {less, "one"}));
    after.push_back(net.op("Reshape", {net.op("Sub", {all, less}), "one"}));
  }
  net.integers("one", {1});
  const std::string pads =
      net.op("Concat", {"zeros", before[0], before[1], "zeros", after[0], after[1]});
  OnnxBuilder::attribute(net.last(), "axis", 0);
  const std::string wide = net.op("Pad", {"x", pads});
  net.output(net.op("Conv", {wide, net.drawn({4, 3, 3, 3})}, "strides", {2, 2}));
  const Model model = read_constants(net);
  ASSERT_EQ(layers_of(model), Layers{"Conv"});
  const Padding padding = std::get<Conv>(model.layers().front().kind).padding;
  EXPECT_EQ(padding, (Padding{Extent{1, 0}, Extent{1, 1}})) << "7: 1 and 1; 10: 0 and 1";
}

// NFNet's convolutions: each output channel's weights have mean 0 and variance 1, times a gain.
TEST(Constants, StandardisedWeightsAreTheConvolutions) {
  const std::vector<float> weights = {1, 2, 3, 6, -1, 1, -1, 1};
  // Means 3 and 0, variances 3.5 and 1.
  const float a = 2 / std::sqrt(3.5f);
  const Values wanted = {-2 * a, -a, 0, 3 * a, -2, 2, -2, 2};
  Net net({1, 4, 3, 3});
  net.model.mutable_opset_import(0)->set_version(18);
  const std::string w = net.constant({2, 4, 1, 1}, weights);
  net.integers("axes", {1, 2, 3});
  const std::string centred = net.op("Sub", {w, net.op("ReduceMean", {w, "axes"})});
  const std::string squares = net.op("Mul", {centred, centred});
  const std::string deviation = net.op("Sqrt", {net.op("ReduceMean", {squares, "axes"})});
  const std::string scaled = net.op("Mul", {net.op("Div", {centred, deviation}), net.constant(2)});
  net.output(net.op("Conv", {"x", scaled}));
  const Model model = read_constants(net);
  EXPECT_EQ(layers_of(model), Layers{"Conv"});
  expect_near(weights_of(model, model.layers().front().name), wanted);

  Net traced({1, 4, 3, 3});  // the same by BatchNormalization in training mode, as timm writes it
  traced.model.mutable_opset_import(0)->set_version(15);
  traced.integers("row", {1, 2, -1}), traced.integers("filter", {2, 4, 1, 1});
  const std::string row = traced.op("Reshape", {traced.constant({2, 4, 1, 1}, weights), "row"});
  const std::string gain = traced.constant({2}, {2, 2}), zero = traced.constant({2}, {0, 0});
  const std::string normal = traced.op("BatchNormalization", {row, gain, zero, zero, gain});
  OnnxBuilder::attribute(traced.last(), "training_mode", 1);
  Net::number(traced.last(), "epsilon", 0);
  traced.last().add_output("mean"), traced.last().add_output("variance");
  traced.output(traced.op("Conv", {"x", traced.op("Reshape", {normal, "filter"})}));
  const Model other = read_constants(traced);
  EXPECT_EQ(layers_of(other), Layers{"Conv"});
  expect_near(weights_of(other, other.layers().front().name), wanted);
}

// SwinV2 computes its position bias from a table of coordinates by a small network, and gathers it
// by a table of indices.
TEST(Constants, PositionBiasesAreComputedAndGathered) {
  Net net({1});
  const std::string table = net.constant({3, 2}, {0, 1, -1, 0, 2, 2});
  const std::string hidden =
      net.op("Relu", {net.op("MatMul", {table, net.constant({2, 2}, {1, -1, 1, 2})})});
  const std::string bias = net.op("MatMul", {hidden, net.constant({2, 1}, {1, 10})});
  net.integers("index", {2, 0, 0, 1}).clear_dims();
  for (const std::int64_t extent : {2, 2}) {
    net.graph().mutable_initializer(net.graph().initializer_size() - 1)->add_dims(extent);
  }
  net.integers("flat", {-1});
  const std::string scores = net.op("Reshape", {bias, "flat"});
  const std::string gathered = net.op("Gather", {scores, "index"});
  const std::string result = net.op("Mul", {net.op("Sigmoid", {gathered}), net.constant(16)});
  // Hidden: (1, 2), (0, 1), (4, 2); scores 21, 10, 24.
  const auto gate = [](double v) { return static_cast<float>(16 / (1 + std::exp(-v))); };
  expect_near(values_of(net, result), {gate(24), gate(21), gate(21), gate(10)});
}

proto::GraphProto& graph_in(proto::NodeProto& node, const char* name) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(proto::AttributeProto::GRAPH);
  return *attribute.mutable_g();
}

proto::NodeProto& node_in(proto::GraphProto& graph, const std::string& type, const Names& inputs,
                          const std::string& output) {
  auto& node = *graph.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

// A branch reads values outside it; the other one may hold what is not read.
TEST(Constants, TheTakenBranchIsRead) {
  for (const std::int64_t rank : {3, 4}) {
    Net net({2, 1, 3, 1});
    const std::string is_image =
        net.op("Equal", {net.op("Size", {net.op("Shape", {"x"})}), whole(net, rank)});
    const std::string doubled = net.op("Add", {"x", "x"});
    const std::string y = net.op("If", {is_image});
    auto& then = graph_in(net.last(), "then_branch");
    node_in(then, "Neg", {doubled}, "r");
    then.add_output()->set_name("r");
    auto& otherwise = graph_in(net.last(), "else_branch");
    node_in(otherwise, "NonMaxSuppression", {doubled}, "r");
    otherwise.add_output()->set_name("r");
    net.output(net.op("Exp", {y}));
    if (rank == 4) {
      EXPECT_EQ(layers_of(read_constants(net)), (Layers{"Sum", "Neg", "Exp"}));
    } else {
      expect_error([&] { read_constants(net); }, {"NonMaxSuppression"});
    }
  }
}

// Each iteration multiplies the state and keeps it: 1, 3, 9, 27, until the state passes 20.
TEST(Constants, IterationsOfALoopAreReadOneAfterTheOther) {
  Net net({1});
  net.integers("many", {100}).clear_dims();
  const std::string y = net.op("Loop", {"many", "", net.constant({1}, {1})});
  net.last().add_output("all");
  auto& body = graph_in(net.last(), "body");
  for (const char* name : {"i", "on", "state"}) body.add_input()->set_name(name);
  auto& three = *body.add_initializer();
  three.set_name("three"), three.set_data_type(proto::TensorProto::FLOAT), three.add_float_data(3);
  auto& twenty = *body.add_initializer();
  twenty.set_name("twenty"), twenty.set_data_type(proto::TensorProto::FLOAT),
      twenty.add_float_data(20);
  node_in(body, "Mul", {"state", "three"}, "next");
  node_in(body, "Less", {"next", "twenty"}, "less");
  for (const char* name : {"less", "next", "state"}) body.add_output()->set_name(name);
  net.integers("flat", {-1});
  const std::string all = net.op("Reshape", {"all", "flat"});
  const std::string both = net.op("Concat", {y, all});
  OnnxBuilder::attribute(net.last(), "axis", 0);
  EXPECT_EQ(values_of(net, both), (Values{27, 1, 3, 9}));
}

// The same function twice, one call with its attribute, one without: LeakyRelu, then a product.
TEST(Constants, FunctionsOfTheModelAreReadWhereTheyAreCalled) {
  Net net({2});
  auto& function = *net.model.add_functions();
  function.set_name("leak"), function.set_domain("own");
  function.add_input("a"), function.add_input("b"), function.add_output("c");
  function.add_attribute("slope");
  auto& leaky = *function.add_node();
  leaky.set_op_type("LeakyRelu"), leaky.add_input("a"), leaky.add_output("t");
  auto& slope = *leaky.add_attribute();
  slope.set_name("alpha"), slope.set_ref_attr_name("slope");
  slope.set_type(proto::AttributeProto::FLOAT);
  auto& product = *function.add_node();
  product.set_op_type("Mul"), product.add_output("c");
  product.add_input("t"), product.add_input("b");
  const std::string factor = net.constant({2}, {2, 4});
  const auto call = [&](const std::string& x) {
    const std::string y = net.op("leak", {x, factor});
    net.last().set_domain("own");
    return y;
  };
  const std::string once = call(net.constant({2}, {-1, 3}));
  Net::number(net.last(), "slope", 0.5f);
  const std::string twice = call(once);  // the default of LeakyRelu, 0.01
  const std::string both = net.op("Concat", {once, twice});
  OnnxBuilder::attribute(net.last(), "axis", 0);
  net.integers("pairs", {2, 2});
  const std::string pairs = net.op("Reshape", {both, "pairs"});
  net.output(call("x"));
  expect_near(values_of(net, pairs), {-1, 12, -0.02f, 48});
  const Layers layers = layers_of(read_constants(net));
  EXPECT_EQ(std::count(layers.begin(), layers.end(), "LeakyRelu"), 1);
}

// Weights of bytes: (code - zero point) · scale, for all, by row, and by blocks of two columns.
TEST(Constants, QuantisedWeightsBecomeFp32) {
  const auto codes = [](Net& n) {
    auto& tensor = *n.graph().add_initializer();
    tensor.set_name("codes"), tensor.set_data_type(proto::TensorProto::INT8);
    tensor.add_dims(2), tensor.add_dims(3);
    for (const int code : {-128, 0, 127, 1, 2, 3}) tensor.add_int32_data(code);
  };
  Net all({1});
  codes(all);
  EXPECT_EQ(values_of(all, all.op("DequantizeLinear", {"codes", all.constant(0.5f)})),
            (Values{-64, 0, 63.5f, 0.5f, 1, 1.5f}));
  Net rows({1});
  codes(rows), rows.integers("zeros", {0, 1});
  const std::string by_row =
      rows.op("DequantizeLinear", {"codes", rows.constant({2}, {1, 10}), "zeros"});
  OnnxBuilder::attribute(rows.last(), "axis", 0);
  EXPECT_EQ(values_of(rows, by_row), (Values{-128, 0, 127, 0, 10, 20}));
  Net blocks({1});
  codes(blocks);
  const std::string by_block =
      blocks.op("DequantizeLinear", {"codes", blocks.constant({2, 2}, {1, 2, 3, 4})});
  OnnxBuilder::attribute(blocks.last(), "axis", 1);
  OnnxBuilder::attribute(blocks.last(), "block_size", 2);
  EXPECT_EQ(values_of(blocks, by_block), (Values{-128, 0, 254, 3, 6, 12}));
}

// A few bytes of a file may ask for very much.
TEST(Constants, WorkBeyondTheBudgetIsRefused) {
  Net wide({1});
  wide.integers("extents", {4096, 2048});
  const std::string one = wide.op("Expand", {wide.constant({1}, {1}), "extents"});
  wide.output(wide.op("Add", {"x", wide.op("Exp", {one})}));
  expect_error([&] { read_constants(wide); },
               {"(Exp): would make a constant of 8388608 values, more than 4194304: simplify the "
                "file, or name the input's size"});
  Net product({1});
  product.integers("rows", {2048, 1024}), product.integers("columns", {1024, 2048});
  const std::string a = product.op("Expand", {product.constant({1}, {1}), "rows"}),
                    b = product.op("Expand", {product.constant({1}, {1}), "columns"});
  product.output(product.op("Add", {"x", product.op("MatMul", {a, b})}));
  expect_error([&] { read_constants(product); },
               {"(MatMul): the constants up to it would take ",
                " operations, more than 8000000000: simplify the file"});
}

}  // namespace
}  // namespace hios::test
