// Where an operator's tensors lie, for graphs that divide inputs and for those whose operators were
// cut. Neither is both: the operators of a cut network are its own for each number of inputs.
#include "hios/graph/fusion/coarsen.h"

namespace hios {
namespace {

/// Returns the bytes of the inputs before a batch's first. REQUIRES: the graph divides inputs.
Bytes bytes_before(const Batching& batching, OpId reader, Bytes bytes_per_input) {
  return static_cast<Bytes>(batching.of(reader).inputs.begin) * bytes_per_input;
}

Bytes bytes_per_input(const Graph& graph, OpId producer) {
  return graph.op(producer).memory_bytes /
         static_cast<Bytes>(graph.batching()->of(producer).inputs.size());
}

}  // namespace

std::optional<OpId> CoarseGraph::producer(TensorId id) const { return producer_of[id.index()]; }

Place CoarseGraph::place_of(OpId id) const {
  if (const Batching* const batching = graph.batching()) {
    return {batching->of(id).op.index(), bytes_before(*batching, id, bytes_per_input(graph, id))};
  }
  return places.empty() ? Place{id.index(), 0} : places.of(layers(id).output);
}

ByteRange CoarseGraph::read_by(EdgeId id) const {
  const OpId from = graph.edge(id).from, to = graph.edge(id).to;
  if (const Batching* const batching = graph.batching()) {
    const InputRange made = batching->of(from).inputs;
    const InputRange read = common(made, batching->of(to).inputs);
    const Bytes each = bytes_per_input(graph, from);
    return {static_cast<Bytes>(read.begin - made.begin) * each,
            static_cast<Bytes>(read.end - made.begin) * each};
  }
  return graph.edge(id).range.value_or(ByteRange{0, graph.op(from).memory_bytes});
}

std::int64_t CoarseGraph::distance(OpId producer, TensorId tensor, OpId reader) const {
  const auto begin = static_cast<std::int64_t>(place_of(producer).begin);
  if (const Batching* const batching = graph.batching()) {
    const Bytes each = bytes_per_input(graph, producer);
    return static_cast<std::int64_t>(bytes_before(*batching, reader, each)) - begin;
  }
  return places.empty() ? 0 : static_cast<std::int64_t>(places.of(tensor).begin) - begin;
}

std::int64_t CoarseGraph::distance_from_input(const Model& model, TensorId tensor,
                                              OpId reader) const {
  const TensorId input = model.input();
  if (const Batching* const batching = graph.batching()) {
    const Bytes all = size_bytes(model.tensor(input).shape);
    const Bytes each = all / static_cast<Bytes>(batching->inputs);
    return static_cast<std::int64_t>(bytes_before(*batching, reader, each));
  }
  return places.empty() ? 0
                        : static_cast<std::int64_t>(places.of(tensor).begin) -
                              static_cast<std::int64_t>(places.of(input).begin);
}

}  // namespace hios
