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

/// Converts an output of any floating-point type to fp32.
std::optional<OnnxValues> widened(const proto::TensorProto& tensor) {
  if (tensor.data_type() == proto::TensorProto::DOUBLE) {
    OnnxValues result{{tensor.dims().begin(), tensor.dims().end()}, {}};
    std::vector<double> values(tensor.double_data().begin(), tensor.double_data().end());
    if (tensor.has_raw_data()) values = numbers<double>(tensor.raw_data());
    for (const double value : values) result.values.push_back(static_cast<float>(value));
    return result;
  }
  return floats_of(tensor);
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
  if (!input || input->dims.empty() || input->dims.size() > 4) return {};
  OnnxCase result{folder.filename().string(), {}, *input, {}};
  for (int i = 1; i < graph.input_size(); ++i) {
    auto tensor = tensor_of(data / ("input_" + std::to_string(i) + ".pb"));
    if (!tensor || !graph.input(i).type().has_tensor_type()) return {};
    tensor->set_name(graph.input(i).name());
    *graph.add_initializer() = *tensor;
  }
  for (int i = 0; i < graph.output_size(); ++i) {
    const auto tensor = tensor_of(data / ("output_" + std::to_string(i) + ".pb"));
    const auto values = tensor ? widened(*tensor) : std::nullopt;
    if (!values) {
      result.outputs.clear();
      break;
    }
    result.outputs.push_back(*values);
  }
  result.model = model.SerializeAsString();
  return result;
}

}  // namespace

std::vector<OnnxCase> onnx_cases(const std::filesystem::path& folder) {
  std::vector<OnnxCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (auto found = read_case(entry.path())) cases.push_back(*std::move(found));
  }
  std::ranges::sort(cases, {}, &OnnxCase::name);
  return cases;
}

}  // namespace hios::test
