#include "hios/evaluate/many_inferences.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "hios/evaluate/blocks.h"
#include "hios/graph/arcs.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/transfers.h"

// Each moment is the latest of moments of the same inference, or of earlier ones, plus a constant.
// So an inference is timed as a whole, its stages in an order that their arcs allow, behind those
// before it; of these the last `in_flight` are kept.

namespace hios {
namespace {

/// A tensor on its way to one device.
struct Journey {
  OpId producer;
  DeviceId from, to;
  double alone_ms = 0;    ///< in which neither end is busy with it, by its slowest edge
  double receive_ms = 0;  ///< in which the receiver is
};

/// A journey as one stage awaits it: by its own edges only.
struct Arrival {
  std::size_t journey;
  double alone_ms;  ///< and the launch behind it
};

/// A stage with all that its device does for it.
struct Node {
  DeviceId device;
  double launch_ms = 0;               ///< before the first of its device
  double work_ms = 0;                 ///< the stage's cost; overflow before the first of its device
  double send_ms = 0;                 ///< behind it
  std::vector<Arrival> received;      ///< what its operators read from other devices
  std::vector<std::size_t> taken_in;  ///< those of them that no stage of its device read before
  std::vector<std::size_t> sent;      ///< journeys of its operators' tensors
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
    list_journeys();
    order_nodes();
    left_ms_.resize(journeys_.size());
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
        node.send_ms += tensor_ms(graph_, costs_, op) * platform.device(node.device).io_charge.send;
      }
    }
  }

  void list_journeys() {
    const Platform& platform = costs_.platform();
    for (const PlannedTransfer& transfer : transfers_of(graph_, assignment_)) {
      const DeviceId from = assignment_[transfer.producer].device;
      const double send = platform.device(from).io_charge.send;
      const double receive = platform.device(transfer.to).io_charge.receive;
      const std::size_t journey = journeys_.size();
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
        nodes_[stage].received.push_back({journey, ms + launch_ms});
      }
      nodes_[consumers.begin()->first].taken_in.push_back(journey);
      nodes_[assignment_.stage_number(transfer.producer)].sent.push_back(journey);
      journeys_.push_back({transfer.producer, from, transfer.to, slowest_ms,
                           tensor_ms(graph_, costs_, transfer.producer) * receive});
    }
  }

  /// Each stage behind those that it waits for.
  void order_nodes() {
    const Arcs waits(nodes_.size(), [this](const auto& visit) {
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        for (const Arrival& arrival : nodes_[n].received) {
          visit(n, assignment_.stage_number(journeys_[arrival.journey].producer));
        }
        if (n > 0 && nodes_[n - 1].device == nodes_[n].device) visit(n, n - 1);
      }
    });
    const std::vector<std::size_t> number = strong_components(waits);  // what it waits for is less
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
        start = std::max(start, left_ms_[each.journey] + each.alone_ms);
      double end = start;
      for (const std::size_t journey : node.taken_in) end += journeys_[journey].receive_ms;
      end += node.work_ms;
      free_ms = end + node.send_ms;
      for (const std::size_t journey : node.sent)
        left_ms_[journey] = std::max(free_ms, ready[journeys_[journey].to.index()]);
      if (span.start_ms < 0 || start < span.start_ms) span.start_ms = start;
      span.end_ms = std::max(span.end_ms, end);
    }
    ready = free_ms_;
    for (std::size_t j = 0; j < journeys_.size(); ++j) {
      double& of_sender = ready[journeys_[j].from.index()];
      of_sender = std::max(of_sender, left_ms_[j] + journeys_[j].alone_ms);
    }
    return span;
  }

  const Graph& graph_;
  const CostModel& costs_;
  Assignment assignment_;
  std::size_t in_flight_;
  double longest_ms_ = 0;    // block
  std::vector<Node> nodes_;  // by number of the stage
  std::vector<Journey> journeys_;
  std::vector<std::size_t> order_;
  std::vector<double> free_ms_;  // by device: since when it is
  std::vector<double> left_ms_;  // by journey: when this inference's tensor did
  // By place, by device: from when on an inference may have the place.
  std::vector<std::vector<double>> ready_ms_;
};

/// Long enough that the later half shows the period; of large graphs no more than fill the devices
/// and as many again, so that it takes seconds.
std::size_t inferences_for(std::size_t places, std::size_t devices, const Graph& graph) {
  constexpr std::size_t kMostSteps = 40'000'000;
  const std::size_t wanted = 4 * (places + devices) + 32;
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
  const auto run = [&](std::size_t places) {
    return simulate_many(graph, schedule, costs, inferences_for(places, devices, graph), places);
  };
  // More places never make it longer: so the fewest are found by halves. A place filled and one
  // read between any two devices are as many as help; each keeps two numbers a tensor.
  constexpr std::size_t kMostKept = 20'000'000;
  const std::size_t affordable = std::max<std::size_t>(2, kMostKept / (graph.edge_count() + 1));
  std::size_t few = 0, enough = std::min(2 * devices + 1, affordable);
  ManyInferences enough_run = run(enough);
  const double least_ms = enough_run.period_ms;
  while (enough - few > 1) {
    const std::size_t places = few + (enough - few) / 2;
    ManyInferences tried = run(places);
    if (tried.period_ms <= least_ms * kWithin) {
      enough = places;
      enough_run = std::move(tried);
    } else {
      few = places;
    }
  }
  return {enough, std::move(enough_run)};
}

}  // namespace hios
