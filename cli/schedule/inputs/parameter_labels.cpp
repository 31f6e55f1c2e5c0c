#include "cli/schedule/inputs/parameter_labels.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flags/file_flags.h"
#include "cli/flags/model_flags.h"
#include "engine/backend/tensor_source.h"
#include "hios/base/digest.h"
#include "hios/model/weights/weights_file.h"

// Tests: tests/cli/programs/plans/shared_server_test.cpp.

namespace hios::cli {
namespace {

constexpr std::string_view kOwnWeights = "own";

void add_shape(Digest& digest, const std::optional<LayerTensors::Tensor>& tensor) {
  if (!tensor) return;
  for (const std::int64_t extent : tensor->shape) digest.add(static_cast<std::uint64_t>(extent));
}

void add_numbers(Digest& digest, const std::vector<float>& values) {
  digest.add(std::string_view(reinterpret_cast<const char*>(values.data()),
                              values.size() * sizeof(float)));
}

std::string parameter_label(const Model& model, const OperatorLayers& layers,
                            SeededSource& source) {
  Digest digest;
  for (const LayerId id : layers.layers) {
    const Layer& layer = model.layer(id);
    if (parameters(layer.kind, layer.input_shapes) == 0) continue;
    const LayerTensors tensors = tensors_of(layer);
    const ModelWeights::Values values = values_of(source, model, layer);
    add_shape(digest, tensors.weights);
    add_numbers(digest, values.weights);
    add_shape(digest, tensors.bias);
    add_numbers(digest, values.bias);
  }
  return digest.hex();
}

}  // namespace

boost::program_options::options_description label_flags() {
  boost::program_options::options_description group("Labels of parameters", 100, 45);
  group.add_options()("label-parameters", input_file("own|FILE", has_dot_or_slash),
                      "label the parameters of a --model's operators by their content: of its own "
                      "weights (or those "
                      "of --seed), or of a safetensors file; equal labels of several models are "
                      "kept and loaded once");
  return group;
}

Network with_parameter_labels(Network network, const Flags& flags, const Common& common) {
  const auto from = flags.optional_text("label-parameters");
  if (!from) return network;
  Model model = network.model;
  if (*from != kOwnWeights) {
    model = with_weights_of(*from, flags, read_input_size(flags), model, common.limits);
  }
  SeededSource source(common.seed);
  const Graph& graph = network.coarse.graph;
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  // A run has no labels, so operators of one model that have equal parameters each load their own.
  std::map<std::string, int> times;
  for (std::size_t v = 0; v < operators.size(); ++v) {
    if (operators[v].parameter_bytes == 0) continue;
    std::string label = parameter_label(model, network.coarse.layers(OpId(v)), source);
    const int time = ++times[label];
    operators[v].parameters = time == 1 ? label : label + "-" + std::to_string(time);
  }
  network.coarse.graph =
      Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()},
            graph.stage_cost(), graph.inputs());
  return network;
}

}  // namespace hios::cli
