#include "engine/onnx/node_cases.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "hios/onnx/proto.h"

namespace hios::test {
namespace {

namespace proto = hios::onnx::proto;

std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::optional<proto::TensorProto> tensor_of(const std::filesystem::path& file) {
  proto::TensorProto tensor;
  if (!std::filesystem::exists(file) || !tensor.ParseFromString(bytes_of(file))) return {};
  return tensor;
}

template <class Number>
std::vector<Number> numbers(const std::string& bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::optional<OnnxValues> floats_of(const proto::TensorProto& tensor) {
  if (tensor.data_type() != proto::TensorProto::FLOAT) return {};
  OnnxValues result{{tensor.dims().begin(), tensor.dims().end()}, {}};
  if (tensor.has_raw_data()) {
    result.values = numbers<float>(tensor.raw_data());
  } else {
    result.values.assign(tensor.float_data().begin(), tensor.float_data().end());
  }
  return result;
}

/// Converts an output of truth values, or of any floating-point type, to fp32.
std::optional<OnnxValues> widened(const proto::TensorProto& tensor) {
  if (tensor.data_type() == proto::TensorProto::DOUBLE) {
    OnnxValues result{{tensor.dims().begin(), tensor.dims().end()}, {}};
    std::vector<double> values(tensor.double_data().begin(), tensor.double_data().end());
    if (tensor.has_raw_data()) values = numbers<double>(tensor.raw_data());
    for (const double value : values) result.values.push_back(static_cast<float>(value));
    return result;
  }
  if (tensor.data_type() == proto::TensorProto::BOOL) {
    OnnxValues result{{tensor.dims().begin(), tensor.dims().end()}, {}};
    for (const int value : tensor.int32_data()) result.values.push_back(value != 0);
    for (const char value : tensor.raw_data()) result.values.push_back(value != 0);
    return result;
  }
  return floats_of(tensor);
}

/// Converts numbers of any type to fp32; empty for other types.
std::optional<OnnxValues> as_floats(const proto::TensorProto& tensor) {
  OnnxValues result{{tensor.dims().begin(), tensor.dims().end()}, {}};
  const auto add = [&](const auto& values) {
    for (const auto value : values) result.values.push_back(static_cast<float>(value));
  };
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case proto::TensorProto::INT64:
      tensor.has_raw_data() ? add(numbers<std::int64_t>(raw)) : add(tensor.int64_data());
      return result;
    case proto::TensorProto::INT32:
      tensor.has_raw_data() ? add(numbers<std::int32_t>(raw)) : add(tensor.int32_data());
      return result;
    case proto::TensorProto::INT8:
      tensor.has_raw_data() ? add(numbers<std::int8_t>(raw)) : add(tensor.int32_data());
      return result;
    case proto::TensorProto::UINT8:
      tensor.has_raw_data() ? add(numbers<std::uint8_t>(raw)) : add(tensor.int32_data());
      return result;
    default:
      return widened(tensor);
  }
}

std::optional<OnnxCase> read_case(const std::filesystem::path& folder) {
  proto::ModelProto model;
  if (!model.ParseFromString(bytes_of(folder / "model.onnx"))) return {};
  proto::GraphProto& graph = *model.mutable_graph();
  const std::filesystem::path data = folder / "test_data_set_0";
  if (graph.input_size() == 0) return {};
  const auto first = tensor_of(data / "input_0.pb");
  if (!first || !graph.input(0).type().has_tensor_type()) return {};
  auto input = floats_of(*first);
  if (!input || input->dims.empty() || input->dims.size() > 6) return {};
  OnnxCase result{folder.filename().string(), {}, {*input}, {}};
  for (int i = 1; i < graph.input_size(); ++i) {
    auto tensor = tensor_of(data / ("input_" + std::to_string(i) + ".pb"));
    if (!tensor || !graph.input(i).type().has_tensor_type()) return {};
    tensor->set_name(graph.input(i).name());
    *graph.add_initializer() = *tensor;
  }
  for (int i = 0; i < graph.output_size(); ++i) {
    const auto tensor = tensor_of(data / ("output_" + std::to_string(i) + ".pb"));
    // bfloat16 is there as its codes.
    if (tensor && tensor->data_type() != graph.output(i).type().tensor_type().elem_type())
      return {};
    const auto values = tensor ? as_floats(*tensor) : std::nullopt;
    if (!values) {
      result.outputs.clear();
      break;
    }
    result.outputs.push_back(*values);
  }
  result.model = model.SerializeAsString();
  return result;
}

/// Returns the files input_0.pb, input_1.pb, … or output_0.pb, … as tensors of these values' names;
/// empty if one is none.
template <class Infos>
std::optional<std::vector<proto::TensorProto>> tensors_of(const std::filesystem::path& data,
                                                          const char* what, const Infos& infos) {
  std::vector<proto::TensorProto> tensors;
  for (int i = 0; i < infos.size(); ++i) {
    if (infos[i].name().empty()) continue;
    const auto tensor = tensor_of(data / (what + std::to_string(i) + ".pb"));
    if (!tensor || !infos[i].type().has_tensor_type() || !as_floats(*tensor)) return {};
    tensors.push_back(*tensor);
    tensors.back().set_name(infos[i].name());
  }
  return tensors;
}

std::optional<OnnxCase> read_case_of_all_inputs(const std::filesystem::path& folder) {
  proto::ModelProto model;
  const std::string bytes = bytes_of(folder / "model.onnx");
  if (!model.ParseFromString(bytes)) return {};
  const proto::GraphProto& graph = model.graph();
  const auto inputs = tensors_of(folder / "test_data_set_0", "input_", graph.input());
  const auto outputs = tensors_of(folder / "test_data_set_0", "output_", graph.output());
  if (!inputs || inputs->empty() || !outputs || outputs->empty()) return {};
  if (inputs->size() == 1 && inputs->front().data_type() == proto::TensorProto::FLOAT) return {};
  OnnxCase result{folder.filename().string(), bytes, {}, {}};
  for (const proto::TensorProto& tensor : *inputs) result.inputs.push_back(*as_floats(tensor));
  for (const proto::TensorProto& tensor : *outputs) result.outputs.push_back(*as_floats(tensor));
  return result;
}

proto::NodeProto& add_node(proto::GraphProto& graph, const std::string& type,
                           const std::vector<std::string>& inputs, const std::string& output) {
  proto::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

std::optional<OnnxCase> read_constant_case(const std::filesystem::path& folder) {
  proto::ModelProto model;
  if (!model.ParseFromString(bytes_of(folder / "model.onnx"))) return {};
  proto::GraphProto& graph = *model.mutable_graph();
  const auto inputs = tensors_of(folder / "test_data_set_0", "input_", graph.input());
  const auto outputs = tensors_of(folder / "test_data_set_0", "output_", graph.output());
  if (!inputs || !outputs || outputs->empty()) return {};
  // Their results were computed with another π than 3.1415, which their nodes have. ONNX Runtime
  // gives our values.
  if (folder.filename().string().find("window") != std::string::npos) return {};
  OnnxCase result{folder.filename().string(), {}, {{{1}, {0}}}, {}};
  graph.clear_input();
  graph.clear_output();
  for (const proto::TensorProto& tensor : *inputs) *graph.add_initializer() = tensor;
  auto& zero = *graph.add_input();
  zero.set_name("zero");
  zero.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::FLOAT);
  zero.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(1);
  for (const proto::TensorProto& tensor : *outputs) {
    auto& to = *add_node(graph, "Cast", {tensor.name()}, tensor.name() + ".fp32").add_attribute();
    to.set_name("to");
    to.set_type(proto::AttributeProto::INT);
    to.set_i(proto::TensorProto::FLOAT);
    add_node(graph, "Add", {tensor.name() + ".fp32", "zero"}, tensor.name() + ".out");
    graph.add_output()->set_name(tensor.name() + ".out");
    result.outputs.push_back(*as_floats(tensor));
    if (result.outputs.back().dims.empty()) result.outputs.back().dims = {1};  // those of "zero"
  }
  result.model = model.SerializeAsString();
  return result;
}

std::vector<OnnxCase> cases_below(const std::filesystem::path& folder,
                                  std::optional<OnnxCase> (*read)(const std::filesystem::path&)) {
  std::vector<OnnxCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (auto found = read(entry.path())) cases.push_back(*std::move(found));
  }
  std::ranges::sort(cases, {}, &OnnxCase::name);
  return cases;
}

}  // namespace

std::vector<OnnxCase> onnx_cases(const std::filesystem::path& folder) {
  return cases_below(folder, read_case);
}

std::vector<OnnxCase> onnx_cases_of_all_inputs(const std::filesystem::path& folder) {
  return cases_below(folder, read_case_of_all_inputs);
}

std::vector<OnnxCase> onnx_constant_cases(const std::filesystem::path& folder) {
  return cases_below(folder, read_constant_case);
}

}  // namespace hios::test
