// Refused nodes that have nodes inside, or whose inputs are constants: one line that names the file
// and the node.

#include <gtest/gtest.h>

#include <functional>

#include "hios/base/error.h"
#include "hios/onnx/read/import.h"
#include "support/expect_error.h"
#include "support/layers/onnx_builder.h"

namespace hios::onnx {
namespace {

using test::OnnxBuilder;
using test::small_net;

void refused(const std::function<void(OnnxBuilder&)>& spoil, const std::string& message) {
  SCOPED_TRACE(message);
  OnnxBuilder b;
  small_net(b);
  spoil(b);
  test::expect_error<InputError>([&] { import_model(b.write()); }, {"net.onnx: ", message});
}

proto::GraphProto& body_of(proto::NodeProto& node, const char* name) {
  auto& body = *node.add_attribute();
  body.set_name(name);
  body.set_type(proto::AttributeProto::GRAPH);
  return *body.mutable_g();
}

void add(proto::GraphProto& graph, const char* type, const char* input, const char* output) {
  auto& node = *graph.add_node();
  node.set_op_type(type);
  node.add_input(input);
  node.add_output(output);
}

TEST(ImportRefuses, BranchesAndIterationsThatDependOnTheInput) {
  refused([](auto& b) { b.node("If", {"y"}, "z"); },
          "node 'If_of_z' (If): its condition depends on the model's input: export the branch");
  refused([](auto& b) { b.node("Loop", {"y"}, "z"); },
          "node 'Loop_of_z' (Loop): the number of its iterations depends on the model's input: "
          "export a fixed number");
  refused([](auto& b) { b.integers("yes", {1}), b.node("If", {"yes"}, "z"); },
          "node 'If_of_z' (If): lacks its then_branch");
  refused(
      [](auto& b) {
        b.integers("times", {3});
        auto& loop = body_of(b.node("Loop", {"times"}, "z"), "body");
        for (const char* name : {"i", "on"}) loop.add_input()->set_name(name);
        add(loop, "ReduceMax", "y", "max");
        loop.add_output()->set_name("max");
      },
      "node 'Loop_of_z' (Loop): whether it goes on depends on the model's input");
}

TEST(ImportRefuses, BodiesWithoutEnd) {
  refused(
      [](auto& b) {
        b.integers("times", {INT64_MAX});
        auto& loop = body_of(b.node("Loop", {"times"}, "z"), "body");
        for (const char* name : {"i", "on"}) loop.add_input()->set_name(name);
        add(loop, "Identity", "on", "out");
        loop.add_output()->set_name("out");
      },
      "or have more than 20000 nodes or 1.0 GiB: simplify the file");
  refused(
      [](auto& b) {  // without a node
        b.integers("times", {INT64_MAX});
        auto& loop = body_of(b.node("Loop", {"times"}, "z"), "body");
        for (const char* name : {"i", "on"}) loop.add_input()->set_name(name);
        loop.add_output()->set_name("on");
      },
      "functions, branches and iterations go deeper than 50, or have more than 20000 nodes");
  refused(
      [](auto& b) {
        b.node("again", {"y"}, "z").set_domain("own");
        auto& function = *b.model.add_functions();
        function.set_name("again");
        function.set_domain("own");
        *function.add_node() = b.graph().node(1);
      },
      "the function 'again' calls itself");
}

TEST(ImportRefuses, AttributesThatAFunctionDoesNotTake) {
  refused(
      [](auto& b) {
        auto& call = b.node("all", {"y"}, "z");
        call.set_domain("own");
        OnnxBuilder::attribute(call, "slope", 1);
        auto& function = *b.model.add_functions();
        function.set_name("all");
        function.set_domain("own");
      },
      "node 'all_of_z' (all): its attribute 'slope' is not read");
}

TEST(ImportRefuses, OperatorsThatItCannotReadInBodies) {
  refused(
      [](auto& b) {
        b.node("all", {"y"}, "z").set_domain("own");
        auto& function = *b.model.add_functions();
        function.set_name("all");
        function.set_domain("own");
        function.add_node()->set_op_type("NonMaxSuppression");
      },
      "has operators that are not read: NonMaxSuppression");
  refused(
      [](auto& b) {
        b.integers("yes", {1});
        auto& branch = body_of(b.node("If", {"yes"}, "z"), "then_branch");
        add(branch, "NonMaxSuppression", "y", "boxes");
        branch.add_output()->set_name("boxes");
      },
      "has operators that are not read: NonMaxSuppression (node 'If_of_z/boxes')");
}

TEST(ImportRefuses, ConstantsThatItCannotCompute) {
  refused([](auto& b) { b.floats("one", {1}, {1}), b.node("Exp", {"one"}, "e"); },
          "node 'Exp_of_e' (Exp): computes constants, for which there are no kernels here");
  refused(
      [](auto& b) {
        b.integers("far", {0, 4}), b.node("GatherND", {"y", "far"}, "z");
      },
      "node 'GatherND_of_z' (GatherND): has an index out of range: 4 among 4 elements");
  refused(
      [](auto& b) {
        b.integers("codes", {1, 2, 3}), b.floats("scales", {2}, {1, 2});
        OnnxBuilder::attribute(b.node("DequantizeLinear", {"codes", "scales"}, "z"), "axis", 0);
      },
      "node 'DequantizeLinear_of_z' (DequantizeLinear): needs one scale, or one for each index");
  refused(
      [](auto& b) {
        b.integers("row", {1, 1 << 19});
        b.node("ConstantOfShape", {"row"}, "data");
        b.integers("zero", {0});
        b.integers("column", {1 << 21, 1});
        b.node("Expand", {"zero", "column"}, "indices");
        b.integers("all", {1 << 21, 1 << 19});
        b.node("Expand", {"data", "all"}, "updates");
        b.node("ScatterND", {"data", "indices", "updates"}, "scattered");
      },
      "(ScatterND): would make a constant of 1099511627776 values, more than 4194304");
  refused([](auto& b) { b.node("NonZero", {"y"}, "z"); },
          "node 'NonZero_of_z' (NonZero): depends on the model's input, but is only read with "
          "constants: simplify the file, or name the input's size");
}

}  // namespace
}  // namespace hios::onnx
