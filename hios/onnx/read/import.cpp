#include "hios/onnx/read/import.h"

#include <utility>

#include "hios/base/error.h"
#include "hios/onnx/passes/passes.h"
#include "hios/onnx/read/graph_reader.h"

namespace hios::onnx {
namespace {

Model to_model(Draft& draft, const ModelFile& file) {
  ModelBuilder builder(draft.name, draft.tensors.front().shape);
  builder.keep_layer_names();
  ModelWeights weights;
  std::vector<TensorId> ids(draft.tensors.size());  // by DraftId
  ids.front() = builder.input();
  for (DraftLayer& layer : draft.layers) {
    std::vector<TensorId> inputs;
    for (const DraftId input : layer.inputs) inputs.push_back(ids[input.index()]);
    try {
      ids[layer.output.index()] =
          builder.add(layer.name, layer.kind, std::move(inputs), layer.input_shapes);
    } catch (const InputError& error) {
      file.fail(error.what());
    }
    if (!layer.parameters.weights.empty() || !layer.parameters.bias.empty()) {
      weights.set(layer.name, std::move(layer.parameters));
    }
  }
  std::vector<NamedOutput> outputs;
  for (const DraftOutput& output : draft.outputs) {
    outputs.push_back({output.name, ids[output.tensor.index()], output.dims});
  }
  builder.set_weights(std::move(weights));
  return std::move(builder).build(std::move(outputs), std::move(draft.inputs));
}

}  // namespace

Model import_model(const std::filesystem::path& path, const ImportOptions& options) {
  ModelFile file(path, options.limits);
  Draft draft = read_graph(file, options);
  simplify(draft);
  return to_model(draft, file);
}

bool can_import() { return true; }

}  // namespace hios::onnx
