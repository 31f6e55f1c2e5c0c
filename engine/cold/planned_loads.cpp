// Every rank plans the loads of all ranks alike and keeps its own, so that ranks need not talk. A
// load belongs to two ranks where it comes from another device: the sender starts it, the receiver
// knows its end. Who knows the end of a load passes its lane on to the rank that starts the next
// one, by a baton if that is another.
//
// No deadlock: validate() finds no cycle through stages, lanes and sources. A rank waits in no
// other order than that, whatever it waits for it passes on batons and parameters (LoadCourier),
// and it stays in an iteration until all its messages have ended. So the first event, in an order
// of all these waits, that has not happened yet, can happen. Tests: planned_loads_test.cpp, and
// load_exchange_test.cpp, which plays random plans of several ranks in random orders.
#include "engine/cold/planned_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"

namespace hios {
namespace {

/// Plans the loads of one rank, then the waits for them.
class LoadPlanner {
 public:
  LoadPlanner(const Graph& graph, const Schedule& schedule, Rank rank, bool any_order)
      : graph_(graph),
        schedule_(schedule),
        weights_(*schedule.weights),
        sets_(graph),
        assignment_(graph.size(), schedule),
        stages_(schedule.devices[rank.index()]),
        here_(rank.index()),
        any_order_(any_order) {}

  PlannedLoads plan() && {
    find_readers();
    find_needed();
    number_loads();
    for (std::size_t l = 0; l < weights_.lanes.size(); ++l) plan_lane(l);
    for (ParameterSend& send : plan_.exchange.sends) add_source(send);
    plan_ends();
    plan_held();
    plan_waits();
    plan_evictions();
    return std::move(plan_);
  }

 private:
  /// A set of parameters on a device.
  using On = std::pair<std::size_t, std::size_t>;

  struct Numbered {
    int number = 0;
    std::size_t to = 0, set = 0;
    std::optional<Rank> from = {};
    bool needed = false;
    /// Returns the rank that starts it.
    std::size_t starter() const { return from ? from->index() : to; }
  };

  void find_readers() {
    std::vector<bool> in_place(graph_.size(), false);
    for (const ReadInPlace& read : weights_.in_place) in_place[read.of.index()] = true;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const OpId op(v);
      const auto set = sets_.of(op);
      const auto& at = assignment_.find(op);
      if (!set || !at) continue;
      if (!in_place[v]) {
        readers_[{*set, at->device.index()}].push_back(op);
      } else if (at->device.index() == here_) {
        plan_.in_place.push_back(op);
      }
    }
  }

  // Parameters that no operator reads, there or where they go on to, are not loaded: nothing could
  // tell.
  void find_needed() {
    for (const auto& [on, readers] : readers_) needed_.insert(on);
    for (bool more = true; more;) {
      more = false;
      for (const Lane& lane : weights_.lanes) {
        for (const Load& load : lane) {
          const auto* const source = std::get_if<DeviceId>(&load.from);
          const auto set = sets_.of(load.of);
          if (!source || !set || !needed_.contains({*set, load.to.index()})) continue;
          more = needed_.insert({*set, source->index()}).second || more;
        }
      }
    }
  }

  void number_loads() {
    int number = 0;
    for (const Lane& lane : weights_.lanes) {
      auto& numbered = loads_.emplace_back();
      for (const Load& load : lane) {
        const auto* const source = std::get_if<DeviceId>(&load.from);
        const auto set = sets_.of(load.of);
        Numbered one{number++, load.to.index(), set.value_or(0)};
        if (source) one.from = Rank(source->index());
        one.needed = set && needed_.contains({*set, one.to});
        numbered.push_back(one);
      }
    }
    plan_.exchange.numbers = number;
  }

  /// Returns the operators of the rank that read a set; where none does, one that reads it
  /// elsewhere.
  std::vector<OpId> readers(std::size_t set) const {
    if (const auto found = readers_.find({set, here_}); found != readers_.end()) {
      return found->second;
    }
    return {readers_.lower_bound({set, 0})->second.front()};
  }

  void plan_lane(std::size_t lane) {
    LoadExchange& exchange = plan_.exchange;
    std::vector<PlannedLoad> loads;
    const Numbered* before = nullptr;
    LocalLoad last{plan_.lanes.size(), 0};  // the last load of the lane to this rank
    for (std::size_t i = 0; i < loads_[lane].size(); ++i) {
      const Numbered& load = loads_[lane][i];
      if (!load.needed) continue;
      const bool passed = before && before->to != load.starter();
      exchange.any = exchange.any || passed || load.from;
      if (passed && before->to == here_) {
        exchange.batons_sent.push_back({Rank(load.starter()), load.number, last});
      }
      std::optional<std::size_t> baton;
      if (passed && load.starter() == here_) {
        baton = exchange.batons_received.size();
        exchange.batons_received.push_back({Rank(before->to), load.number});
      }
      const Bytes bytes = sets_.sets()[load.set].size_bytes;
      if (load.from == Rank(here_)) {
        exchange.sends.push_back(
            {Rank(load.to), load.number, readers(load.set), bytes, lane, i, {}, baton});
        if (before && before->to == here_) exchange.sends.back().after.push_back(last);
      }
      if (load.to == here_) {
        last.load = loads.size();
        brought_by_.emplace(load.set, last);
        loads.push_back({lane, i, readers(load.set), bytes, load.from});
        const auto* const store = std::get_if<StoreId>(&weights_.lanes[lane][i].from);
        if (store) loads.back().store = *store;
        if (load.from) exchange.receives.push_back({*load.from, load.number, last});
        if (baton) {
          loads.back().baton = exchange.batons_received[*baton].from;
          exchange.batons_received[*baton].opens = last;
        }
      }
      before = &load;
    }
    if (!loads.empty()) plan_.lanes.push_back(std::move(loads));
  }

  void add_source(ParameterSend& send) const {
    const auto found = brought_by_.find(*sets_.of(send.readers.front()));
    if (found != brought_by_.end()) send.after.push_back(found->second);
  }

  void plan_ends() {
    if (!weights_.load_first) return;
    std::vector<bool> loads_to(schedule_.devices.size(), false);
    for (const auto& lane : loads_) {
      for (const Numbered& load : lane) {
        if (load.needed) loads_to[load.to] = true;
      }
    }
    for (std::size_t from = 0; from < loads_to.size(); ++from) {
      for (std::size_t to = 0; to < loads_to.size(); ++to) {
        if (!loads_to[from] || from == to || schedule_.devices[to].empty()) continue;
        plan_.exchange.any = true;
        if (from == here_) plan_.exchange.reports_to.emplace_back(to);
        if (to == here_) plan_.exchange.reports_from.emplace_back(from);
      }
    }
  }

  void plan_held() {
    for (const On& on : needed_) {
      if (on.second != here_ || readers_.contains(on)) continue;
      const OpId op = readers(on.first).front();
      const AssignedTo& at = assignment_[op];
      const Stage& stage = schedule_.devices[at.device.index()][at.stage];
      plan_.held.push_back({op, at.group, stage.groups.size()});
    }
  }

  /// Returns the first stage here that waits for a load; the number of stages where none does.
  std::size_t first_stage(const PlannedLoad& load) const {
    std::size_t first = stages_.size();
    if (weights_.load_first) return 0;
    for (const OpId op : load.readers) {
      const AssignedTo& at = assignment_[op];
      if (at.device.index() == here_) first = std::min(first, at.stage);
    }
    return first;
  }

  void plan_waits() {
    plan_.waits.resize(stages_.size());
    if (any_order_) return plan_own_waits();
    for (std::size_t l = 0; l < plan_.lanes.size(); ++l) {
      std::vector<std::size_t> last(stages_.size() + 1, 0);  // by stage: the loads it waits for
      for (std::size_t i = 0; i < plan_.lanes[l].size(); ++i) {
        last[first_stage(plan_.lanes[l][i])] = i + 1;
      }
      std::size_t awaited = 0;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        if (last[s] <= awaited) continue;
        awaited = last[s];
        plan_.waits[s].push_back({l, awaited - 1});
      }
    }
  }

  // A stage relies on no other's waits. The wait for a load is one for all before it in its lane.
  void plan_own_waits() {
    for (std::size_t l = 0; l < plan_.lanes.size(); ++l) {
      std::vector<std::size_t> last(stages_.size(), 0);  // by stage: the loads that it needs
      for (std::size_t i = 0; i < plan_.lanes[l].size(); ++i) {
        if (weights_.load_first) std::ranges::fill(last, i + 1);
        for (const OpId op : plan_.lanes[l][i].readers) {
          const AssignedTo& at = assignment_[op];
          if (at.device.index() == here_) last[at.stage] = i + 1;
        }
      }
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        if (last[s] > 0) plan_.waits[s].push_back({l, last[s] - 1});
      }
    }
  }

  // Batches of one operator share its memory, which stays for the others.
  void plan_evictions() {
    if (graph_.batching()) return;
    for (const Eviction& eviction : weights_.evictions) {
      const auto set = sets_.of(eviction.of);
      const auto& after = assignment_.find(eviction.after);
      if (eviction.from.index() != here_ || !set || !after) continue;
      if (!needed_.contains({*set, here_})) continue;
      PlannedEviction planned{readers(*set),
                              sets_.sets()[*set].size_bytes,
                              after->stage,
                              !brought_by_.contains(*set),
                              {}};
      for (std::size_t i = 0; i < plan_.exchange.sends.size(); ++i) {
        if (sets_.of(plan_.exchange.sends[i].readers.front()) == set) planned.sends.push_back(i);
      }
      plan_.evictions.push_back(std::move(planned));
    }
    std::ranges::stable_sort(plan_.evictions, {}, &PlannedEviction::stage);
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const Weights& weights_;
  const ParameterSets sets_;
  const Assignment assignment_;
  const std::vector<Stage>& stages_;
  std::size_t here_;
  bool any_order_;
  std::map<On, std::vector<OpId>> readers_;      // operators that read the set there, not in place
  std::set<On> needed_;                          // those that an operator needs, there or elsewhere
  std::vector<std::vector<Numbered>> loads_;     // by lane of the schedule
  std::map<std::size_t, LocalLoad> brought_by_;  // by set: the load to this rank
  PlannedLoads plan_;
};

}  // namespace

PlannedLoads plan_loads(const Graph& graph, const Schedule& schedule, Rank rank, bool any_order) {
  if (!schedule.weights) return {};
  return LoadPlanner(graph, schedule, rank, any_order).plan();
}

std::string unplanned_weights(const ScheduleFile& file) {
  const Weights& weights = *file.schedule.weights;
  for (const ReadInPlace& read : weights.in_place) {
    if (file.stores[read.from.index()].kind == StoreKind::kMemory) continue;
    return "in_place: no engine reads parameters in place from a disk yet";
  }
  return {};
}

}  // namespace hios
