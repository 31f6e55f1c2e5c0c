#include "support/graphs/pipeline_cases.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "hios/evaluate/blocks.h"
#include "support/graphs/dag_generator.h"

namespace hios::test {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

PipelineCase random_case(std::size_t operators, std::size_t devices, const PipelineStyle& style,
                         Random& random) {
  const Graph drawn = random_graph(
      operators, random.uniform(0.1, 0.7),
      {.overlap = false, .small_integers = random.below(2) == 0, .by_device = random.below(2) == 0},
      random);
  std::vector<Operator> ops(drawn.operators().begin(), drawn.operators().end());
  for (Operator& op : ops) {
    op.memory_bytes = 1000 * random.below(20);
    op.parameter_bytes = 1000 * random.below(30);
    if (style.limits && random.below(3) == 0) op.colocate = random.below(2) == 0 ? "a" : "b";
  }
  std::vector<Edge> edges(drawn.edges().begin(), drawn.edges().end());
  const Platform alike = test::devices(devices, 1);
  std::vector<Device> unlike(alike.devices().begin(), alike.devices().end());
  for (Device& device : unlike) {
    if (random.below(3) == 0) device.io_charge = IoCharge{random.uniform(), random.uniform()};
    if (style.overflow && random.below(2) == 0)
      device.fast_memory = {1000 * (1 + random.below(60)), 0.02};
    if (style.limits && random.below(2) == 0) device.memory_bytes = 1000 * (60 + random.below(100));
  }
  return {Graph("case", std::move(ops), std::move(edges)), Platform(std::move(unlike))};
}

double plain_block_ms(const PipelineCase& made, const CostModel& costs,
                      const std::vector<OpId>& block, DeviceId device) {
  if (block.empty()) return 0;
  const std::set<OpId> inside(block.begin(), block.end());
  const Device& runner = made.platform.device(device);
  double ms = 0, held = 0;
  for (const OpId op : block) {
    if (!costs.can_run(op, device)) return kInfinite;
    ms += costs.operator_ms(op, device);
    held += static_cast<double>(made.graph.op(op).memory_bytes + made.graph.op(op).parameter_bytes);
  }
  if (runner.memory_bytes > 0 && held > static_cast<double>(runner.memory_bytes)) return kInfinite;
  double received_bytes = 0, parameters = 0;
  for (std::size_t i = 0; i < made.graph.size(); ++i) {
    const OpId op(i);
    bool read_inside = false, read_outside = false;
    double largest = 0;
    for (const EdgeId edge : made.graph.out_edges(op)) {
      (inside.contains(made.graph.edge(edge).to) ? read_inside : read_outside) = true;
      largest = std::max(largest, costs.mean_transfer_ms(edge));
    }
    if (!inside.contains(op) && read_inside) {
      ms += largest * runner.charge_in_flight().receive;
      received_bytes += static_cast<double>(tensor_bytes(made.graph, op));
    }
    if (inside.contains(op) && read_outside) ms += largest * runner.charge_in_flight().send;
    if (inside.contains(op)) parameters += static_cast<double>(made.graph.op(op).parameter_bytes);
  }
  if (runner.fast_memory.bytes == 0) return ms;
  double peak = 0;
  for (std::size_t at = 0; at < block.size(); ++at) {  // while block[at] runs
    double now = received_bytes;
    for (std::size_t i = 0; i <= at; ++i) {
      bool needed = i == at || made.graph.out_edges(block[i]).empty();
      for (const EdgeId edge : made.graph.out_edges(block[i])) {
        const OpId consumer = made.graph.edge(edge).to;
        const auto position = std::find(block.begin(), block.end(), consumer);
        needed = needed || position == block.end() ||
                 position - block.begin() >= static_cast<std::ptrdiff_t>(at);
      }
      if (needed) now += static_cast<double>(tensor_bytes(made.graph, block[i]));
    }
    peak = std::max(peak, now);
  }
  const double beyond = parameters + peak - static_cast<double>(runner.fast_memory.bytes);
  return ms + std::max(0.0, beyond) / (runner.fast_memory.gb_per_s * 1e6);
}

double plain_period_ms(const PipelineCase& made, const CostModel& costs,
                       const std::vector<std::size_t>& device) {
  const std::size_t devices = made.platform.size();
  std::vector<std::vector<bool>> reads(devices, std::vector<bool>(devices, false));
  for (const Edge& edge : made.graph.edges()) {
    const std::size_t from = device[edge.from.index()], to = device[edge.to.index()];
    if (from != to) reads[from][to] = true;
  }
  for (std::size_t via = 0; via < devices; ++via) {
    for (std::size_t from = 0; from < devices; ++from) {
      for (std::size_t to = 0; to < devices; ++to) {
        if (reads[from][via] && reads[via][to]) reads[from][to] = true;
      }
    }
  }
  for (std::size_t d = 0; d < devices; ++d) {
    if (reads[d][d]) return kInfinite;
  }
  for (std::size_t a = 0; a < made.graph.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const std::string& label = made.graph.op(OpId(a)).colocate;
      if (!label.empty() && label == made.graph.op(OpId(b)).colocate && device[a] != device[b])
        return kInfinite;
    }
  }
  double period = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    std::vector<OpId> block;
    for (const OpId op : made.graph.topological()) {
      if (device[op.index()] == d) block.push_back(op);
    }
    period = std::max(period, plain_block_ms(made, costs, block, DeviceId(d)));
  }
  return period;
}

double plain_optimum_ms(const PipelineCase& made, const CostModel& costs) {
  std::vector<std::size_t> device(made.graph.size(), 0);
  double best = kInfinite;
  while (true) {
    best = std::min(best, plain_period_ms(made, costs, device));
    std::size_t at = 0;
    while (at < device.size() && ++device[at] == made.platform.size()) device[at++] = 0;
    if (at == device.size()) return best;
  }
}

}  // namespace hios::test
