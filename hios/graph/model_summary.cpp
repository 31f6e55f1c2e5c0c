#include "hios/graph/model_summary.h"

#include "hios/graph/fusion/coarsen.h"

namespace hios {

ModelSummary summarize(const Model& model) {
  const CoarseGraph coarse = coarsen(model);
  ModelSummary summary;
  summary.name = model.name();
  summary.operators = coarse.graph.size();
  summary.dependencies = coarse.graph.edge_count();
  summary.gflop = model.flop() / 1e9;
  summary.parameters = model.parameters();

  const auto consider = [&](const Tensor& tensor) {
    const Bytes size_bytes = tensor.shape.size_bytes(coarse.element_bytes);
    if (size_bytes <= summary.largest_tensor_bytes) return;
    summary.largest_tensor = tensor.name;
    summary.largest_tensor_bytes = size_bytes;
  };
  consider(model.tensor(model.input()));
  for (const OperatorLayers& op : coarse.operators) consider(model.tensor(op.output));
  return summary;
}

}  // namespace hios
