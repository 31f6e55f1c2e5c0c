// Attributes of nodes: each is read, declared as one that changes nothing, or refused by node and
// name. A handler that reads an attribute that its row does not declare throws std::logic_error,
// here and in every other test that reads such a node.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "hios/base/error.h"
#include "hios/onnx/operators/registry.h"
#include "hios/onnx/read/import.h"
#include "support/expect_error.h"
#include "support/layers/onnx_builder.h"

namespace hios::onnx {
namespace {

using test::expect_error;
using test::OnnxBuilder;
using test::small_net;

void number(proto::NodeProto& node, const char* name, float value) {
  proto::AttributeProto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(proto::AttributeProto::FLOAT);
  added.set_f(value);
}

void text(proto::NodeProto& node, const char* name, const std::string& value) {
  proto::AttributeProto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(proto::AttributeProto::STRING);
  added.set_s(value);
}

TEST(Attributes, AnUnknownOneOfAnyOperatorIsRefusedByName) {
  for (const std::string& type : known_operators()) {
    SCOPED_TRACE(type);
    OnnxBuilder b;
    small_net(b);
    OnnxBuilder::attribute(b.node(type, {"y"}, "z"), "foo", 3);
    expect_error(
        [&] { import_model(b.write()); },
        {"node '" + type + "_of_z' (" + type + "): its attribute 'foo' is not read", "net.onnx: "});
  }
}

TEST(Attributes, WrongOnesAreRefused) {
  const auto refused = [](auto&& spoil, const std::string& message) {
    OnnxBuilder b;
    small_net(b);
    spoil(b, *b.graph().mutable_node(0));
    expect_error([&] { import_model(b.write()); }, {message});
  };
  refused([](auto&, auto& conv) { number(conv, "bias_scale", 2); },
          "node 'Conv_of_y' (Conv): its attribute 'bias_scale' is not read");
  refused(
      [](auto&, auto& conv) {
        OnnxBuilder::attribute(conv, "group", 1), OnnxBuilder::attribute(conv, "group", 2);
      },
      "its attribute 'group' is there twice");
  refused([](auto&, auto& conv) { OnnxBuilder::attribute(conv, "\x1b[2J", 1); },
          "its attribute '\\u001b[2J' is not read");
  refused(
      [](auto& b, auto&) {
        b.floats("one", {4}, {1, 1, 1, 1});
        OnnxBuilder::attribute(b.node("BatchNormalization", {"y", "one", "one", "one", "one"}, "n"),
                               "spatial", 0);
      },
      "its attribute 'spatial' is read as 1 only where there are pixels");
  refused(
      [](auto& b, auto&) { OnnxBuilder::attribute(b.node("Relu", {"y"}, "z"), "broadcast", 1); },
      "(Relu): its attribute 'broadcast' is not read");
  refused(
      [](auto& b, auto&) {
        OnnxBuilder::attribute(b.node("Add", {"y", "y"}, "z"), "axis", 1);
      },
      "(Add): its attribute 'axis' is not read");
  refused([](auto& b, auto&) { text(b.node("Gelu", {"y"}, "z"), "approximate", "cubic"); },
          "(Gelu): its approximation 'cubic' is not computed");
  refused(
      [](auto& b, auto&) {
        b.floats("scales", {4}, {1, 1, 1.3f, 1.3f});  // 10.4 pixels
        proto::NodeProto& node = b.node("Resize", {"y", "", "scales"}, "z");
        text(node, "coordinate_transformation_mode", "align_corners");
        text(node, "mode", "linear");
      },
      "aligns the corners of an extent that is no whole number");
  for (const char* type : {"DepthToSpace", "SpaceToDepth"}) {
    refused(
        [&](auto& b, auto&) {
          proto::NodeProto& node = b.node(type, {"y"}, "z");
          OnnxBuilder::attribute(node, "blocksize", 2);
          text(node, "mode", "RCD");
        },
        "its mode 'RCD' is not computed");
  }
  refused(
      [](auto& b, auto&) {
        proto::NodeProto& node = b.node("Split", {"y"}, "first");
        node.add_output("second");
        OnnxBuilder::attribute(node, "num_outputs", 4);
      },
      "its num_outputs is not the number of its outputs, 2");
}

TEST(Attributes, HarmlessOnesAreAccepted) {
  OnnxBuilder b;
  small_net(b);
  b.graph().clear_output();
  proto::NodeProto& conv = *b.graph().mutable_node(0);
  text(conv, "auto_pad", "NOTSET");
  text(conv, "__note", "of a tool");
  b.floats("one", {4}, {1, 1, 1, 1});
  proto::NodeProto& norm = b.node("BatchNormalization", {"y", "one", "one", "one", "one"}, "n");
  number(norm, "momentum", 0.3f);
  OnnxBuilder::attribute(norm, "spatial", 1);
  OnnxBuilder::attribute(norm, "training_mode", 0);
  proto::NodeProto& pool = b.node("MaxPool", {"n"}, "p");
  OnnxBuilder::attribute(pool, "kernel_shape", std::vector<std::int64_t>{2, 2});
  OnnxBuilder::attribute(pool, "storage_order", 1);
  proto::NodeProto& dropout = b.node("Dropout", {"p"}, "d");
  number(dropout, "ratio", 0.4f);
  OnnxBuilder::attribute(dropout, "seed", 7);
  proto::NodeProto& cast = b.node("Cast", {"d"}, "f");
  OnnxBuilder::attribute(cast, "to", proto::TensorProto::FLOAT);
  OnnxBuilder::attribute(cast, "saturate", 0);
  b.integers("sizes", {1, 4, 3, 3});
  proto::NodeProto& resize = b.node("Resize", {"f", "", "", "sizes"}, "r");
  number(resize, "extrapolation_value", 10);
  OnnxBuilder::attribute(resize, "antialias", 0);
  text(resize, "keep_aspect_ratio_policy", "stretch");
  OnnxBuilder::attribute(b.node("LayerNormalization", {"r"}, "l"), "stash_type", 1);
  b.node("Flatten", {"l"}, "row");
  b.floats("m", {36, 2}, std::vector<float>(72, 0.5f));
  OnnxBuilder::attribute(b.node("Gemm", {"row", "m"}, "out"), "broadcast", 1);
  b.output("out");
  EXPECT_EQ(import_model(b.write()).layers().size(), 6u) << "one of them moves values";
}

/// The attributes of ONNX 1.23 in opsets 7 to 28, without those of constants that are no numbers
/// (sparse_value, value_string, value_strings).
const std::map<std::string, std::vector<std::string>>& specification() {
  using List = std::vector<std::string>;
  static const List kReduce = {"axes", "keepdims", "noop_with_empty_axes"};
  static const List kConv = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};
  static const std::map<std::string, List> all = {
      {"Attention",
       {"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap",
        "softmax_precision"}},
      {"ArgMax", {"axis", "keepdims", "select_last_index"}},
      {"ArgMin", {"axis", "keepdims", "select_last_index"}},
      {"AveragePool",
       {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads",
        "strides"}},
      {"BatchNormalization", {"epsilon", "momentum", "spatial", "training_mode"}},
      {"Cast", {"round_mode", "saturate", "to"}},
      {"CastLike", {"round_mode", "saturate"}},
      {"Celu", {"alpha"}},
      {"Clip", {"max", "min"}},
      {"Col2Im", {"dilations", "pads", "strides"}},
      {"Concat", {"axis"}},
      {"Constant", {"value", "value_float", "value_floats", "value_int", "value_ints"}},
      {"ConstantOfShape", {"value"}},
      {"Conv", kConv},
      {"ConvTranspose",
       {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads",
        "strides"}},
      {"CumSum", {"exclusive", "reverse"}},
      {"DepthToSpace", {"blocksize", "mode"}},
      {"DequantizeLinear", {"axis", "block_size", "output_dtype"}},
      {"Dropout", {"ratio", "seed"}},
      {"Einsum", {"equation"}},
      {"Elu", {"alpha"}},
      {"Flatten", {"axis"}},
      {"GRU",
       {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
        "layout", "linear_before_reset"}},
      {"Gather", {"axis"}},
      {"GatherElements", {"axis"}},
      {"GatherND", {"batch_dims"}},
      {"Gelu", {"approximate"}},
      {"Gemm", {"alpha", "beta", "transA", "transB"}},
      {"GridSample", {"align_corners", "mode", "padding_mode"}},
      {"GroupNormalization", {"epsilon", "num_groups", "stash_type"}},
      {"HardSigmoid", {"alpha", "beta"}},
      {"If", {"else_branch", "then_branch"}},
      {"InstanceNormalization", {"epsilon"}},
      {"IsInf", {"detect_negative", "detect_positive"}},
      {"LRN", {"alpha", "beta", "bias", "size"}},
      {"LSTM",
       {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
        "input_forget", "layout"}},
      {"LayerNormalization", {"axis", "epsilon", "stash_type"}},
      {"LeakyRelu", {"alpha"}},
      {"LogSoftmax", {"axis"}},
      {"MaxPool",
       {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"}},
      {"MaxUnpool", {"kernel_shape", "pads", "strides"}},
      {"Loop", {"body"}},
      {"Mod", {"fmod"}},
      {"Pad", {"mode", "pads", "value"}},
      {"RMSNormalization", {"axis", "epsilon", "stash_type"}},
      {"Range", {"stash_type"}},
      {"ReduceL1", kReduce},
      {"ReduceL2", kReduce},
      {"ReduceLogSum", kReduce},
      {"ReduceLogSumExp", kReduce},
      {"ReduceMax", kReduce},
      {"ReduceMean", kReduce},
      {"ReduceMin", kReduce},
      {"ReduceProd", kReduce},
      {"ReduceSum", kReduce},
      {"ReduceSumSquare", kReduce},
      {"Reshape", {"allowzero"}},
      {"Resize",
       {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside",
        "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"}},
      {"RotaryEmbedding", {"interleaved", "num_heads", "rotary_embedding_dim"}},
      {"ScatterElements", {"axis", "reduction"}},
      {"ScatterND", {"reduction"}},
      {"Selu", {"alpha", "gamma"}},
      {"Shape", {"end", "start"}},
      {"Slice", {"axes", "ends", "starts"}},
      {"Softmax", {"axis"}},
      {"SpaceToDepth", {"blocksize", "mode"}},
      {"Split", {"axis", "num_outputs", "split"}},
      {"Squeeze", {"axes"}},
      {"Swish", {"alpha"}},
      {"ThresholdedRelu", {"alpha"}},
      {"TopK", {"axis", "largest", "sorted"}},
      {"Transpose", {"perm"}},
      {"Unsqueeze", {"axes"}},
      {"Trilu", {"upper"}},
      {"Upsample", {"mode", "scales"}},
  };
  return all;
}

TEST(Attributes, SpecifiedOnesAreDeclared) {
  for (const auto& [type, names] : specification()) {
    const Operator* row = find_operator(type);
    ASSERT_NE(row, nullptr) << type;
    for (const std::string& name : names) {
      const bool declared =
          row->attributes.reads(name) || row->attributes.find_unread(name) != nullptr;
      EXPECT_TRUE(declared) << type << " " << name;
    }
  }
}

/// Adds the attributes without which an operator computes nothing.
void add_needed(proto::NodeProto& node) {
  static const std::map<std::string, std::pair<const char*, std::int64_t>> kNeeded = {
      {"Cast", {"to", proto::TensorProto::FLOAT}},
      {"Concat", {"axis", 1}},
      {"Constant", {"value_int", 3}},
      {"DepthToSpace", {"blocksize", 2}},
      {"GroupNormalization", {"num_groups", 2}},
      {"LRN", {"size", 3}},
      {"SpaceToDepth", {"blocksize", 2}}};
  const std::string& type = node.op_type();
  if (type == "MaxPool" || type == "AveragePool") {
    OnnxBuilder::attribute(node, "kernel_shape", std::vector<std::int64_t>{2, 2});
  }
  if (type == "MaxUnpool")
    OnnxBuilder::attribute(node, "kernel_shape", std::vector<std::int64_t>{1, 1});
  if (type == "Einsum") text(node, "equation", "abcd->ab");
  if (type == "Attention") {
    for (const char* name : {"q_num_heads", "kv_num_heads"}) OnnxBuilder::attribute(node, name, 2);
  }
  for (const char* name : {"then_branch", "else_branch", "body"}) {
    if (type != (name[0] == 'b' ? "Loop" : "If")) continue;
    auto& graph = *node.add_attribute();
    graph.set_name(name), graph.set_type(proto::AttributeProto::GRAPH);
    if (type == "Loop") {
      for (const char* input : {"i", "on"}) graph.mutable_g()->add_input()->set_name(input);
    }
    auto& inside = *graph.mutable_g()->add_node();
    inside.set_op_type("Identity"), inside.add_output("inside");
    inside.add_input(type == "Loop" ? "on" : "y");
    for (int i = 0; i < (type == "Loop" ? 2 : 1); ++i)
      graph.mutable_g()->add_output()->set_name("inside");
  }
  const auto needed = kNeeded.find(type);
  if (needed != kNeeded.end()) {
    OnnxBuilder::attribute(node, needed->second.first, needed->second.second);
  }
}

/// The inputs that the operators' handlers take: the computed "y" of 1x4x8x8, and constants.
const std::vector<std::vector<std::string>>& input_lists() {
  static const std::vector<std::vector<std::string>> all = {
      {},
      {"y"},
      {"y", "y"},
      {"y", "filter"},
      {"y", "channels", "channels"},
      {"y", "channels", "channels", "channels", "channels"},
      {"y", "extents"},
      {"y", "axis"},
      {"y", "axis", "axis", "axis", "axis"},
      {"y", "grow"},
      {"y", "", "grow"},
      {"y", "pads"},
      {"row", "matrix"},
      {"extents"},
      {"extents", "extents"},
      {"channels"},
      {"channels", "channels"},
      {"channels", "channels", "channels"},
      {"scalar", "scalar", "scalar"},
      {"channels", "index", "scalars"},
      {"matrix"},
      {"matrix", "axis"},
      {"extents", "scalar"},
      {"y", "tuple"},
      {"y", "everywhere"},
      {"y", "everywhere", "updates"},
      {"row3", "square", "unit"},
      {"y", "angles", "angles"},
      {"y", "grid"},
      {"y", "places"},
      {"row3", "of_inputs", "of_three"},
      {"row3", "of_inputs", "of_four"},
      {"row3", "row3", "row3"},
      {"index"},
      {"index", "index"}};
  return all;
}

/// A network with the values of input_lists().
void values(OnnxBuilder& b) {
  small_net(b);
  b.node("Flatten", {"y"}, "row");
  OnnxBuilder::attribute(b.node("Cast", {"y"}, "places"), "to", proto::TensorProto::INT64);
  b.floats("filter", {4, 4, 3, 3}, std::vector<float>(144, 0.1f));
  b.floats("matrix", {256, 2}, std::vector<float>(512, 0.1f));
  b.floats("channels", {4}, {1, 2, 3, 4});
  b.floats("grow", {4}, {1, 1, 2, 2});
  b.floats("scalar", {}, {2});
  b.floats("scalars", {1}, {2});
  b.integers("extents", {1, 4, 8, 8});
  b.integers("axis", {1});
  b.integers("index", {2});
  b.integers("tuple", {0, 1});
  b.integers("everywhere", {0, 0, 0, 0}).clear_dims();
  for (int i = 0; i < 4; ++i)
    b.graph().mutable_initializer(b.graph().initializer_size() - 1)->add_dims(i == 3 ? 4 : 1);
  b.floats("updates", {1, 1, 1, 4}, {1, 2, 3, 4});
  b.floats("of_inputs", {1, 12, 64}, std::vector<float>(768, 0.1f));
  b.floats("of_three", {1, 12, 3}, std::vector<float>(36, 0.1f));
  b.floats("of_four", {1, 12, 4}, std::vector<float>(48, 0.1f));
  b.floats("angles", {1, 8, 4}, std::vector<float>(32, 0.1f));
  b.floats("grid", {1, 2, 3, 2}, std::vector<float>(12, 0.1f));
  b.integers("square", {8, 8});
  b.integers("unit", {1, 1});
  b.integers("heads", {1, 4, 64});
  b.node("Reshape", {"y", "heads"}, "row3");
  b.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
}

// Each handler is reached in opsets in which its attributes differ, so that a read of an undeclared
// one shows.
TEST(Attributes, HandlersReadDeclaredOnesOnly) {
  OnnxBuilder b;
  values(b);
  const proto::ModelProto without = b.model;
  std::set<std::string> all, read;
  for (const std::string& type : known_operators()) {
    all.insert(type);
    for (const std::int64_t opset : {10, 13, 28}) {
      for (const auto& inputs : input_lists()) {
        b.model = without;
        b.model.mutable_opset_import(0)->set_version(opset);
        add_needed(b.node(type, inputs, "z"));
        try {
          import_model(b.write());
          read.insert(type);
        } catch (const InputError&) {  // these inputs are not this operator's
        } catch (const std::logic_error& error) {
          ADD_FAILURE() << type << ", opset " << opset << ", inputs "
                        << testing::PrintToString(inputs) << ": " << error.what();
        }
      }
    }
  }
  EXPECT_EQ(read, all) << "no handler of the others ran to its end";
}

}  // namespace
}  // namespace hios::onnx
