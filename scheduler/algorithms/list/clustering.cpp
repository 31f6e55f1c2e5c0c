#include "scheduler/algorithms/list/clustering.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>

#include "hios/evaluate/simulate.h"
#include "scheduler/deadline.h"
#include "scheduler/list/earliest_finish.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"

// Made for expensive transfers: list scheduling considers one operator at a time and separates
// neighbours, while a cluster stays together. O((V + E)·log V) for the clusters; their mapping
// costs as much as list scheduling.
//
// Tests: tests/scheduler/algorithms/list/heft_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

class Clustering {
 public:
  Clustering(const Graph& graph, const CostModel& costs)
      : graph_(graph),
        costs_(costs),
        rest_ms_(upward_ranks(graph, costs)),
        pending_inputs_(graph.size()),
        start_ms_(graph.size(), 0),
        finish_ms_(graph.size(), 0),
        cluster_(graph.size()) {}

  /// Returns the cluster of each operator.
  std::vector<std::size_t> run() {
    const auto topological = graph_.topological();
    for (std::size_t i = 0; i < topological.size(); ++i) {
      pending_inputs_[topological[i].index()] = graph_.in_edges(topological[i]).size();
    }
    position_.resize(graph_.size());
    for (std::size_t i = 0; i < topological.size(); ++i) position_[topological[i].index()] = i;
    for (const OpId op : topological) {
      if (pending_inputs_[op.index()] == 0) make_free(op);
    }
    while (!free_.empty()) {
      const OpId op = free_.top().op;
      free_.pop();
      examine(op);
      for (const EdgeId e : graph_.out_edges(op)) {
        const OpId to = graph_.edge(e).to;
        if (--pending_inputs_[to.index()] == 0) make_free(to);
      }
    }
    return std::move(cluster_);
  }

 private:
  struct Free {
    double through_ms;     ///< the longest path through it
    std::size_t position;  ///< in topological order
    OpId op;
    bool operator<(const Free& other) const {
      if (through_ms != other.through_ms) return through_ms < other.through_ms;
      return position > other.position;
    }
  };

  /// Adds an operator whose producers are all examined, with its start outside all clusters.
  void make_free(OpId op) {
    double start = 0;
    for (const EdgeId e : graph_.in_edges(op)) start = std::max(start, arrival_ms(e));
    start_ms_[op.index()] = start;
    free_.push({start + rest_ms_[op.index()], position_[op.index()], op});
  }

  double arrival_ms(EdgeId edge) const {
    return finish_ms_[graph_.edge(edge).from.index()] + costs_.mean_transfer_ms(edge);
  }

  void examine(OpId op) {
    std::optional<std::size_t> joins;
    double start = start_ms_[op.index()];
    for (const EdgeId e : graph_.in_edges(op)) {
      const std::size_t cluster = cluster_[graph_.edge(e).from.index()];
      const double there = start_in(op, cluster);
      if (there > start || (joins && there == start)) continue;
      joins = cluster;
      start = there;
    }
    if (!joins) {
      joins = free_at_ms_.size();
      free_at_ms_.push_back(0);
    }
    cluster_[op.index()] = *joins;
    finish_ms_[op.index()] = start + costs_.mean_operator_ms(op);
    free_at_ms_[*joins] = finish_ms_[op.index()];
  }

  double start_in(OpId op, std::size_t cluster) const {
    double start = free_at_ms_[cluster];
    for (const EdgeId e : graph_.in_edges(op)) {
      const OpId from = graph_.edge(e).from;
      const bool inside = cluster_[from.index()] == cluster;
      start = std::max(start, inside ? finish_ms_[from.index()] : arrival_ms(e));
    }
    return start;
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<double> rest_ms_;               // by operator: from its start to the end of the graph
  std::vector<std::size_t> pending_inputs_;   // by operator
  std::vector<std::size_t> position_;         // by operator, in topological order
  std::vector<double> start_ms_, finish_ms_;  // by operator: outside all clusters; in its cluster
  std::vector<std::size_t> cluster_;          // by operator
  std::vector<double> free_at_ms_;            // by cluster
  std::priority_queue<Free> free_;
};

using Devices = std::vector<std::optional<DeviceId>>;

/// Maps the largest cluster first, each to the device with the least work, including the cluster's
/// and less the saved transfers. A cluster that no device can hold as a whole gets none.
class Balanced {
 public:
  Balanced(const Graph& graph, const CostModel& costs,
           const std::vector<std::vector<OpId>>& clusters)
      : graph_(graph),
        costs_(costs),
        clusters_(clusters),
        placement_(graph, costs),
        work_ms_(costs.platform().size(), 0),
        device_of_(graph.size()) {}

  /// Returns the device of each cluster.
  Devices run() {
    std::vector<double> size_ms;
    for (const auto& cluster : clusters_) {
      size_ms.push_back(0);
      for (const OpId op : cluster) size_ms.back() += costs_.mean_operator_ms(op);
    }
    std::vector<std::size_t> order(clusters_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return size_ms[a] > size_ms[b]; });
    Devices devices(clusters_.size());
    for (const std::size_t cluster : order) devices[cluster] = place(clusters_[cluster]);
    return devices;
  }

 private:
  std::optional<DeviceId> place(const std::vector<OpId>& cluster) {
    const std::vector<double> saved = saved_ms(cluster);
    std::optional<DeviceId> best;
    double best_ms = 0, best_work_ms = 0;
    for (std::size_t d = 0; d < work_ms_.size(); ++d) {
      if (placement_.fitting(cluster, DeviceId(d)) < cluster.size()) continue;
      double work = work_ms_[d];
      for (const OpId op : cluster) work += costs_.operator_ms(op, DeviceId(d));
      if (best && work - saved[d] >= best_ms) continue;
      best = DeviceId(d);
      best_ms = work - saved[d];
      best_work_ms = work;
    }
    if (!best) return best;
    work_ms_[best->index()] = best_work_ms;
    for (const OpId op : cluster) {
      placement_.place(op, *best);
      device_of_[op.index()] = best;
    }
    return best;
  }

  /// Returns, by device, the transfers between the cluster and operators there.
  std::vector<double> saved_ms(const std::vector<OpId>& cluster) const {
    std::vector<double> saved(work_ms_.size(), 0);
    const auto count = [&](OpId other, EdgeId edge) {
      const auto& device = device_of_[other.index()];
      if (device) saved[device->index()] += costs_.mean_transfer_ms(edge);
    };
    for (const OpId op : cluster) {
      for (const EdgeId e : graph_.in_edges(op)) count(graph_.edge(e).from, e);
      for (const EdgeId e : graph_.out_edges(op)) count(graph_.edge(e).to, e);
    }
    return saved;
  }

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<std::vector<OpId>>& clusters_;
  Placement placement_;
  std::vector<double> work_ms_;  // by device
  Devices device_of_;            // by operator
};

/// Places operators by priority; a cluster without a device gets that of its first operator.
TimedSchedule by_priority(const Graph& graph, const CostModel& costs,
                          const std::vector<std::size_t>& cluster_of, Devices devices,
                          const Deadline& deadline) {
  const std::vector<OpId> order = priority_order(graph, costs);
  EarliestFinish placed(graph, costs);
  std::size_t count = 0;
  for (const OpId op : order) {
    if (deadline.expired_at(count++, kOperatorsPerCheck)) {
      return {list_schedule(graph, costs, order, placed.devices()), true};
    }
    std::optional<DeviceId>& device = devices[cluster_of[op.index()]];
    if (device && placed.place_on(op, *device)) continue;
    const auto chosen = placed.place(op);
    if (!chosen) {
      const auto packed = pack_operators(graph, costs, "cluster", deadline);
      return {list_schedule(graph, costs, order, packed), false};
    }
    if (!device) device = chosen;
  }
  return {placed.schedule(), false};
}

}  // namespace

std::vector<std::vector<OpId>> dominant_sequence_clusters(const Graph& graph,
                                                          const CostModel& costs) {
  const std::vector<std::size_t> cluster_of = Clustering(graph, costs).run();
  std::vector<std::optional<std::size_t>> number(graph.size());  // new index by cluster
  std::vector<std::vector<OpId>> clusters;
  for (const OpId op : graph.topological()) {
    std::optional<std::size_t>& own = number[cluster_of[op.index()]];
    if (!own) {
      own = clusters.size();
      clusters.emplace_back();
    }
    clusters[*own].push_back(op);
  }
  return clusters;
}

TimedSchedule schedule_clusters(const Graph& graph, const CostModel& costs,
                                const Deadline& deadline) {
  const std::vector<std::vector<OpId>> clusters = dominant_sequence_clusters(graph, costs);
  std::vector<std::size_t> cluster_of(graph.size());
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    for (const OpId op : clusters[c]) cluster_of[op.index()] = c;
  }
  TimedSchedule best =
      by_priority(graph, costs, cluster_of, Balanced(graph, costs, clusters).run(), deadline);
  if (best.timed_out) return best;
  TimedSchedule other = by_priority(graph, costs, cluster_of, Devices(clusters.size()), deadline);
  const auto latency = [&](const TimedSchedule& found) {
    return simulate(graph, found.schedule, costs).latency_ms;
  };
  if (latency(other) >= latency(best)) return best;
  return other;
}

}  // namespace hios::scheduler
