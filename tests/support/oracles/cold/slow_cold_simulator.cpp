#include "support/oracles/cold/slow_cold_simulator.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "hios/graph/parameters.h"
#include "support/oracles/cold/slow_cold_parts.h"

namespace hios::test {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class SlowCold {
 public:
  SlowCold(const Graph& graph, const Schedule& schedule, const CostModel& costs)
      : graph_(graph),
        schedule_(schedule),
        costs_(costs),
        topology_(*costs.platform().topology()),
        weights_(schedule.weights.value_or(Weights{})) {
    for (const Bus& bus : topology_.buses()) capacity_.push_back(bus.gb_per_s * 1e6);
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      stages_.emplace_back(schedule.devices[d].size());
      used_.push_back(0);
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        for (const OpId op : operators_of(d, s)) {
          runs_[op] = {d, s};
          used_[d] += static_cast<double>(graph.op(op).memory_bytes);
        }
      }
    }
    for (const Resident& resident : weights_.resident) {
      if (holds_.emplace(std::pair(resident.on.index(), label(resident.of)), 0.0).second) {
        used_[resident.on.index()] += static_cast<double>(graph.op(resident.of).parameter_bytes);
      }
    }
    std::set<std::pair<OpId, DeviceId>> seen;
    for (const Edge& edge : graph.edges()) {
      const DeviceId from(runs_[edge.from].first), to(runs_[edge.to].first);
      if (from != to) seen.insert({edge.from, to});
    }
    for (const auto& [producer, to] : seen) {
      messages_.push_back({producer, DeviceId(runs_[producer].first), to, {}, {}});
    }
    for (const Lane& lane : weights_.lanes) loads_.emplace_back(lane.size());
    next_.assign(weights_.lanes.size(), 0);
    loading_.assign(weights_.lanes.size(), false);
  }

  std::optional<Timeline> run() {
    do {
      for (bool moved = true; moved;) {
        moved = end_flows();
        for (bool again = true; again;) {
          again = begin_stages();
          again |= end_stages();
          moved |= again;
        }
        moved |= start_flows();
      }
    } while (pass_time());
    return is_over() ? std::optional(timeline()) : std::nullopt;
  }

 private:
  std::vector<OpId> operators_of(std::size_t d, std::size_t s) const {
    std::vector<OpId> all;
    for (const Group& group : schedule_.devices[d][s].groups) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }
  std::string label(OpId op) const {
    const Operator& each = graph_.op(op);
    return each.parameters.empty() ? "only " + each.name : "label " + each.parameters;
  }
  std::optional<StoreId> store_of(OpId op) const {
    for (const ReadInPlace& read : weights_.in_place) {
      if (read.of == op && graph_.op(op).parameter_bytes > 0) return read.from;
    }
    return std::nullopt;
  }
  bool now(double ms) const { return ms <= now_ + 1e-9 + 1e-12 * now_; }

  bool lanes_over() const { return std::ranges::equal(next_, weights_.lanes, {}, {}, &Lane::size); }
  bool end_flows() {
    bool any = false;
    for (std::size_t i = 0; i < moving_.size();) {
      if (!now(moving_[i].begins) || moving_[i].left >= 1e-3) {
        ++i;
        continue;
      }
      const Moving ended = moving_[i];
      moving_.erase(moving_.begin() + static_cast<long>(i));
      any = true;
      if (ended.what == Moving::For::kMessage) {
        SlowMessage& message = messages_[ended.a];
        const double alone_ms = costs_.link_ms(edge_of(message), message.from, message.to);
        message.arrived = std::max(now_, *message.sent + alone_ms);
      } else if (ended.what == Moving::For::kStage) {
        SlowStage& stage = stages_[ended.a][ended.b];
        const OpId op = operators_of(ended.a, ended.b).front();
        const auto alone_ms =
            in_place_ms(graph_.op(op), costs_.platform().device(DeviceId(ended.a)));
        stage.times.end_ms = std::max(now_, stage.times.start_ms + *alone_ms);
        stage.is = SlowStage::Is::kStarted;
      } else {
        const Load& load = weights_.lanes[ended.a][next_[ended.a]];
        loads_[ended.a][next_[ended.a]++].end_ms = now_;
        loading_[ended.a] = false;
        holds_[{load.to.index(), label(load.of)}] = now_;
      }
    }
    return any;
  }

  /// Returns the time at which all inputs and parameters are there; infinity where one is missing.
  double ready_ms(std::size_t d, std::size_t s) const {
    const double launch_ms = costs_.launch_ms(DeviceId(d));
    double ready = 0;
    for (const OpId op : operators_of(d, s)) {
      for (const Edge& edge : graph_.edges()) {
        const auto [from_d, from_s] = runs_.at(edge.from);
        if (edge.to != op || std::pair(from_d, from_s) == std::pair(d, s)) continue;
        if (from_d == d) {
          const SlowStage& producer = stages_[d][from_s];
          if (producer.is != SlowStage::Is::kOver) return kNever;
          ready = std::max(ready, producer.times.end_ms);
          continue;
        }
        for (const SlowMessage& message : messages_) {
          if (message.producer != edge.from || message.to != DeviceId(d)) continue;
          if (!message.arrived) return kNever;
          ready = std::max(ready, *message.arrived + launch_ms);
        }
      }
      if (!schedule_.weights || graph_.op(op).parameter_bytes == 0 || store_of(op)) continue;
      const auto held = holds_.find({d, label(op)});
      if (held == holds_.end()) return kNever;
      if (held->second > 0) ready = std::max(ready, held->second + launch_ms);
    }
    if (!weights_.load_first) return ready;
    if (!lanes_over()) return kNever;
    for (const auto& lane : loads_) {
      for (const LoadTimes& load : lane) {
        if (load.end_ms > 0) ready = std::max(ready, load.end_ms + launch_ms);
      }
    }
    return ready;
  }

  /// Returns the time at which the device has copied the messages that no earlier stage reads.
  double copied_ms(std::size_t d, std::size_t s, double free_ms) const {
    std::vector<std::pair<double, double>> copies;  // arrival and copy
    for (const SlowMessage& message : messages_) {
      if (message.to != DeviceId(d)) continue;
      std::size_t first = stages_[d].size();
      for (const Edge& edge : graph_.edges()) {
        const auto [reader_d, reader_s] = runs_.at(edge.to);
        if (edge.from == message.producer && reader_d == d) first = std::min(first, reader_s);
      }
      if (first != s) continue;
      const EdgeId edge = edge_of(message);
      copies.emplace_back(*message.arrived + costs_.launch_ms(message.to),
                          costs_.receive_ms(edge, message.from, message.to));
    }
    return after_copies(std::move(copies), free_ms);
  }

  bool begin_stages() {
    bool any = false;
    for (std::size_t d = 0; d < stages_.size(); ++d) {
      for (std::size_t s = 0; s < stages_[d].size(); ++s) {
        SlowStage& stage = stages_[d][s];
        if (stage.is != SlowStage::Is::kWaiting) continue;
        if (s > 0 && stages_[d][s - 1].is != SlowStage::Is::kOver) break;
        const double ready = ready_ms(d, s);
        if (ready == kNever) break;
        stage.times.awaited_ms =
            s > 0 ? stages_[d][s - 1].times.end_ms : costs_.launch_ms(DeviceId(d));
        stage.times.ready_ms = ready;
        stage.times.start_ms = std::max(ready, copied_ms(d, s, stage.times.awaited_ms));
        stage.times.end_ms = kNever;
        stage.is = SlowStage::Is::kReading;
        if (!store_of(operators_of(d, s).front())) {
          stage.times.end_ms =
              stage.times.start_ms + costs_.stage_ms(schedule_.devices[d][s], DeviceId(d));
          stage.is = SlowStage::Is::kStarted;
        }
        any = true;
      }
    }
    return any;
  }

  bool end_stages() {
    bool any = false;
    for (std::size_t d = 0; d < stages_.size(); ++d) {
      for (std::size_t s = 0; s < stages_[d].size(); ++s) {
        SlowStage& stage = stages_[d][s];
        if (stage.is != SlowStage::Is::kStarted || !now(stage.times.end_ms)) continue;
        stage.is = SlowStage::Is::kOver;
        any = true;
        for (const OpId op : operators_of(d, s)) {
          for (const Eviction& eviction : weights_.evictions) {
            if (eviction.after != op || eviction.from != DeviceId(d)) continue;
            if (holds_.erase({d, label(eviction.of)}) == 0) continue;
            used_[d] -= static_cast<double>(graph_.op(eviction.of).parameter_bytes);
          }
          for (SlowMessage& message : messages_) {
            if (message.producer == op) message.sent = stage.times.end_ms;
          }
        }
      }
    }
    return any;
  }

  bool start_flows() {
    bool any = start_loads();
    for (std::size_t m = 0; m < messages_.size(); ++m) any |= start_message(m);
    for (std::size_t d = 0; d < stages_.size(); ++d) {
      for (std::size_t s = 0; s < stages_[d].size(); ++s) any |= start_read(d, s);
    }
    return any;
  }

  bool start_loads() {
    bool any = false;
    for (std::size_t l = 0; l < next_.size(); ++l) {
      if (loading_[l] || next_[l] == weights_.lanes[l].size()) continue;
      const Load& load = weights_.lanes[l][next_[l]];
      const auto* source = std::get_if<DeviceId>(&load.from);
      if (source && holds_.count({source->index(), label(load.of)}) == 0) continue;
      const auto bytes = static_cast<double>(graph_.op(load.of).parameter_bytes);
      const auto limit = static_cast<double>(costs_.platform().device(load.to).memory_bytes);
      if (limit > 0 && used_[load.to.index()] + bytes > limit) continue;
      used_[load.to.index()] += bytes;
      LoadTimes& times = loads_[l][next_[l]];
      times.lane = l;
      times.index = next_[l];
      times.ready_ms = next_[l] > 0 ? loads_[l][next_[l] - 1].end_ms : 0;
      times.start_ms = now_;
      times.size_bytes = graph_.op(load.of).parameter_bytes;
      loading_[l] = any = true;
      Moving moving = over_route(topology_, now_, load.from, load.to, bytes);
      moving.what = Moving::For::kLoad;
      moving.a = l;
      if (next_[l] == 0) moving.begins += moving.route->start_ms;
      moving_.push_back(moving);
    }
    return any;
  }

  /// Returns the message's edge: of the longest time, of these that of most bytes.
  EdgeId edge_of(const SlowMessage& message) const {
    std::optional<EdgeId> best;
    for (std::size_t e = 0; e < graph_.edge_count(); ++e) {
      const Edge& edge = graph_.edge(EdgeId(e));
      if (edge.from != message.producer || runs_.at(edge.to).first != message.to.index()) continue;
      const double ms = costs_.link_ms(EdgeId(e), message.from, message.to);
      const double best_ms = best ? costs_.link_ms(*best, message.from, message.to) : -1;
      const bool more = best && edge.size_bytes > graph_.edge(*best).size_bytes;
      if (ms > best_ms || (ms == best_ms && more)) best = EdgeId(e);
    }
    return *best;
  }

  bool start_message(std::size_t m) {
    SlowMessage& message = messages_[m];
    if (!message.sent || started_.count(m) > 0) return false;
    started_.insert(m);
    const Edge& edge = graph_.edge(edge_of(message));
    Moving moving =
        over_route(topology_, now_, message.from, message.to, static_cast<double>(edge.size_bytes));
    if (edge.transfer_ms) moving = {.begins = now_ + *edge.transfer_ms};
    moving.what = Moving::For::kMessage;
    moving.a = m;
    moving_.push_back(moving);
    return true;
  }

  bool start_read(std::size_t d, std::size_t s) {
    const SlowStage& stage = stages_[d][s];
    if (stage.is != SlowStage::Is::kReading || !now(stage.times.start_ms)) return false;
    if (!reading_.insert({d, s}).second) return false;
    const OpId op = operators_of(d, s).front();
    const double ms = *in_place_ms(graph_.op(op), costs_.platform().device(DeviceId(d)));
    const auto bytes =
        static_cast<double>(graph_.op(op).in_place_bytes.value_or(graph_.op(op).parameter_bytes));
    moving_.push_back(
        lasting(over_route(topology_, now_, *store_of(op), DeviceId(d), bytes), now_, ms));
    moving_.back().a = d;
    moving_.back().b = s;
    return true;
  }

  bool runs(const SlowStage& stage) const { return now(stage.times.start_ms); }

  /// Lets time pass to the next event, and returns false where there is none. The end of a stage
  /// that runs is that without further loads.
  bool pass_time() {
    std::vector<PlainFlow> flows;
    std::vector<double> paces;
    for (const Moving& moving : moving_) {
      if (now(moving.begins)) flows.push_back(slowed_flow(moving, moving_, stages_));
    }
    for (std::size_t d = 0; d < stages_.size(); ++d) paces.push_back(pace_of(DeviceId(d), moving_));
    const std::vector<double> rates = plain_max_min_rates(capacity_, flows);
    double step = kNever;
    std::size_t f = 0;
    for (const Moving& moving : moving_) {
      step = std::min(step, now(moving.begins) ? moving.left / rates[f++] : moving.begins - now_);
    }
    for (std::size_t d = 0; d < stages_.size(); ++d) {
      for (const SlowStage& stage : stages_[d]) {
        if (!runs(stage)) {
          const bool begins =
              stage.is == SlowStage::Is::kStarted || stage.is == SlowStage::Is::kReading;
          if (begins) step = std::min(step, stage.times.start_ms - now_);
        } else if (stage.is == SlowStage::Is::kStarted) {
          step = std::min(step, (stage.times.end_ms - now_) * paces[d]);
        }
      }
    }
    if (step == kNever) return false;
    f = 0;
    for (Moving& moving : moving_) {
      if (now(moving.begins)) moving.left -= rates[f++] * step;
    }
    for (std::size_t d = 0; d < stages_.size(); ++d) {
      for (SlowStage& stage : stages_[d]) {
        if (stage.is == SlowStage::Is::kStarted && runs(stage)) {
          stage.times.end_ms += step - step / paces[d];
        }
      }
    }
    now_ += step;
    return true;
  }

  bool is_over() const {
    const auto over = [](const SlowStage& stage) { return stage.is == SlowStage::Is::kOver; };
    return lanes_over() && std::ranges::all_of(stages_, [&](const auto& device) {
             return std::ranges::all_of(device, over);
           });
  }

  Timeline timeline() const {
    Timeline timeline;
    for (const auto& device : stages_) {
      auto& times = timeline.stages.emplace_back();
      for (const SlowStage& stage : device) {
        times.push_back(stage.times);
        timeline.latency_ms = std::max(timeline.latency_ms, stage.times.end_ms);
      }
    }
    for (const SlowMessage& message : messages_) {
      timeline.transfers.push_back({message.producer, message.from, message.to, *message.sent,
                                    *message.arrived, graph_.edge(edge_of(message)).size_bytes});
    }
    for (const auto& lane : loads_) {
      timeline.loads.insert(timeline.loads.end(), lane.begin(), lane.end());
    }
    return timeline;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const CostModel& costs_;
  const Topology& topology_;
  const Weights weights_;
  std::vector<double> capacity_;
  std::vector<std::vector<SlowStage>> stages_;
  std::map<OpId, std::pair<std::size_t, std::size_t>> runs_;
  std::map<std::pair<std::size_t, std::string>, double> holds_;  // since when
  std::vector<double> used_;                                     // bytes by device
  std::vector<SlowMessage> messages_;                            // by producer, then destination
  std::vector<std::vector<LoadTimes>> loads_;
  std::vector<std::size_t> next_;
  std::vector<bool> loading_;
  std::set<std::size_t> started_;
  std::set<std::pair<std::size_t, std::size_t>> reading_;
  std::vector<Moving> moving_;
  double now_ = 0;
};

}  // namespace

std::optional<Timeline> slow_cold_timeline(const Graph& graph, const Schedule& schedule,
                                           const CostModel& costs) {
  return SlowCold(graph, schedule, costs).run();
}

}  // namespace hios::test
