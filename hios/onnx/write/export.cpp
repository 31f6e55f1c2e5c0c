#include "hios/onnx/write/export.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <variant>

#include "hios/base/error.h"
#include "hios/onnx/write/layer_nodes.h"

namespace hios::onnx {
namespace {

constexpr std::int64_t kIrVersion = 7;  // the IR version of opset 14
/// Bytes of a protobuf message, which has less than 2 GiB, that are not available for weights.
constexpr std::int64_t kReservedBytes = 64 << 20;
constexpr std::size_t kMostListed = 12;  // kinds of layers in a message

void declare(proto::ValueInfoProto& value, const std::string& name,
             std::span<const std::int64_t> dims, int element = proto::TensorProto::FLOAT) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(element);
  auto& shape = *tensor.mutable_shape();
  for (const std::int64_t extent : dims) shape.add_dim()->set_dim_value(extent);
}

/// Returns which of several named inputs a layer is: a Move that reads the values at its place.
std::optional<std::size_t> input_read_by(const Model& model, const Layer& layer) {
  const auto* move = std::get_if<Move>(&layer.kind);
  const std::span<const NamedInput> inputs = model.named_inputs();
  if (move == nullptr || inputs.size() == 1 || layer.inputs.front() != model.input()) return {};
  const std::vector<InputPlace> places = places_of(inputs);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const InputPlace& place = places[i];
    std::vector<Move::Dimension> loops;
    if (place.rows > 1) loops.push_back({place.rows, place.stride});
    if (place.count > 1) loops.push_back({place.count, 1});
    if (loops.empty()) loops.push_back({1, 0});
    if (move->offset == place.offset && move->dimensions == loops) return i;
  }
  return {};
}

/// Returns what an ONNX file has no node for; empty: it can have the layer.
std::string unwritten(const Model& model, const Layer& layer) {
  if (input_read_by(model, layer)) return {};
  const bool reads_input = std::ranges::find(layer.inputs, model.input()) != layer.inputs.end();
  if (reads_input && model.named_inputs().size() > 1) return "Several inputs at once";
  return inexpressible(layer);
}

/// Writes a model into an ONNX graph.
class Export {
 public:
  Export(const Model& model, const LayerValues& values, proto::GraphProto& graph)
      : model_(model),
        values_(values),
        graph_(graph),
        maker_(graph),
        names_(model.tensors().size()) {}

  void write() {
    graph_.set_name(model_.name());
    name_inputs_and_outputs();
    for (const Layer& layer : model_.layers()) write_nodes(layer);
    for (std::size_t i = 0; i < model_.named_outputs().size(); ++i) write_output(i);
  }

 private:
  /// Reserves the names of the model's inputs and outputs before those of inner values.
  void name_inputs_and_outputs() {
    const std::span<const NamedInput> inputs = model_.named_inputs();
    std::vector<std::string> names;
    for (const NamedInput& input : inputs) {
      names.push_back(maker_.fresh(input.name));
      declare(*graph_.add_input(), names.back(), input.dims,
              input.is_truth    ? proto::TensorProto::BOOL
              : input.below > 0 ? proto::TensorProto::INT64
                                : proto::TensorProto::FLOAT);
    }
    for (const NamedOutput& output : model_.named_outputs()) {
      outputs_.push_back(maker_.fresh(output.name));
      const Shape& shape = model_.tensor(output.tensor).shape;
      std::string& of_tensor = names_[output.tensor.index()];
      const bool itself = output.tensor != model_.input() && output.dims == dims_of(shape);
      if (itself && of_tensor.empty()) of_tensor = outputs_.back();
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].below == 0) continue;
      const std::string numbers = maker_.fresh(names[i] + "_numbers");
      maker_.node("Cast", numbers, {names[i]}, numbers)
          .set("to", std::int64_t{proto::TensorProto::FLOAT});
      names[i] = numbers;
    }
    inputs_ = std::move(names);
    if (inputs.size() > 1) return;
    names_[model_.input().index()] =
        maker_.from_dims(inputs_.front(), inputs.front().dims, model_.tensor(model_.input()).shape);
  }

  void write_nodes(const Layer& layer) {
    if (const auto input = input_read_by(model_, layer)) {
      const Shape& shape = model_.tensor(layer.output).shape;
      names_[layer.output.index()] =
          maker_.from_dims(inputs_[*input], model_.named_inputs()[*input].dims, shape);
      return;
    }
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const TensorId id = layer.inputs[i];
      inputs.push_back(
          maker_.read_as(names_[id.index()], model_.tensor(id).shape, layer.input_shapes[i]));
    }
    std::string& output = names_[layer.output.index()];
    if (output.empty()) output = maker_.fresh(layer.name);
    const bool has_values = parameter_counts(layer.kind, layer.input_shapes).total() > 0;
    write_layer(maker_, model_, layer, inputs, output,
                has_values ? values_(layer) : ModelWeights::Values{});
  }

  void write_output(std::size_t i) {
    const NamedOutput& output = model_.named_outputs()[i];
    const std::string& value = names_[output.tensor.index()];
    if (value != outputs_[i]) {
      const Shape& shape = model_.tensor(output.tensor).shape;
      maker_.node("Identity", outputs_[i], {maker_.to_dims(value, shape, output.dims)},
                  outputs_[i]);
    }
    declare(*graph_.add_output(), outputs_[i], output.dims);
  }

  const Model& model_;
  const LayerValues& values_;
  proto::GraphProto& graph_;
  GraphMaker maker_;
  std::vector<std::string> names_;    ///< names of the values, by TensorId
  std::vector<std::string> inputs_;   ///< names of the inputs' values as fp32, in order
  std::vector<std::string> outputs_;  ///< names of the outputs, in order
};

}  // namespace

void check_exportable(const Model& model) {
  const std::string where = "model '" + printable(model.name()) + "': ";
  // By kind: the first layer, and the number of layers.
  std::map<std::string, std::pair<std::string, int>> refused;
  for (const Layer& layer : model.layers()) {
    const std::string kind = unwritten(model, layer);
    if (kind.empty()) continue;
    auto& entry = refused[kind];
    if (entry.second++ == 0) entry.first = layer.name;
  }
  std::string list;
  std::size_t named = 0;
  for (const auto& [kind, entry] : refused) {
    if (++named > kMostListed) break;
    list += (list.empty() ? "" : ", ") + kind + " (" +
            (entry.second > 1 ? std::to_string(entry.second) + " layers, first '" : "layer '") +
            printable(entry.first, 40) + "')";
  }
  if (refused.size() > kMostListed)
    list += " and " + std::to_string(refused.size() - kMostListed) + " more";
  if (!list.empty()) {
    throw InputError(where + "has layers that are not written as ONNX (opset " +
                     std::to_string(kWrittenOpset) + "): " + list);
  }
  const std::int64_t most = (std::numeric_limits<std::int32_t>::max() - kReservedBytes) /
                            static_cast<std::int64_t>(sizeof(float));
  if (model.parameters() > most) {
    throw InputError(where + "has " + std::to_string(model.parameters()) +
                     " weights, more than the " + std::to_string(most) +
                     " that an ONNX file of less than 2 GiB holds");
  }
}

void export_model(const Model& model, const LayerValues& values, const std::filesystem::path& file,
                  Existing existing) {
  check_exportable(model);
  std::string bytes;
  {
    proto::ModelProto whole;
    whole.set_ir_version(kIrVersion);
    whole.set_producer_name("hios");
    whole.add_opset_import()->set_version(kWrittenOpset);
    Export(model, values, *whole.mutable_graph()).write();
    if (!whole.SerializeToString(&bytes)) {
      throw RunError(printable(file.string(), 200) + ": could not be made into an ONNX file");
    }
  }
  write_text(file, bytes, existing);
}

}  // namespace hios::onnx
