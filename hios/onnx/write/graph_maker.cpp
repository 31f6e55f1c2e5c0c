#include "hios/onnx/write/graph_maker.h"

namespace hios::onnx {
namespace {

/// Returns the extents in the order of memory.
std::vector<std::int64_t> memory_dims(const Shape& shape) {
  return {shape.n, shape.h, shape.w, shape.c};
}

Shape shape_of_image(const std::vector<std::int64_t>& dims) {
  return {dims[0], dims[1], dims[2], dims[3]};
}

/// Returns the name, with a number appended if it is taken, and adds it to the taken ones.
std::string added_to(std::unordered_set<std::string>& taken, const std::string& name) {
  std::string result = name;
  for (int i = 2; !taken.insert(result).second; ++i) result = name + "_" + std::to_string(i);
  return result;
}

const std::vector<std::int64_t> kToMemory = {0, 2, 3, 1}, kFromMemory = {0, 3, 1, 2};

}  // namespace

proto::AttributeProto& NodeMaker::add(const char* name, proto::AttributeProto::AttributeType type) {
  proto::AttributeProto& attribute = *node_.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

NodeMaker& NodeMaker::set(const char* name, std::int64_t value) {
  add(name, proto::AttributeProto::INT).set_i(value);
  return *this;
}

NodeMaker& NodeMaker::set(const char* name, const std::vector<std::int64_t>& values) {
  proto::AttributeProto& attribute = add(name, proto::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
  return *this;
}

NodeMaker& NodeMaker::output(const std::string& name) {
  node_.add_output(name);
  return *this;
}

NodeMaker& NodeMaker::set(const char* name, float value) {
  add(name, proto::AttributeProto::FLOAT).set_f(value);
  return *this;
}

NodeMaker& NodeMaker::set(const char* name, std::string_view text) {
  add(name, proto::AttributeProto::STRING).set_s(std::string(text));
  return *this;
}

std::string GraphMaker::fresh(const std::string& name) { return added_to(taken_, name); }

NodeMaker GraphMaker::node(std::string_view type, const std::string& name,
                           const std::vector<std::string>& inputs, const std::string& output) {
  proto::NodeProto& added = *graph_.add_node();
  added.set_op_type(std::string(type));
  added.set_name(added_to(nodes_, name));
  for (const std::string& input : inputs) added.add_input(input);
  added.add_output(output);
  return NodeMaker(added);
}

std::string GraphMaker::helper(std::string_view type, const std::string& name,
                               const std::vector<std::string>& inputs) {
  const std::string output = fresh(name);
  node(type, output, inputs, output);
  return output;
}

std::string GraphMaker::floats(const std::string& name, const std::vector<std::int64_t>& dims,
                               std::span<const float> values) {
  proto::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(fresh(name));
  tensor.set_data_type(proto::TensorProto::FLOAT);
  for (const std::int64_t extent : dims) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size_bytes());
  return tensor.name();
}

std::string GraphMaker::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  proto::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(fresh(name));
  tensor.set_data_type(proto::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return tensor.name();
}

std::string GraphMaker::transposed(const std::string& value,
                                   const std::vector<std::int64_t>& axes) {
  const std::string output = fresh(value + "_transposed");
  node("Transpose", output, {value}, output).set("perm", axes);
  return output;
}

std::string GraphMaker::reshaped(const std::string& value, const std::vector<std::int64_t>& dims) {
  return helper("Reshape", value + "_reshaped", {value, integers(value + "_dims", dims)});
}

std::string GraphMaker::read_as(const std::string& value, const Shape& own, const Shape& wanted) {
  if (own == wanted) return value;
  return transposed(reshaped(transposed(value, kToMemory), memory_dims(wanted)), kFromMemory);
}

std::string GraphMaker::from_dims(const std::string& value, const std::vector<std::int64_t>& dims,
                                  const Shape& shape) {
  if (dims.size() == 4) return read_as(value, shape_of_image(dims), shape);
  return transposed(reshaped(value, memory_dims(shape)), kFromMemory);
}

std::string GraphMaker::to_dims(const std::string& value, const Shape& shape,
                                const std::vector<std::int64_t>& dims) {
  if (dims.size() == 4) return read_as(value, shape, shape_of_image(dims));
  return reshaped(transposed(value, kToMemory), dims);
}

}  // namespace hios::onnx
