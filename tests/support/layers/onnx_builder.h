#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "hios/onnx/proto.h"
#include "support/programs/temporary_folder.h"

/// Small ONNX files, made in a folder of their own.
namespace hios::test {

namespace proto = onnx::proto;

class OnnxBuilder {
 public:
  OnnxBuilder() {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(13);
    graph().set_name("net");
  }

  proto::GraphProto& graph() { return *model.mutable_graph(); }

  proto::TypeProto::Tensor& input(const std::string& name, const std::vector<std::int64_t>& dims,
                                  int type = proto::TensorProto::FLOAT) {
    auto& value = *graph().add_input();
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    for (const std::int64_t extent : dims) {
      tensor.mutable_shape()->add_dim()->set_dim_value(extent);
    }
    if (dims.empty()) tensor.mutable_shape();
    return tensor;
  }

  proto::NodeProto& node(const std::string& type, const std::vector<std::string>& inputs,
                         const std::string& output) {
    auto& added = *graph().add_node();
    added.set_name(type + "_of_" + output);
    added.set_op_type(type);
    for (const std::string& name : inputs) added.add_input(name);
    added.add_output(output);
    return added;
  }

  proto::TensorProto& floats(const std::string& name, const std::vector<std::int64_t>& dims,
                             const std::vector<float>& values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(proto::TensorProto::FLOAT);
    for (const std::int64_t extent : dims) tensor.add_dims(extent);
    for (const float value : values) tensor.add_float_data(value);
    return tensor;
  }

  proto::TensorProto& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(proto::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return tensor;
  }

  void output(const std::string& name) { graph().add_output()->set_name(name); }

  static void attribute(proto::NodeProto& node, const std::string& name, std::int64_t value) {
    auto& added = *node.add_attribute();
    added.set_name(name);
    added.set_type(proto::AttributeProto::INT);
    added.set_i(value);
  }
  static void attribute(proto::NodeProto& node, const std::string& name,
                        const std::vector<std::int64_t>& values) {
    auto& added = *node.add_attribute();
    added.set_name(name);
    added.set_type(proto::AttributeProto::INTS);
    for (const std::int64_t value : values) added.add_ints(value);
  }

  std::string file() const { return (folder.path() / "net.onnx").string(); }
  std::string write() const { return write(model.SerializeAsString()); }
  std::string write(const std::string& bytes) const {
    std::ofstream(file(), std::ios::binary) << bytes;
    return file();
  }

  proto::ModelProto model;
  TemporaryFolder folder;
};

/// input (1, 3, 8, 8) → Conv of 4 channels.
inline void small_net(OnnxBuilder& b) {
  b.input("x", {1, 3, 8, 8});
  b.floats("w", {4, 3, 1, 1}, std::vector<float>(12, 0.5f));
  b.node("Conv", {"x", "w"}, "y");
  b.output("y");
}

}  // namespace hios::test
