// Refused ONNX files: the error is one line that names the file and the node or tensor, and nothing
// outside the model's folder is opened.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "hios/base/error.h"
#include "hios/onnx/read/import.h"
#include "support/layers/onnx_builder.h"

namespace hios::onnx {
namespace {

using test::OnnxBuilder;
using test::small_net;
namespace fs = std::filesystem;

struct BadFile {
  const char* name;
  std::function<void(OnnxBuilder&)> spoil;
  const char* message;
};

void with_tail(OnnxBuilder& b, const std::string& type) {
  small_net(b);
  b.graph().clear_output();
  b.node(type, {"y"}, "z");
  b.output("z");
}

/// Writes the weights "w" as numbers of another type, which the message keeps as int32.
void weights_of(OnnxBuilder& b, int type) {
  small_net(b);
  auto& tensor = *b.graph().mutable_initializer(0);
  tensor.clear_float_data();
  for (int i = 0; i < 12; ++i) tensor.add_int32_data(i % 2);
  tensor.set_data_type(type);
}

void external(OnnxBuilder& b, const std::string& location) {
  small_net(b);
  auto& tensor = *b.graph().mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  auto& added = *tensor.add_external_data();
  added.set_key("location");
  added.set_value(location);
}

const std::vector<BadFile>& bad_files() {
  static const std::vector<BadFile> all = {
      {"UnknownOperator", [](auto& b) { with_tail(b, "NonMaxSuppression"); },
       "has operators that are not read: NonMaxSuppression (node 'NonMaxSuppression_of_z'); cut "
       "the "
       "file before NonMaxSuppression, with its boxes and scores as outputs"},
      {"CustomDomain",
       [](auto& b) {
         with_tail(b, "Relu");
         b.graph().mutable_node(1)->set_domain("com.example");
       },
       "com.example.Relu"},
      {"Recurrent", [](auto& b) { with_tail(b, "RNN"); }, "not read: RNN"},
      {"Quantised", [](auto& b) { with_tail(b, "QuantizeLinear"); }, "not read: QuantizeLinear"},
      {"SecondInputOfTexts",
       [](auto& b) { small_net(b), b.input("x2", {1}, proto::TensorProto::STRING); },
       "the input 'x2' holds STRING; floating-point numbers, integers and truth values are read"},
      {"NoInput", [](auto& b) { small_net(b), b.graph().clear_input(); }, "has no input"},
      {"SigmoidOfIntegers",
       [](auto& b) {
         b.input("x", {1, 3}, proto::TensorProto::INT64);
         b.node("Sigmoid", {"x"}, "y");
         b.output("y");
       },
       "takes integers, where ONNX allows floating-point numbers only"},
      {"NegativeExtent",
       [](auto& b) {
         b.input("x", {1, -3}), b.node("Relu", {"x"}, "y"), b.output("y");
       },
       "has an extent of -3"},
      {"ZeroExtent",
       [](auto& b) {
         b.input("x", {1, 0}), b.node("Relu", {"x"}, "y"), b.output("y");
       },
       "has an extent of 0"},
      {"HugeExtent",
       [](auto& b) {
         b.input("x", {1, std::int64_t{1} << 62}), b.node("Relu", {"x"}, "y"), b.output("y");
       },
       "cannot be"},
      {"MissingValue", [](auto& b) { small_net(b), b.node("Relu", {"nowhere"}, "z"); },
       "node 'Relu_of_z' (Relu): reads 'nowhere', which no node before it computes"},
      {"Cycle",
       [](auto& b) {
         small_net(b);
         b.node("Add", {"y", "q"}, "p");
         b.node("Relu", {"p"}, "q");
       },
       "reads 'q', which no node before it computes"},
      {"ComputedTwice", [](auto& b) { small_net(b), b.node("Relu", {"x"}, "y"); },
       "the value 'y' is computed twice"},
      {"ComputedAgainAfterItsLastUse",
       [](auto& b) {
         small_net(b);
         b.node("Relu", {"y"}, "z");
         b.node("Relu", {"z"}, "w");
       },
       "the value 'w' is computed twice"},
      {"NoOutput", [](auto& b) { small_net(b), b.graph().clear_output(); }, "has no output"},
      {"OutputOfNothing", [](auto& b) { small_net(b), b.output("z"); },
       "the output 'z' is computed by no node"},
      {"FewValues", [](auto& b) { small_net(b), b.graph().mutable_initializer(0)->add_dims(2); },
       "tensor 'w' has 12 values where its dimensions say 24"},
      {"NegativeDims",
       [](auto& b) { small_net(b), b.graph().mutable_initializer(0)->set_dims(0, -4); },
       "tensor 'w' an extent of -4 cannot be"},
      {"HugeDims",
       [](auto& b) {
         small_net(b);
         b.graph().mutable_initializer(0)->set_dims(0, 2147483647);
         b.graph().mutable_initializer(0)->set_dims(1, 2147483647);
       },
       "more than 2^40 values"},
      {"RawDataTooShort",
       [](auto& b) {
         small_net(b);
         b.graph().mutable_initializer(0)->clear_float_data();
         b.graph().mutable_initializer(0)->set_raw_data("abcd");
       },
       "has 4 bytes for 12 values of 4"},
      {"Strings",
       [](auto& b) {
         small_net(b);
         b.graph().mutable_initializer(0)->set_data_type(proto::TensorProto::STRING);
       },
       "holds STRING"},
      {"WeightsOfBytes", [](auto& b) { weights_of(b, proto::TensorProto::INT8); },
       "node 'Conv_of_y' (Conv): needs floating-point numbers where tensor 'w' holds INT8"},
      {"WeightsOfUnsignedBytes", [](auto& b) { weights_of(b, proto::TensorProto::UINT8); },
       "where tensor 'w' holds UINT8"},
      {"WeightsOfIntegers", [](auto& b) { weights_of(b, proto::TensorProto::INT32); },
       "where tensor 'w' holds INT32"},
      {"WeightsOfTruthValues", [](auto& b) { weights_of(b, proto::TensorProto::BOOL); },
       "where tensor 'w' holds BOOL"},
      {"WeightsOfAConstantNode",
       [](auto& b) {
         small_net(b);
         b.node("Flatten", {"y"}, "row");
         auto& value = *b.node("Constant", {}, "m").add_attribute();
         value.set_name("value");
         value.set_type(proto::AttributeProto::TENSOR);
         value.mutable_t()->set_data_type(proto::TensorProto::INT8);
         value.mutable_t()->add_dims(256), value.mutable_t()->add_dims(1);
         value.mutable_t()->set_raw_data(std::string(256, '\1'));
         b.node("MatMul", {"row", "m"}, "product");
       },
       "node 'MatMul_of_product' (MatMul): needs floating-point numbers where tensor 'm' holds "
       "INT8"},
      {"BiasOfIntegers",
       [](auto& b) {
         small_net(b);
         b.integers("bias", {1, 2, 3, 4});
         b.graph().mutable_node(0)->add_input("bias");
       },
       "node 'Conv_of_y' (Conv): needs floating-point numbers where tensor 'bias' holds INT64"},
      {"SumWithIntegers",
       [](auto& b) {
         small_net(b), b.integers("one", {1}), b.node("Add", {"y", "one"}, "z");
       },
       "node 'Add_of_z' (Add): needs floating-point numbers where tensor 'one' holds INT64"},
      {"FoldedIntegers",
       [](auto& b) {
         small_net(b), b.integers("one", {1});
         b.node("Add", {"one", "one"}, "two"), b.node("Mul", {"y", "two"}, "z");
       },
       "node 'Mul_of_z' (Mul): needs floating-point numbers where a folded constant holds "
       "integers"},
      {"BoundOfIntegers",
       [](auto& b) {
         small_net(b), b.integers("low", {0}), b.node("Clip", {"y", "low"}, "z");
       },
       "where tensor 'low' holds INT64"},
      {"ScaledIntegers",
       [](auto& b) {
         small_net(b), b.integers("codes", {1, 2}), b.floats("scale", {1}, {0.5f});
         b.node("Mul", {"codes", "scale"}, "z");
       },
       "node 'Mul_of_z' (Mul): combines integers with floating-point numbers"},
      {"ChosenIntegers",
       [](auto& b) {
         small_net(b), b.integers("codes", {1, 2}), b.floats("scale", {1}, {0.5f});
         b.node("Where", {"codes", "codes", "scale"}, "z");
       },
       "node 'Where_of_z' (Where): combines integers with floating-point numbers"},
      {"IndexBeforeTheFirst",
       [](auto& b) {
         small_net(b), b.integers("five_from_the_end", {-5});
         OnnxBuilder::attribute(b.node("Gather", {"y", "five_from_the_end"}, "z"), "axis", 1);
       },
       "node 'Gather_of_z' (Gather): has an index out of range"},
      {"OtherWeights",
       [](auto& b) {
         small_net(b), b.graph().mutable_initializer(0)->set_dims(1, 1),
             b.graph().mutable_initializer(0)->set_dims(0, 12);
       },
       "its weights are for 1 channels"},
      {"OldOpset", [](auto& b) { small_net(b), b.model.mutable_opset_import(0)->set_version(6); },
       "opset 6; opsets 7 to 28 are read"},
      {"NewOpset", [](auto& b) { small_net(b), b.model.mutable_opset_import(0)->set_version(99); },
       "opset 99"},
      {"AttributeOfAnotherType",
       [](auto& b) {
         small_net(b);
         OnnxBuilder::attribute(*b.graph().mutable_node(0), "strides", 1);
       },
       "its attribute strides is of another type"},
      {"StrideOfZero",
       [](auto& b) {
         small_net(b);
         OnnxBuilder::attribute(*b.graph().mutable_node(0), "strides",
                                std::vector<std::int64_t>{0, 1});
       },
       "its strides must be 2 numbers of at least 1"},
      {"FoldedTooFar",
       [](auto& b) {
         small_net(b);
         b.integers("far", {1 << 20, 1 << 20});
         b.node("ConstantOfShape", {"far"}, "zeros");
         b.node("Add", {"zeros", "zeros"}, "more");
       },
       "would make a constant of 1099511627776 values, more than 4194304: simplify the file, or "
       "name "
       "the input's size"},
      {"RangeOfTooMany",
       [](auto& b) {
         small_net(b);
         b.integers("zero", {0}), b.integers("one", {1}), b.integers("end", {INT64_MAX});
         b.node("Range", {"zero", "end", "one"}, "all");
       },
       "would make too many values"},
      {"DataFromTheRoot", [](auto& b) { external(b, "/etc/passwd"); },
       "lies outside the model's folder"},
      {"DataAbove", [](auto& b) { external(b, "data/../../secret"); },
       "lies outside the model's folder"},
      {"DataAfterAZeroByte", [](auto& b) { external(b, std::string("..\0/..\0/etc/passwd", 19)); },
       "lies outside the model's folder"},
      {"ConcatOfOthers",
       [](auto& b) {
         small_net(b);
         b.floats("narrow", {1, 2}, {1, 2}), b.floats("wide", {1, 4}, {1, 2, 3, 4});
         OnnxBuilder::attribute(b.node("Concat", {"narrow", "wide"}, "both"), "axis", 0);
       },
       "joins constants of different extents"},
      {"ConcatOfNothing",
       [](auto& b) {
         small_net(b);
         b.integers("zero", {0});
         b.node("Slice", {"y", "zero", "zero"}, "none");
         OnnxBuilder::attribute(b.node("Concat", {"none", "none"}, "both"), "axis", 0);
       },
       "joins nothing that is computed"},
      {"ProductOfScalars",
       [](auto& b) {
         small_net(b);
         OnnxBuilder::attribute(b.node("ReduceSum", {"y"}, "sum"), "keepdims", 0);
         b.node("MatMul", {"sum", "sum"}, "product");
       },
       "multiplies a scalar"},
      {"SplitIntoNothing",
       [](auto& b) {
         small_net(b);
         b.node("Split", {"y"}, "part").clear_output();
       },
       "has no output"},
      {"PadsOutOfRange",
       [](auto& b) {
         small_net(b);
         b.integers("pads", {0, 0, INT64_MIN, 0, 0, 0, INT64_MIN, 0});
         b.node("Pad", {"y", "pads"}, "padded");
       },
       "has pads that cannot be"},
      {"ManyFoldedConstants",
       [](auto& b) {
         small_net(b);
         b.integers("zero", {0}), b.integers("one", {1}), b.integers("end", {1 << 22});
         for (int i = 0; i < 5; ++i)
           b.node("Range", {"zero", "end", "one"}, "r" + std::to_string(i));
       },
       "is one folded constant too many"},
      {"ScaleOfMoreDimensions",
       [](auto& b) {
         small_net(b);
         b.floats("scale", {1, 1, 1, 1, 1, 8}, std::vector<float>(8, 1));
         b.node("LayerNormalization", {"y", "scale"}, "n");
       },
       "more dimensions than its input"},
      {"InTraining",
       [](auto& b) {
         small_net(b);
         b.floats("one", {4}, {1, 1, 1, 1});
         b.node("BatchNormalization", {"y", "one", "one", "one", "one"}, "n").add_output("m");
       },
       "is in training mode"},
      {"BatchNormalizationWithoutVariance",
       [](auto& b) {
         small_net(b);
         b.floats("one", {4}, {1, 1, 1, 1});
         b.node("BatchNormalization", {"y", "one", "one", "one", ""}, "n");
       },
       "lacks its input 5"},
      {"DataMissing", [](auto& b) { external(b, "nowhere.bin"); }, "is absent: put it"},
      {"DataFolderMissing", [](auto& b) { external(b, "no/w.bin"); }, "is absent: put it"},
      {"DataByLink",
       [](auto& b) {
         external(b, "link.bin");
         fs::create_symlink("/etc/passwd", b.folder / "link.bin");
       },
       "cannot be opened (links are not followed)"},
      {"DataByLinkedFolder",
       [](auto& b) {
         external(b, "out/passwd");
         fs::create_directory_symlink("/etc", b.folder / "out");
       },
       "cannot be opened (links are not followed)"},
      {"DataInAPipe",
       [](auto& b) {
         external(b, "pipe");
         mkfifo((b.folder / "pipe").c_str(), 0600);
       },
       "is not in a regular file"},
      {"DataTooShort",
       [](auto& b) {
         external(b, "short.bin");
         std::ofstream(b.folder / "short.bin") << "abc";
       },
       "ends too early"},
      {"DataPastTheEnd",
       [](auto& b) {
         external(b, "short.bin");
         auto& added = *b.graph().mutable_initializer(0)->add_external_data();
         added.set_key("offset");
         added.set_value("999999999999999999");
         std::ofstream(b.folder / "short.bin") << std::string(48, 'a');
       },
       "ends too early"},
  };
  return all;
}

TEST(ImportRefuses, NodesThatItCannotRead) {
  for (const BadFile& bad : bad_files()) {
    SCOPED_TRACE(bad.name);
    OnnxBuilder b;
    bad.spoil(b);
    const std::string file = b.write();
    try {
      import_model(file);
      ADD_FAILURE() << "was read";
    } catch (const InputError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("net.onnx: "), std::string::npos) << text;
      EXPECT_NE(text.find(bad.message), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(ImportRefuses, FilesThatAreNone) {
  OnnxBuilder b;
  small_net(b);
  const std::string whole = b.model.SerializeAsString();
  std::vector<std::string> bad = {"", "noise \x01\x02\xff", whole.substr(0, whole.size() / 2),
                                  std::string(100'000, '\x0a')};
  // Graphs in attributes of nodes of graphs, a thousand levels deep.
  proto::GraphProto deep;
  for (int i = 0; i < 1000; ++i) {
    proto::GraphProto around;
    auto& attribute = *around.add_node()->add_attribute();
    attribute.mutable_g()->Swap(&deep);
    around.Swap(&deep);
  }
  proto::ModelProto model;
  model.mutable_graph()->Swap(&deep);
  bad.push_back(model.SerializeAsString());
  for (const std::string& bytes : bad) {
    EXPECT_THROW(import_model(b.write(bytes)), InputError) << bytes.size();
  }
  EXPECT_THROW(import_model(b.folder.path()), InputError);
  EXPECT_THROW(import_model(b.folder / "nowhere.onnx"), InputError);
  ReadLimits small;
  small.max_weights_bytes = 10;
  EXPECT_THROW(import_model(b.write(whole),
                            {.batch = {}, .height = {}, .width = {}, .dims = {}, .limits = small}),
               InputError);
}

}  // namespace
}  // namespace hios::onnx
