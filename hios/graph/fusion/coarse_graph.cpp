// Where an operator's tensors lie, for graphs that divide inputs and for those whose operators were
// cut. Neither is both: the operators of a cut network are its own for each number of inputs.
#include "hios/graph/fusion/coarsen.h"

#include <algorithm>
#include <utility>

namespace hios {
namespace {

Bytes bytes_per_input(const Graph& graph, OpId producer) {
  return graph.op(producer).memory_bytes /
         static_cast<Bytes>(graph.batching()->of(producer).inputs.size());
}

}  // namespace

std::optional<OpId> CoarseGraph::producer(TensorId id) const { return producer_of[id.index()]; }

Place CoarseGraph::place_of(OpId id) const {
  if (const Batching* const batching = graph.batching()) {
    const OpId first = first_together.at(id.index());
    const std::int64_t before = batching->of(id).inputs.begin - batching->of(first).inputs.begin;
    return {first.index(), static_cast<Bytes>(before) * bytes_per_input(graph, id)};
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
  if (const Batching* const batching = graph.batching()) {
    const auto each = static_cast<std::int64_t>(bytes_per_input(graph, producer));
    return (batching->of(reader).inputs.begin - batching->of(producer).inputs.begin) * each;
  }
  if (places.empty()) return 0;
  return static_cast<std::int64_t>(places.of(tensor).begin) -
         static_cast<std::int64_t>(place_of(producer).begin);
}

std::int64_t CoarseGraph::distance_from_input(const Model& model, TensorId tensor,
                                              OpId reader) const {
  const TensorId input = model.input();
  if (const Batching* const batching = graph.batching()) {
    const auto all = static_cast<std::int64_t>(size_bytes(model.tensor(input).shape));
    return batching->of(reader).inputs.begin * (all / batching->inputs);
  }
  return places.empty() ? 0
                        : static_cast<std::int64_t>(places.of(tensor).begin) -
                              static_cast<std::int64_t>(places.of(input).begin);
}

std::vector<OpId> batches_together(const Graph& graph) {
  const Batching& batching = *graph.batching();
  std::vector<bool> with_previous(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    std::map<OpId, std::pair<std::size_t, std::size_t>> read;  // by operator: first and last batch
    for (const EdgeId edge : graph.in_edges(OpId(v))) {
      const std::size_t from = graph.edge(edge).from.index();
      const auto [found, is_new] = read.try_emplace(batching.of(OpId(from)).op, from, from);
      auto& [first, last] = found->second;
      first = std::min(first, from);
      last = std::max(last, from);
    }
    for (const auto& [op, batches] : read) {
      for (std::size_t b = batches.first + 1; b <= batches.second; ++b) with_previous[b] = true;
    }
  }
  std::vector<OpId> first;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    first.push_back(with_previous[v] ? first.back() : OpId(v));
  }
  return first;
}

}  // namespace hios
