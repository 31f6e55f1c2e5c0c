#include "support/layers/onnx_seeds.h"

#include "support/layers/onnx_builder.h"

namespace hios::test {
namespace {

using Integers = std::vector<std::int64_t>;

void convolutions(OnnxBuilder& b) {
  b.input("x", {1, 4, 6, 6});
  b.floats("w", {4, 4, 3, 3}, std::vector<float>(144, 0.1f));
  b.floats("bias", {4}, {1, 2, 3, 4});
  auto& conv = b.node("Conv", {"x", "w", "bias"}, "c");
  OnnxBuilder::attribute(conv, "pads", Integers{1, 0, 1, 2});
  OnnxBuilder::attribute(conv, "strides", Integers{2, 1});
  b.floats("one", {4}, {1, 1, 1, 1});
  b.node("BatchNormalization", {"c", "one", "one", "one", "one"}, "n");
  b.node("Sigmoid", {"n"}, "s");
  b.node("Mul", {"n", "s"}, "g");
  auto& pool = b.node("AveragePool", {"g"}, "p");
  OnnxBuilder::attribute(pool, "kernel_shape", Integers{2, 2});
  OnnxBuilder::attribute(pool, "ceil_mode", 1);
  b.output("p");
}

void moves(OnnxBuilder& b) {
  b.input("x", {1, 4, 6, 6});
  b.integers("apart", {1, 2, 2, 6, 6});
  b.integers("together", {1, 4, -1});
  b.node("Reshape", {"x", "apart"}, "five");
  OnnxBuilder::attribute(b.node("Transpose", {"five"}, "turned"), "perm", Integers{0, 2, 1, 3, 4});
  b.node("Reshape", {"turned", "together"}, "flat");
  b.integers("start", {5}), b.integers("end", {-100}), b.integers("axis", {2}),
      b.integers("step", {-2});
  b.node("Slice", {"flat", "start", "end", "axis", "step"}, "part");
  b.node("Shape", {"part"}, "shape");
  b.integers("zero", {0});
  b.node("Gather", {"shape", "zero"}, "first");
  b.integers("rest", {-1});
  OnnxBuilder::attribute(b.node("Concat", {"first", "rest"}, "wanted"), "axis", 0);
  b.node("Reshape", {"part", "wanted"}, "row");
  b.node("Softmax", {"row"}, "out");
  b.output("out");
  b.output("part");
}

void classifier(OnnxBuilder& b) {
  b.input("x", {2, 5, 3});
  b.floats("m", {3, 4}, std::vector<float>(12, 0.5f));
  b.node("MatMul", {"x", "m"}, "y");
  b.floats("shift", {4}, {1, 2, 3, 4});
  b.node("Add", {"y", "shift"}, "z");
  auto& mean = b.node("ReduceMean", {"z"}, "mean");
  OnnxBuilder::attribute(mean, "axes", Integers{1});
  OnnxBuilder::attribute(mean, "keepdims", 0);
  b.node("Erf", {"mean"}, "out");
  b.output("out");
}

proto::NodeProto& inside(proto::GraphProto& graph, const std::string& type,
                         const std::vector<std::string>& inputs, const std::string& output) {
  auto& node = *graph.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

proto::GraphProto& body(proto::NodeProto& node, const char* name) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(proto::AttributeProto::GRAPH);
  return *attribute.mutable_g();
}

/// Nodes with nodes inside, and integers that are computed while the file is read.
void bodies(OnnxBuilder& b) {
  b.input("x", {2, 3, 4});
  b.integers("three", {3}), b.integers("times", {2}), b.integers("pair", {1, 0, 2, 2});
  b.node("Shape", {"x"}, "shape");
  b.node("Size", {"shape"}, "rank");
  b.node("Equal", {"rank", "three"}, "is_three");
  auto& choice = b.node("If", {"is_three"}, "y");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& branch = body(choice, name);
    inside(branch, name[0] == 't' ? "Relu" : "Exp", {"x"}, "r");
    branch.add_output()->set_name("r");
  }
  auto& loop = b.node("Loop", {"times", "", "y"}, "z");
  loop.add_output("all");
  auto& again = body(loop, "body");
  for (const char* name : {"i", "on", "state"}) again.add_input()->set_name(name);
  inside(again, "Add", {"state", "x"}, "next");
  for (const char* name : {"on", "next", "state"}) again.add_output()->set_name(name);
  auto& function = *b.model.add_functions();
  function.set_name("twice"), function.set_domain("own");
  function.add_input("a"), function.add_output("c");
  auto& sum = *function.add_node();
  sum.set_op_type("Add"), sum.add_input("a"), sum.add_input("a"), sum.add_output("c");
  b.node("twice", {"z"}, "t").set_domain("own");
  OnnxBuilder::attribute(b.node("Gather", {"t", "pair"}, "g"), "axis", 1);
  OnnxBuilder::attribute(b.node("Softmax", {"all"}, "s"), "axis", 2);
  b.output("g");
  b.output("s");
}

}  // namespace

std::vector<std::string> onnx_seeds() {
  std::vector<std::string> seeds;
  for (const auto build : {convolutions, moves, classifier, bodies}) {
    OnnxBuilder b;
    build(b);
    seeds.push_back(b.model.SerializeAsString());
  }
  return seeds;
}

}  // namespace hios::test
