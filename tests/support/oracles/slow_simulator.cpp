#include "support/oracles/slow_simulator.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace hios::test {
namespace {

double own_time(const Operator& op, const Device& device) {
  const bool allowed =
      op.allowed.empty() || std::count(op.allowed.begin(), op.allowed.end(), device.name) > 0;
  if (!allowed) return std::numeric_limits<double>::infinity();
  if (op.time_by_device.count(device.name)) return op.time_by_device.at(device.name);
  if (op.time_by_device.count(device.kind)) return op.time_by_device.at(device.kind);
  return op.has_time ? op.time_ms : std::numeric_limits<double>::infinity();
}

}  // namespace

PlainCosts plain_costs_of(const Graph& graph, const Platform& platform) {
  PlainCosts plain_costs;
  plain_costs.stage_ms = [&](const Stage& stage, DeviceId device) {
    double sum = 0, used = 0;
    std::vector<double> lengths;
    for (const Group& group : stage.groups) {
      lengths.push_back(0);
      for (OpId op : group) {
        const double t = own_time(graph.op(op), platform.device(device));
        lengths.back() += t;
        sum += t;
        used += t * graph.op(op).utilization;
      }
    }
    // An infinite sum is the result: 0 · infinity would be NaN below.
    if (sum == std::numeric_limits<double>::infinity()) return sum;
    if (lengths.size() == 1 || graph.stage_cost().kind == StageCostRule::Kind::kSerial) return sum;
    const double longest = *std::max_element(lengths.begin(), lengths.end());
    const double w = graph.stage_cost().weight;
    return w * sum + (1 - w) * std::max(used, longest);
  };
  plain_costs.transfer_ms = [](const Edge& edge, DeviceId from, DeviceId to) {
    return from == to ? 0.0 : edge.transfer_ms.value();
  };
  const bool charged = std::ranges::any_of(
      platform.devices(), [](const Device& device) { return device.io_charge.has_value(); });
  if (charged && platform.contention() == Contention::kNone) {
    plain_costs.receive_share = [&](DeviceId, DeviceId to) {
      return platform.device(to).io_charge.value_or(IoCharge{0, 0}).receive;
    };
  }
  return plain_costs;
}

PlainCosts plain_costs_of(const CostModel& costs) {
  PlainCosts plain_costs;
  plain_costs.stage_ms = [&](const Stage& stage, DeviceId device) {
    for (const Group& group : stage.groups) {
      for (OpId op : group) {
        if (!costs.can_run(op, device)) return std::numeric_limits<double>::infinity();
      }
    }
    return costs.stage_ms(stage, device);
  };
  plain_costs.transfer_ms = [&](const Edge& edge, DeviceId from, DeviceId to) {
    const Graph& graph = costs.graph();
    const auto index = static_cast<std::size_t>(&edge - graph.edges().data());
    return from == to ? 0 : costs.link_ms(EdgeId(index), from, to);
  };
  plain_costs.launch_ms = [&](DeviceId device) { return costs.launch_ms(device); };
  if (costs.sends_ranges()) {
    plain_costs.message_ms = [&](Bytes size, DeviceId from, DeviceId to) {
      const auto link = costs.platform().link(from, to);
      return link ? link->transfer_ms(size)
                  : costs.message_ms(size, from, to) - costs.launch_ms(to);
    };
  }
  if (costs.charges_receivers()) {
    plain_costs.receive_share = [&](DeviceId from, DeviceId to) {
      return costs.receive_share(from, to);
    };
  }
  return plain_costs;
}

namespace {

/// Returns the time that an edge's data travels: with all bytes from the first to the last that its
/// producer sends to the same device.
template <class DeviceOf>
double sent_ms(const Graph& graph, const PlainCosts& costs, const Edge& edge, DeviceOf device_of) {
  const DeviceId from = device_of(edge.from), to = device_of(edge.to);
  if (from == to) return 0;
  if (!costs.message_ms) return costs.transfer_ms(edge, from, to);
  ByteRange bytes = edge.read();
  for (const Edge& other : graph.edges()) {
    if (other.from != edge.from || device_of(other.to) != to) continue;
    bytes.begin = std::min(bytes.begin, other.read().begin);
    bytes.end = std::max(bytes.end, other.read().end);
  }
  return costs.message_ms(bytes.size(), from, to);
}

/// A stage of a schedule.
struct StageRun {
  DeviceId device;
  double cost = 0, start = 0, end = 0;
  std::vector<OpId> operators;
  StageRun* before = nullptr;
};

/// Returns the time at which the stage's device has copied what no stage before it has received, if
/// it begins to wait at `free`.
double copied_by(const Graph& graph, const PlainCosts& costs, const StageRun& run,
                 const std::map<OpId, StageRun*>& run_of, double free) {
  const auto device_of = [&](OpId op) { return run_of.at(op)->device; };
  std::map<OpId, std::pair<double, double>> messages;  // by producer: arrival, copy
  std::map<OpId, double> received;
  for (const Edge& edge : graph.edges()) {
    const StageRun& to = *run_of.at(edge.to);
    if (to.device != run.device || device_of(edge.from) == run.device) continue;
    const double sent = sent_ms(graph, costs, edge, device_of);
    const double copy = costs.receive_share(device_of(edge.from), run.device) * sent;
    if (&to == &run) {
      auto& [arrival, ms] = messages[edge.from];
      arrival = std::max(arrival, run_of.at(edge.from)->end + (sent + costs.launch_ms(run.device)));
      ms = std::max(ms, copy);
    }
    for (const StageRun* earlier = run.before; earlier != nullptr; earlier = earlier->before) {
      if (earlier == &to) received[edge.from] = std::max(received[edge.from], copy);
    }
  }
  std::vector<std::pair<double, double>> copies;
  for (const auto& [producer, message] : messages) {
    const double rest = message.second - received[producer];
    if (rest > 0) copies.emplace_back(message.first, rest);
  }
  std::sort(copies.begin(), copies.end());
  for (const auto& [arrival, ms] : copies) free = std::max(arrival, free + ms);
  return free;
}

}  // namespace

std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const PlainCosts& plain_costs) {
  std::vector<StageRun> runs;
  std::size_t stages = 0;
  for (const auto& device : schedule.devices) stages += device.size();
  runs.reserve(stages);
  std::map<OpId, StageRun*> run_of;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    StageRun* before = nullptr;
    for (const Stage& stage : schedule.devices[d]) {
      StageRun& run = runs.emplace_back();
      run.device = DeviceId(d);
      run.cost = plain_costs.stage_ms(stage, run.device);
      run.before = before;
      before = &run;
      for (const Group& group : stage.groups) {
        for (OpId op : group) {
          run.operators.push_back(op);
          run_of[op] = &run;
        }
      }
    }
  }
  bool moved = true;
  for (std::size_t round = 0; moved; ++round) {
    if (round > stages + 1) return std::nullopt;
    moved = false;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      double start = run->before ? run->before->end : plain_costs.launch_ms(run->device);
      if (plain_costs.receive_share) start = copied_by(graph, plain_costs, *run, run_of, start);
      for (const Edge& edge : graph.edges()) {
        if (run_of[edge.to] != &*run || run_of[edge.from] == &*run) continue;
        const StageRun& from = *run_of[edge.from];
        const double ms =
            sent_ms(graph, plain_costs, edge, [&](OpId op) { return run_of[op]->device; });
        const double launch = from.device == run->device ? 0 : plain_costs.launch_ms(run->device);
        start = std::max(start, from.end + (ms + launch));
      }
      if (start + run->cost != run->end) moved = true;
      run->start = start;
      run->end = start + run->cost;
    }
  }
  double latency = 0;
  for (const StageRun& run : runs) latency = std::max(latency, run.end);
  return latency;
}

namespace {

/// A schedule with contention as equations, whose values rise until nothing changes. A stage or
/// transfer that waits forever is at infinity.
class SlowTraffic {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Sent {
    PlannedTransfer what;
    DeviceId from;
    double ready = kNever, start = kNever, takes = 0;
  };

  SlowTraffic(const Graph& graph, const Schedule& schedule, const PlainCosts& plain_costs,
              Contention contention)
      : graph_(graph), schedule_(schedule), costs_(plain_costs), contention_(contention) {
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      end_.emplace_back(schedule.devices[d].size(), kNever);
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        for (const Group& group : schedule.devices[d][s].groups) {
          for (OpId op : group) position_[op] = {d, s};
        }
      }
    }
    std::set<PlannedTransfer> needed;
    for (const Edge& edge : graph.edges()) {
      const DeviceId to(position_[edge.to].first);
      if (position_[edge.from].first != to.index()) needed.insert({edge.from, to});
    }
    for (const PlannedTransfer& what : needed) {
      Sent sent{what, DeviceId(position_[what.producer].first)};
      for (const Edge& edge : graph.edges()) {
        if (edge.from != what.producer || position_[edge.to].first != what.to.index()) continue;
        sent.takes = std::max(sent.takes, sent_ms_of(edge));
      }
      all_.push_back(sent);
    }
  }

  std::optional<double> latency_ms() {
    std::vector<std::size_t> order;
    for (const PlannedTransfer& listed : schedule_.transfers) {
      for (std::size_t t = 0; t < all_.size(); ++t) {
        if (all_[t].what == listed) order.push_back(t);
      }
    }
    relax(order);
    while (schedule_.transfers.empty() && order.size() < all_.size()) {
      std::size_t first = all_.size();
      for (std::size_t t = 0; t < all_.size(); ++t) {
        if (std::count(order.begin(), order.end(), t) > 0 || all_[t].ready == kNever) continue;
        if (first == all_.size() || all_[t].ready < all_[first].ready) first = t;
      }
      if (first == all_.size()) return std::nullopt;
      order.push_back(first);
      relax(order);
    }
    double latency = 0;
    for (const auto& ends : end_) {
      for (double end : ends) latency = std::max(latency, end);
    }
    if (latency == kNever) return std::nullopt;
    return latency;
  }

 private:
  double sent_ms_of(const Edge& edge) const {
    return sent_ms(graph_, costs_, edge, [&](OpId op) { return DeviceId(position_.at(op).first); });
  }

  bool compete(const Sent& a, const Sent& b) const {
    if (contention_ == Contention::kLink) return a.from == b.from && a.what.to == b.what.to;
    return a.from == b.from || a.what.to == b.what.to;
  }

  /// Lowers all times from infinity to the earliest ones; transfers outside `order` are never sent.
  void relax(const std::vector<std::size_t>& order) {
    bool moved = true;
    while (moved) {
      moved = false;
      const auto lower = [&](double& time, double to) {
        if (to != time) moved = true;
        time = to;
      };
      for (Sent& sent : all_) {
        const auto [d, s] = position_[sent.what.producer];
        lower(sent.ready, end_[d][s]);
      }
      for (std::size_t i = 0; i < order.size(); ++i) {
        double start = all_[order[i]].ready;
        for (std::size_t j = 0; j < i; ++j) {
          const Sent& before = all_[order[j]];
          if (compete(before, all_[order[i]])) start = std::max(start, before.start + before.takes);
        }
        lower(all_[order[i]].start, start);
      }
      for (std::size_t d = 0; d < end_.size(); ++d) {
        for (std::size_t s = 0; s < end_[d].size(); ++s) lower(end_[d][s], end_of(d, s));
      }
    }
  }

  double end_of(std::size_t d, std::size_t s) const {
    double start = s > 0 ? end_[d][s - 1] : costs_.launch_ms(DeviceId(d));
    for (const Edge& edge : graph_.edges()) {
      if (position_.at(edge.to) != std::pair(d, s) || position_.at(edge.from) == std::pair(d, s))
        continue;
      const auto [from_d, from_s] = position_.at(edge.from);
      if (from_d == d) {
        start = std::max(start, end_[d][from_s]);
        continue;
      }
      for (const Sent& sent : all_) {
        if (sent.what != PlannedTransfer{edge.from, DeviceId(d)}) continue;
        start = std::max(start, sent.start + (sent_ms_of(edge) + costs_.launch_ms(DeviceId(d))));
      }
    }
    return start + costs_.stage_ms(schedule_.devices[d][s], DeviceId(d));
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const PlainCosts& costs_;
  Contention contention_;
  std::map<OpId, std::pair<std::size_t, std::size_t>> position_;
  std::vector<std::vector<double>> end_;
  std::vector<Sent> all_;  ///< by producer, then destination
};

}  // namespace

std::optional<double> slow_latency_ms(const Graph& graph, const Schedule& schedule,
                                      const PlainCosts& plain_costs, Contention contention) {
  if (contention == Contention::kNone) return slow_latency_ms(graph, schedule, plain_costs);
  return SlowTraffic(graph, schedule, plain_costs, contention).latency_ms();
}

bool runs_to_its_end(const Graph& graph, const Schedule& schedule) {
  std::set<OpId> produced;
  std::vector<std::size_t> next(schedule.devices.size(), 0);
  const auto can_run = [&](const Stage& stage) {
    for (const Group& group : stage.groups) {
      std::set<OpId> there = produced;
      for (OpId op : group) {
        for (EdgeId e : graph.in_edges(op)) {
          if (!there.count(graph.edge(e).from)) return false;
        }
        there.insert(op);
      }
    }
    return true;
  };
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t d = 0; d < next.size(); ++d) {
      while (next[d] < schedule.devices[d].size() && can_run(schedule.devices[d][next[d]])) {
        for (const Group& group : schedule.devices[d][next[d]].groups) {
          produced.insert(group.begin(), group.end());
        }
        ++next[d];
        moved = true;
      }
    }
  }
  return produced.size() == graph.size();
}

}  // namespace hios::test
