#include "hios/evaluate/many_inferences.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "hios/evaluate/blocks.h"
#include "hios/graph/arcs.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/transfers.h"

// Each time is the latest of other times of the same inference, or of earlier ones, plus a
// constant. So inferences are simulated one after the other, each with its stages in topological
// order; the times of the last `in_flight` are kept.

namespace hios {
namespace {

/// A transfer of a tensor to one device.
struct Transfer {
  OpId producer;
  DeviceId from, to;
  double alone_ms = 0;    ///< time during which neither end is busy with it, by its slowest edge
  double receive_ms = 0;  ///< time during which the receiver is busy with it
};

/// A transfer that a stage awaits, by its own edges only.
struct Arrival {
  std::size_t transfer;
  double alone_ms;  ///< including the launch after it
};

/// A stage with the work of its device for it.
struct Node {
  DeviceId device;
  double launch_ms = 0;               ///< before the first of its device
  double work_ms = 0;                 ///< the stage's cost; overflow before the first of its device
  double send_ms = 0;                 ///< after the stage
  std::vector<Arrival> received;      ///< tensors that its operators read from other devices
  std::vector<std::size_t> taken_in;  ///< received ones that no earlier stage of its device reads
  std::vector<std::size_t> sent;      ///< transfers of its operators' tensors
};

class Flow {
 public:
  Flow(const Graph& graph, const Schedule& schedule, const CostModel& costs, std::size_t in_flight)
      : graph_(graph),
        costs_(costs),
        assignment_(graph.size(), schedule),
        in_flight_(in_flight),
        free_ms_(schedule.devices.size(), 0) {
    list_nodes(schedule);
    list_transfers();
    order_nodes();
    left_ms_.resize(transfers_.size());
    ready_ms_.assign(in_flight, std::vector<double>(schedule.devices.size(), 0));
  }

  ManyInferences run(std::size_t inferences) {
    ManyInferences done;
    double latencies_ms = 0;
    const std::size_t settled = inferences / 2;
    for (std::size_t i = 0; i < inferences; ++i) {
      const auto [start_ms, end_ms] = infer(i);
      done.end_ms.push_back(done.end_ms.empty() ? end_ms : std::max(end_ms, done.end_ms.back()));
      if (i >= settled) latencies_ms += end_ms - start_ms;
    }
    done.latency_ms = latencies_ms / static_cast<double>(inferences - settled);
    const std::size_t steps = inferences - 1 - settled;
    const double seen_ms =
        steps == 0 ? done.end_ms.back()
                   : (done.end_ms.back() - done.end_ms[settled]) / static_cast<double>(steps);
    done.period_ms = std::max(seen_ms, longest_ms_);
    return done;
  }

 private:
  struct Span {
    double start_ms, end_ms;
  };

  void list_nodes(const Schedule& schedule) {
    const Platform& platform = costs_.platform();
    const Period period = period_of(graph_, schedule, costs_);
    longest_ms_ = period.ms();
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        Node& node = nodes_.emplace_back();
        node.device = DeviceId(d);
        if (s == 0) node.launch_ms = costs_.launch_ms(node.device);
        node.work_ms = costs_.stage_ms(schedule.devices[d][s], DeviceId(d)) +
                       (s == 0 ? period.blocks[d].overflow_ms : 0);
      }
    }
    for (const OpId op : graph_.topological()) {
      Node& node = nodes_[assignment_.stage_number(op)];
      bool leaves = false;
      for (const EdgeId edge : graph_.out_edges(op)) {
        leaves = leaves || assignment_[graph_.edge(edge).to].device != node.device;
      }
      if (leaves) {
        node.send_ms +=
            tensor_ms(graph_, costs_, op) * platform.device(node.device).charge_in_flight().send;
      }
    }
  }

  void list_transfers() {
    const Platform& platform = costs_.platform();
    for (const PlannedTransfer& transfer : transfers_of(graph_, assignment_)) {
      const DeviceId from = assignment_[transfer.producer].device;
      const double send = platform.device(from).charge_in_flight().send;
      const double receive = platform.device(transfer.to).charge_in_flight().receive;
      const std::size_t number = transfers_.size();
      const double alone = std::max(0.0, 1 - send - receive);
      std::map<std::size_t, double> consumers;  // stages, in order: the slowest of their edges
      double slowest_ms = 0;
      for (const EdgeId edge : graph_.out_edges(transfer.producer)) {
        const OpId consumer = graph_.edge(edge).to;
        if (assignment_[consumer].device != transfer.to) continue;
        double& ms = consumers[assignment_.stage_number(consumer)];
        ms = std::max(ms, alone * costs_.link_ms(edge, from, transfer.to));
        slowest_ms = std::max(slowest_ms, ms);
      }
      const double launch_ms = costs_.launch_ms(transfer.to);
      for (const auto& [stage, ms] : consumers) {
        nodes_[stage].received.push_back({number, ms + launch_ms});
      }
      nodes_[consumers.begin()->first].taken_in.push_back(number);
      nodes_[assignment_.stage_number(transfer.producer)].sent.push_back(number);
      transfers_.push_back({transfer.producer, from, transfer.to, slowest_ms,
                            tensor_ms(graph_, costs_, transfer.producer) * receive});
    }
  }

  /// Orders the stages, each after those that it waits for.
  void order_nodes() {
    const Arcs waits(nodes_.size(), [this](const auto& visit) {
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        for (const Arrival& arrival : nodes_[n].received) {
          visit(n, assignment_.stage_number(transfers_[arrival.transfer].producer));
        }
        if (n > 0 && nodes_[n - 1].device == nodes_[n].device) visit(n, n - 1);
      }
    });
    const std::vector<std::size_t> number =
        strong_components(waits);  // smaller for stages that it waits for
    order_.resize(nodes_.size());
    std::vector<bool> taken(nodes_.size(), false);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (taken[number[n]]) {
        throw std::logic_error("simulate_many: the schedule waits in a cycle");
      }
      taken[number[n]] = true;
      order_[number[n]] = n;
    }
  }

  Span infer(std::size_t inference) {
    std::vector<double>& ready = ready_ms_[inference % in_flight_];
    Span span{-1, 0};
    for (const std::size_t n : order_) {
      const Node& node = nodes_[n];
      double& free_ms = free_ms_[node.device.index()];
      double start = std::max(free_ms, ready[node.device.index()] + node.launch_ms);
      for (const Arrival& each : node.received)
        start = std::max(start, left_ms_[each.transfer] + each.alone_ms);
      double end = start;
      for (const std::size_t transfer : node.taken_in) end += transfers_[transfer].receive_ms;
      end += node.work_ms;
      free_ms = end + node.send_ms;
      for (const std::size_t transfer : node.sent)
        left_ms_[transfer] = std::max(free_ms, ready[transfers_[transfer].to.index()]);
      if (span.start_ms < 0 || start < span.start_ms) span.start_ms = start;
      span.end_ms = std::max(span.end_ms, end);
    }
    ready = free_ms_;
    for (std::size_t j = 0; j < transfers_.size(); ++j) {
      double& of_sender = ready[transfers_[j].from.index()];
      of_sender = std::max(of_sender, left_ms_[j] + transfers_[j].alone_ms);
    }
    return span;
  }

  const Graph& graph_;
  const CostModel& costs_;
  Assignment assignment_;
  std::size_t in_flight_;
  double longest_ms_ = 0;    // the most expensive block
  std::vector<Node> nodes_;  // by number of the stage
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> order_;
  std::vector<double> free_ms_;  // by device: end of its work so far
  std::vector<double> left_ms_;  // by transfer: start in this inference
  // By buffer index, by device: the time from which an inference may use the buffer.
  std::vector<std::vector<double>> ready_ms_;
};

/// Returns a number of inferences whose later half shows the period. For large graphs it is not
/// much more than fills the devices, so that a simulation takes seconds.
std::size_t inferences_for(std::size_t in_flight, std::size_t devices, const Graph& graph) {
  constexpr std::size_t kMostSteps = 40'000'000;
  const std::size_t wanted = 4 * (in_flight + devices) + 32;
  const std::size_t affordable = kMostSteps / (graph.size() + graph.edge_count() + 1);
  return std::min(wanted, std::max(affordable, 3 * devices + 32));
}

}  // namespace

ManyInferences simulate_many(const Graph& graph, const Schedule& schedule, const CostModel& costs,
                             std::size_t inferences, std::size_t in_flight) {
  return Flow(graph, schedule, costs, in_flight).run(inferences);
}

InFlight least_in_flight(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  constexpr double kWithin = 1.01;
  const std::size_t devices = schedule.devices.size();
  const auto run = [&](std::size_t in_flight) {
    return simulate_many(graph, schedule, costs, inferences_for(in_flight, devices, graph),
                         in_flight);
  };
  // More buffers never make the period longer, so bisection finds the fewest. More than one that is
  // filled and one that is read between any two devices do not help; each takes two numbers a
  // tensor.
  constexpr std::size_t kMostKept = 20'000'000;
  const std::size_t affordable = std::max<std::size_t>(2, kMostKept / (graph.edge_count() + 1));
  std::size_t few = 0, enough = std::min(2 * devices + 1, affordable);
  ManyInferences enough_run = run(enough);
  const double least_ms = enough_run.period_ms;
  while (enough - few > 1) {
    const std::size_t tried_number = few + (enough - few) / 2;
    ManyInferences tried = run(tried_number);
    if (tried.period_ms <= least_ms * kWithin) {
      enough = tried_number;
      enough_run = std::move(tried);
    } else {
      few = tried_number;
    }
  }
  return {enough, std::move(enough_run)};
}

}  // namespace hios
