#include "support/oracles/cold/load_player.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"

namespace hios::test {
namespace {

class LoadPlayer {
 public:
  LoadPlayer(const Graph& graph, const Schedule& schedule, const std::vector<PlannedLoads>& plans,
             Random& random)
      : graph_(graph),
        schedule_(schedule),
        weights_(*schedule.weights),
        plans_(plans),
        random_(random),
        sets_(graph),
        assignment_(graph.size(), schedule),
        ranks_(plans.size()) {
    for (const Resident& resident : weights_.resident) hold(resident.on, resident.of);
    for (const ReadInPlace& read : weights_.in_place) in_place_.insert(read.of);
    for (std::size_t r = 0; r < plans.size(); ++r) {
      ranks_[r].loaded.resize(plans[r].lanes.size(), 0);
      for (const auto& lane : plans[r].lanes) {
        for (const PlannedLoad& load : lane) {
          const bool fresh = planned_.emplace(std::pair(load.lane, load.index), r).second;
          report_if(!fresh, "a load is planned twice");
          report_if(at(load).to != DeviceId(r), "a load to another rank");
        }
      }
    }
  }

  std::vector<std::string> play() {
    for (;;) {
      std::vector<std::function<void()>> possible;
      for (std::size_t r = 0; r < ranks_.size(); ++r) add_possible(r, possible);
      if (possible.empty()) break;
      possible[random_.below(possible.size())]();
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) report_left(r);
    report_if(!under_way_.empty(), "a message that nobody receives");
    return std::move(messages_);
  }

 private:
  enum class Kind { kParameters, kBaton, kEnd };
  using Message = std::tuple<Kind, std::size_t, std::size_t, int>;  // from, to, number
  struct RankState {
    std::vector<std::size_t> loaded;  // by lane
    std::size_t stage = 0;            // the next
    std::set<Message> sent, arrived;
  };

  void report_if(bool wrong, const std::string& text) {
    if (wrong) messages_.push_back(text);
  }
  const Load& at(const PlannedLoad& load) const { return weights_.lanes[load.lane][load.index]; }
  void hold(DeviceId device, OpId op) { held_.insert({device.index(), *sets_.of(op)}); }
  bool holds(DeviceId device, OpId op) const {
    return held_.contains({device.index(), *sets_.of(op)});
  }

  bool ended(std::size_t r, const LocalLoad& load) const {
    return ranks_[r].loaded[load.lane] > load.load;
  }
  bool arrived(std::size_t r, const Message& message) const {
    return ranks_[r].arrived.contains(message);
  }
  bool baton_here(std::size_t r, std::size_t baton) const {
    const BatonReceive& receive = plans_[r].exchange.batons_received[baton];
    return arrived(r, {Kind::kBaton, receive.from.index(), r, receive.number});
  }

  /// Checks that a load may begin: all before it in its lane have ended, and its source holds it.
  void check_turn(std::size_t lane, std::size_t index) {
    const Load& load = weights_.lanes[lane][index];
    for (std::size_t i = 0; i < index; ++i) {
      report_if(planned_.contains({lane, i}) && !ended_.contains({lane, i}),
                "a load before its turn: " + graph_.op(load.of).name);
    }
    const auto* source = std::get_if<DeviceId>(&load.from);
    report_if(source && !holds(*source, load.of),
              "a load from where it is not: " + graph_.op(load.of).name);
  }

  void add_possible(std::size_t r, std::vector<std::function<void()>>& possible) {
    const PlannedLoads& plan = plans_[r];
    for (std::size_t l = 0; l < plan.lanes.size(); ++l) {
      if (may_load(r, l)) possible.emplace_back([this, r, l] { load(r, l); });
    }
    const auto may_send = [&](const Message& message, const std::vector<LocalLoad>& after) {
      return !ranks_[r].sent.contains(message) &&
             std::ranges::all_of(after, [&](const LocalLoad& each) { return ended(r, each); });
    };
    for (const ParameterSend& send : plan.exchange.sends) {
      const Message message{Kind::kParameters, r, send.to.index(), send.number};
      if (!may_send(message, send.after) || (send.baton && !baton_here(r, *send.baton))) continue;
      possible.emplace_back([this, r, message, &send] {
        check_turn(send.lane, send.index);
        start(r, message);
      });
    }
    for (const BatonSend& baton : plan.exchange.batons_sent) {
      const Message message{Kind::kBaton, r, baton.to.index(), baton.number};
      if (may_send(message, {baton.after})) {
        possible.emplace_back([this, r, message] { start(r, message); });
      }
    }
    for (const Rank peer : plan.exchange.reports_to) {
      const Message message{Kind::kEnd, r, peer.index(), 0};
      std::vector<LocalLoad> all;
      for (std::size_t l = 0; l < plan.lanes.size(); ++l) {
        all.push_back({l, plan.lanes[l].size() - 1});
      }
      if (may_send(message, all)) {
        possible.emplace_back([this, r, message] { start(r, message); });
      }
    }
    for (const Message& message : under_way_) {
      if (std::get<2>(message) != r || !expects(r, message)) continue;
      possible.emplace_back([this, r, message] {
        ranks_[r].arrived.insert(message);
        under_way_.erase(message);
      });
    }
    if (may_run(r)) possible.emplace_back([this, r] { run_stage(r); });
  }

  void start(std::size_t r, const Message& message) {
    ranks_[r].sent.insert(message);
    under_way_.insert(message);
  }

  bool expects(std::size_t r, const Message& message) const {
    const auto& [kind, from, to, number] = message;
    const LoadExchange& exchange = plans_[r].exchange;
    const auto fits = [&, peer = from, n = number](const auto& each) {
      return each.from == Rank(peer) && each.number == n;
    };
    if (kind == Kind::kParameters) return std::ranges::any_of(exchange.receives, fits);
    if (kind == Kind::kBaton) return std::ranges::any_of(exchange.batons_received, fits);
    return std::ranges::count(exchange.reports_from, Rank(from)) == 1;
  }

  bool may_load(std::size_t r, std::size_t l) const {
    const PlannedLoads& plan = plans_[r];
    const std::size_t i = ranks_[r].loaded[l];
    if (i == plan.lanes[l].size()) return false;
    for (const ParameterReceive& receive : plan.exchange.receives) {
      if (receive.load.lane != l || receive.load.load != i) continue;
      return arrived(r, {Kind::kParameters, receive.from.index(), r, receive.number});
    }
    for (std::size_t b = 0; b < plan.exchange.batons_received.size(); ++b) {
      const auto& opens = plan.exchange.batons_received[b].opens;
      if (opens && opens->lane == l && opens->load == i) return baton_here(r, b);
    }
    return true;
  }

  void load(std::size_t r, std::size_t l) {
    const PlannedLoad& load = plans_[r].lanes[l][ranks_[r].loaded[l]++];
    check_turn(load.lane, load.index);
    ended_.insert({load.lane, load.index});
    hold(DeviceId(r), at(load).of);
  }

  bool may_run(std::size_t r) const {
    const auto& stages = schedule_.devices[r];
    const std::size_t s = ranks_[r].stage;
    if (s == stages.size()) return false;
    for (const LaneWait& wait : plans_[r].waits[s]) {
      if (!ended(r, {wait.lane, wait.load})) return false;
    }
    for (const Rank peer : plans_[r].exchange.reports_from) {
      if (!arrived(r, {Kind::kEnd, peer.index(), r, 0})) return false;
    }
    for (const Group& group : stages[s].groups) {
      for (const OpId op : group) {
        for (const EdgeId edge : graph_.in_edges(op)) {
          const AssignedTo& from = assignment_[graph_.edge(edge).from];
          if (from.device.index() == r && from.stage == s) continue;
          if (ranks_[from.device.index()].stage <= from.stage) return false;
        }
      }
    }
    return true;
  }

  void run_stage(std::size_t r) {
    const std::size_t s = ranks_[r].stage++;
    report_if(weights_.load_first && ended_.size() < planned_.size(), "a stage before all loads");
    for (const Group& group : schedule_.devices[r][s].groups) {
      for (const OpId op : group) {
        report_if(sets_.of(op) && !in_place_.contains(op) && !holds(DeviceId(r), op),
                  graph_.op(op).name + " runs without its parameters");
      }
    }
    for (const PlannedEviction& eviction : plans_[r].evictions) {
      if (eviction.stage != s) continue;
      const std::size_t set = *sets_.of(eviction.readers.front());
      for (const ParameterSend& send : plans_[r].exchange.sends) {
        if (sets_.of(send.readers.front()) != set) continue;
        report_if(!ranks_[send.to.index()].arrived.contains(
                      {Kind::kParameters, r, send.to.index(), send.number}),
                  "an eviction of what is being sent");
      }
      report_if(held_.erase({r, set}) == 0, "an eviction of what is not there");
    }
  }

  void report_left(std::size_t r) {
    const std::string rank = "rank " + std::to_string(r);
    report_if(ranks_[r].stage < schedule_.devices[r].size(), rank + " has not ended its stages");
    for (std::size_t l = 0; l < plans_[r].lanes.size(); ++l) {
      report_if(ranks_[r].loaded[l] < plans_[r].lanes[l].size(), rank + " has not ended a lane");
    }
    const LoadExchange& exchange = plans_[r].exchange;
    report_if(ranks_[r].sent.size() <
                  exchange.sends.size() + exchange.batons_sent.size() + exchange.reports_to.size(),
              rank + " has not sent all");
    report_if(ranks_[r].arrived.size() < exchange.receives.size() +
                                             exchange.batons_received.size() +
                                             exchange.reports_from.size(),
              rank + " has not received all");
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const Weights& weights_;
  const std::vector<PlannedLoads>& plans_;
  Random& random_;
  const ParameterSets sets_;
  const Assignment assignment_;
  std::vector<RankState> ranks_;
  std::set<OpId> in_place_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> planned_;  // lane, index: its rank
  std::set<std::pair<std::size_t, std::size_t>> ended_;                 // lane, index
  std::set<std::pair<std::size_t, std::size_t>> held_;                  // device, set
  std::set<Message> under_way_;
  std::vector<std::string> messages_;
};

}  // namespace

std::vector<std::string> play_loads(const Graph& graph, const Schedule& schedule,
                                    const std::vector<PlannedLoads>& plans, Random& random) {
  return LoadPlayer(graph, schedule, plans, random).play();
}

}  // namespace hios::test
