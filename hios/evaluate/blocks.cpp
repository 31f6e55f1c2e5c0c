#include "hios/evaluate/blocks.h"

#include <algorithm>

#include "hios/graph/arcs.h"
#include "hios/schedule/assignment.h"

namespace hios {
namespace {

/// Returns a device's operators in the order of its stages, group after group.
std::vector<OpId> block_of(const std::vector<Stage>& stages) {
  std::vector<OpId> block;
  for (const Stage& stage : stages) {
    for (const Group& group : stage.groups) block.insert(block.end(), group.begin(), group.end());
  }
  return block;
}

/// Returns the other devices that read a tensor, each once, ascending.
std::vector<DeviceId> other_consumers(const Graph& graph, const Assignment& assignment,
                                      OpId producer) {
  std::vector<DeviceId> consumers;
  for (const EdgeId edge : graph.out_edges(producer)) {
    const DeviceId consumer = assignment[graph.edge(edge).to].device;
    if (consumer != assignment[producer].device) consumers.push_back(consumer);
  }
  std::sort(consumers.begin(), consumers.end());
  consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
  return consumers;
}

}  // namespace

namespace {

/// Returns the mean time of a message with all bytes that are read anywhere, over all pairs of
/// different devices.
double mean_message_ms(const Graph& graph, const CostModel& costs, OpId producer) {
  ByteRange bytes = graph.edge(graph.out_edges(producer).front()).read();
  for (const EdgeId edge : graph.out_edges(producer)) bytes = hull(bytes, graph.edge(edge).read());
  const std::size_t devices = costs.platform().size();
  double sum = 0;
  for (std::size_t from = 0; from < devices; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      if (from == to) continue;
      sum += costs.message_ms(bytes.size(), DeviceId(from), DeviceId(to)) -
             costs.launch_ms(DeviceId(to));
    }
  }
  return sum / static_cast<double>(devices * (devices - 1));
}

}  // namespace

double tensor_ms(const Graph& graph, const CostModel& costs, OpId producer) {
  double ms = costs.sends_ranges(producer) ? mean_message_ms(graph, costs, producer) : 0;
  for (const EdgeId edge : graph.out_edges(producer)) ms = std::max(ms, costs.mean_link_ms(edge));
  return ms;
}

Bytes tensor_bytes(const Graph& graph, OpId producer) {
  Bytes bytes = graph.op(producer).memory_bytes;
  if (bytes > 0) return bytes;
  for (const EdgeId edge : graph.out_edges(producer))
    bytes = std::max(bytes, graph.edge(edge).size_bytes);
  return bytes;
}

double overflow_ms(const FastMemory& memory, Bytes parameters, Bytes peak) {
  if (memory.bytes == 0) return 0;
  const double beyond = static_cast<double>(parameters) + static_cast<double>(peak) -
                        static_cast<double>(memory.bytes);
  return std::max(0.0, beyond) / (memory.gb_per_s * 1e6);
}

Bytes peak_bytes(const Graph& graph, std::span<const OpId> block) {
  constexpr std::size_t kElsewhere = ~std::size_t{0};
  std::vector<std::size_t> position(graph.size(), kElsewhere);
  for (std::size_t i = 0; i < block.size(); ++i) position[block[i].index()] = i;
  std::vector<Bytes> ends(block.size(),
                          0);  // bytes that are not needed any more after each operator
  std::vector<bool> received(graph.size(), false);
  Bytes from_others = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    for (const EdgeId edge : graph.in_edges(block[i])) {
      const OpId producer = graph.edge(edge).from;
      if (position[producer.index()] != kElsewhere || received[producer.index()]) continue;
      received[producer.index()] = true;
      from_others += tensor_bytes(graph, producer);
    }
    std::size_t last = i;
    bool kept = graph.out_edges(block[i]).empty();
    for (const EdgeId edge : graph.out_edges(block[i])) {
      const std::size_t consumer = position[graph.edge(edge).to.index()];
      kept = kept || consumer == kElsewhere;
      if (consumer != kElsewhere) last = std::max(last, consumer);
    }
    if (!kept) ends[last] += tensor_bytes(graph, block[i]);
  }
  Bytes held = from_others, peak = from_others;
  for (std::size_t i = 0; i < block.size(); ++i) {
    held += tensor_bytes(graph, block[i]);
    peak = std::max(peak, held);
    held -= ends[i];
  }
  return peak;
}

Period period_of(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  const Platform& platform = costs.platform();
  const Assignment assignment(graph.size(), schedule);
  Period period{.blocks = std::vector<BlockCost>(schedule.devices.size()), .bottleneck = {}};
  for (const OpId op : graph.topological()) {
    const std::vector<DeviceId> consumers = other_consumers(graph, assignment, op);
    if (consumers.empty()) continue;
    const double ms = tensor_ms(graph, costs, op);
    const DeviceId own = assignment[op].device;
    period.blocks[own.index()].send_ms += ms * platform.device(own).charge_in_flight().send;
    for (const DeviceId consumer : consumers) {
      period.blocks[consumer.index()].receive_ms +=
          ms * platform.device(consumer).charge_in_flight().receive;
    }
  }
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    const DeviceId device(d);
    BlockCost& block = period.blocks[d];
    for (const Stage& stage : schedule.stages(device))
      block.stages_ms += costs.stage_ms(stage, device);
    const FastMemory& memory = platform.device(device).fast_memory;
    if (memory.bytes > 0) {
      const std::vector<OpId> ops = block_of(schedule.stages(device));
      Bytes parameters = 0;
      for (const OpId op : ops) parameters += graph.op(op).parameter_bytes;
      block.overflow_ms = overflow_ms(memory, parameters, ops.empty() ? 0 : peak_bytes(graph, ops));
    }
    if (block.ms() > period.ms()) period.bottleneck = device;
  }
  return period;
}

std::vector<DeviceId> cycle_of_blocks(const Graph& graph, const Schedule& schedule) {
  const Assignment assignment(graph.size(), schedule);
  const Arcs arcs(schedule.devices.size(), [&](const auto& visit) {
    for (const Edge& edge : graph.edges()) {
      const auto& from = assignment.find(edge.from);
      const auto& to = assignment.find(edge.to);
      if (from && to && from->device != to->device) visit(from->device.index(), to->device.index());
    }
  });
  const std::vector<std::size_t> components = strong_components(arcs);
  std::vector<std::size_t> members(arcs.size(), 0);
  std::vector<DeviceId> cycle;
  for (std::size_t block = 0; block < arcs.size() && cycle.empty(); ++block) {
    if (++members[components[block]] < 2) continue;
    for (const std::size_t each : cycle_through(arcs, components, block)) cycle.emplace_back(each);
  }
  return cycle;
}

}  // namespace hios
