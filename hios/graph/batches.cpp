#include "hios/graph/batches.h"

#include <algorithm>
#include <set>

#include "hios/base/error.h"

namespace hios {
namespace {

/// Returns k/n of the bytes of all n inputs, rounded up.
Bytes share(Bytes bytes, std::int64_t size, std::int64_t inputs) {
  const auto n = static_cast<Bytes>(inputs);
  const auto k = static_cast<Bytes>(size);
  return bytes / n * k + (bytes % n * k + n - 1) / n;
}

/// Returns the operator for `size` of the graph's inputs. Without times by size, its times are
/// those of all inputs, and it runs no fewer.
Operator sized(Operator op, std::int64_t size, std::int64_t inputs) {
  if (size != inputs) {
    op.has_time = false;
    op.time_by_device.clear();
    op.in_place_ms.reset();
    op.in_place_by_device.clear();
    op.in_place_bytes.reset();
  }
  for (const auto& [device, times] : op.time_by_size) {
    const auto found = times.find(size);
    if (found != times.end()) op.time_by_device[device] = found->second;
  }
  op.time_by_size.clear();
  op.memory_bytes = share(op.memory_bytes, size, inputs);
  return op;
}

Graph sized(const Graph& graph, std::int64_t size) {
  std::vector<Operator> operators;
  operators.reserve(graph.size());
  for (const Operator& op : graph.operators()) operators.push_back(sized(op, size, graph.inputs()));
  std::vector<Edge> edges;
  edges.reserve(graph.edge_count());
  for (const Edge& edge : graph.edges()) edges.push_back(hios::sized(edge, size, graph.inputs()));
  return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost(), size);
}

bool same_shape(const Graph& a, const Graph& b) {
  const auto names = [](const Operator& x, const Operator& y) { return x.name == y.name; };
  const auto ends = [](const Edge& x, const Edge& y) { return x.from == y.from && x.to == y.to; };
  return std::ranges::equal(a.operators(), b.operators(), names) &&
         std::ranges::equal(a.edges(), b.edges(), ends);
}

bool has_costs(const Operator& op) { return op.has_time || !op.time_by_device.empty(); }

void require_all_inputs(const SizedGraphs& graphs, const std::vector<Batch>& batches) {
  const Graph& whole = *graphs.whole();
  const auto fail = [&](std::size_t op, const std::string& what) {
    throw InputError("operator " + quote(whole.op(OpId(op)).name) + " " + what);
  };
  std::vector<std::int64_t> done(whole.size(), 0);
  for (const Batch& batch : batches) {
    const std::size_t op = batch.op.index();
    const InputRange& inputs = batch.inputs;
    if (inputs.size() < 1 || inputs.end > graphs.inputs()) {
      fail(op, "runs inputs " + to_string(inputs) + ", and there are " +
                   std::to_string(graphs.inputs()));
    }
    if (inputs.begin != done[op]) {
      fail(op, inputs.begin < done[op]
                   ? "runs input " + std::to_string(inputs.begin) + " twice"
                   : "does not run inputs " + to_string({done[op], inputs.begin}));
    }
    if (!graphs.has(inputs.size()) ||
        (has_costs(whole.op(batch.op)) && !has_costs(graphs.of(inputs.size()).op(batch.op)))) {
      fail(op, "has no costs for " + std::to_string(inputs.size()) + " inputs at a time");
    }
    done[op] = inputs.end;
  }
  for (std::size_t op = 0; op < done.size(); ++op) {
    if (done[op] < graphs.inputs()) {
      fail(op, "does not run inputs " + to_string({done[op], graphs.inputs()}));
    }
  }
}

std::shared_ptr<const Batching> batching_of(const SizedGraphs& graphs, std::vector<Batch> batches) {
  auto batching = std::make_shared<Batching>();
  batching->whole = graphs.whole();
  batching->inputs = graphs.inputs();
  batching->batches = std::move(batches);
  batching->first.assign(graphs.whole()->size() + 1, OpId(batching->batches.size()));
  for (std::size_t v = batching->batches.size(); v-- > 0;) {
    batching->first[batching->batches[v].op.index()] = OpId(v);
  }
  return batching;
}

/// Returns each edge of the whole between all batches that have inputs in common.
std::vector<Edge> edges_between(const SizedGraphs& graphs, const Batching& batching) {
  std::vector<Edge> edges;
  const Graph& whole = *batching.whole;
  for (std::size_t e = 0; e < whole.edge_count(); ++e) {
    const auto [first, end] = batching.batches_of(whole.edge(EdgeId(e)).to);
    for (std::size_t to = first.index(); to < end.index(); ++to) {
      const InputRange& read = batching.batches[to].inputs;
      OpId from = batching.holder(whole.edge(EdgeId(e)).from, read.begin);
      for (std::int64_t input = read.begin; input < read.end;) {
        const InputRange shared = common(read, batching.of(from).inputs);
        Edge edge = hios::sized(whole.edge(EdgeId(e)), shared.size(), graphs.inputs());
        edge.from = from;
        edge.to = OpId(to);
        edges.push_back(std::move(edge));
        input = shared.end;
        from = OpId(from.index() + 1);
      }
    }
  }
  return edges;
}

}  // namespace

Edge sized(Edge edge, std::int64_t size, std::int64_t inputs) {
  if (size == inputs) return edge;
  const double factor = static_cast<double>(size) / static_cast<double>(inputs);
  edge.size_bytes = share(edge.size_bytes, size, inputs);
  if (edge.transfer_ms) *edge.transfer_ms *= factor;
  if (edge.transfer_by_pair) {
    PairTimes times = *edge.transfer_by_pair;
    for (auto& [sender, receivers] : times) {
      for (auto& [receiver, ms] : receivers) ms *= factor;
    }
    edge.transfer_by_pair = std::make_shared<const PairTimes>(std::move(times));
  }
  return edge;
}

BatchSizes batch_sizes(std::int64_t inputs, std::int64_t parts) {
  if (inputs < 1 || parts < 1 || inputs % parts != 0) {
    throw InputError(std::to_string(parts) + " parts do not divide " + std::to_string(inputs) +
                     " inputs evenly");
  }
  BatchSizes sizes;
  for (std::int64_t part = 1; part <= parts; ++part) sizes.push_back(part * (inputs / parts));
  return sizes;
}

BatchSizes batch_sizes(std::int64_t inputs, const std::vector<Batch>& batches) {
  std::set<std::int64_t> sizes = {inputs};
  for (const Batch& batch : batches) sizes.insert(batch.inputs.size());
  return {sizes.begin(), sizes.end()};
}

SizedGraphs::SizedGraphs(const Graph& graph, BatchSizes sizes) : sizes_(std::move(sizes)) {
  for (const std::int64_t size : sizes_) {
    by_size_.emplace(size, std::make_shared<const Graph>(sized(graph, size)));
  }
}

SizedGraphs::SizedGraphs(BatchSizes sizes, const std::function<Graph(std::int64_t)>& made)
    : sizes_(std::move(sizes)) {
  for (const std::int64_t size : sizes_) {
    by_size_.emplace(size, std::make_shared<const Graph>(made(size)));
  }
  for (const std::int64_t size : sizes_) {
    if (same_shape(of(size), *whole())) continue;
    throw InputError(quote(whole()->name()) + " has other operators for " + std::to_string(size) +
                     " inputs than for " + std::to_string(inputs()) +
                     ": its inputs cannot be divided");
  }
}

std::vector<Batch> even_batches(const Graph& whole, std::int64_t inputs, std::int64_t batches) {
  std::vector<Batch> all;
  const std::int64_t size = inputs / batches;
  for (std::size_t op = 0; op < whole.size(); ++op) {
    for (std::int64_t begin = 0; begin < inputs; begin += size) {
      all.push_back({OpId(op), {begin, begin + size}});
    }
  }
  return all;
}

Graph divide(const SizedGraphs& graphs, std::vector<Batch> batches) {
  std::sort(batches.begin(), batches.end());
  require_all_inputs(graphs, batches);
  const Graph& whole = *graphs.whole();
  const auto batching = batching_of(graphs, std::move(batches));
  std::vector<Operator> operators;
  for (const auto& [op, inputs] : batching->batches) {
    operators.push_back(graphs.of(inputs.size()).op(op));
    if (inputs.size() < graphs.inputs()) operators.back().name += to_string(inputs);
  }
  return Graph(whole.name(), std::move(operators), edges_between(graphs, *batching),
               whole.stage_cost(), batching);
}

}  // namespace hios
