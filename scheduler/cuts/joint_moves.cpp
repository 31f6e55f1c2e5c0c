// Tests: tests/scheduler/cuts/joint_moves_test.cpp.
#include "scheduler/cuts/joint_moves.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/cuts/cut_operators.h"
#include "scheduler/list/mapped_dispatch.h"
#include "scheduler/list/mapping.h"

namespace hios::scheduler {
namespace {

/// The operators of longer runs are seldom all better off.
constexpr std::size_t kLongestRun = 8;

/// The device and the start of an operator.
struct Position {
  DeviceId device;
  double start_ms = 0;
};

/// By the operator's name, which it has in all networks that have it.
using Positions = std::map<std::string, Position, std::less<>>;

Positions positions_of(const CutSchedule& now) {
  Positions positions;
  const Graph& graph = now.cut.graph();
  const Timeline timeline = simulate(graph, now.schedule, *now.cut.costs);
  for (std::size_t d = 0; d < now.schedule.devices.size(); ++d) {
    const auto& stages = now.schedule.devices[d];
    for (std::size_t s = 0; s < stages.size(); ++s) {
      for (const Group& group : stages[s].groups) {
        for (const OpId op : group) {
          positions[graph.op(op).name] = {DeviceId(d), timeline.stages[d][s].start_ms};
        }
      }
    }
  }
  return positions;
}

/// A network in which the operators of a run have other cuts, with what stays as it was.
class Changed {
 public:
  /// `before`: the positions in the network that the change begins from.
  Changed(const CuttableProblem& problem, CutNetwork cut, const Positions& before)
      : problem_(problem), cut_(std::move(cut)), mapping_(graph().size()), key_(graph().size()) {
    for (const CutOperator& each : cut_operators(cut_.network->coarse, cut_.network->model)) {
      auto& shards = shards_[each.name];
      for (const ShardOperator& shard : each.shards) shards.push_back(shard.op);
    }
    known_.assign(graph().size(), false);
    for (std::size_t i = 0; i < graph().size(); ++i) {
      const auto found = before.find(graph().op(OpId(i)).name);
      if (found != before.end()) put(OpId(i), found->second);
    }
  }

  const Graph& graph() const { return cut_.graph(); }
  const CutNetwork& cut() const { return cut_; }

  /// Returns a candidate's operator, or its shards.
  std::vector<OpId> parts_of(std::size_t candidate) const {
    const std::string& name = problem_.candidates[candidate].op;
    const auto found = shards_.find(name);
    if (found != shards_.end()) return found->second;
    const auto whole = graph().find(name);
    return whole ? std::vector<OpId>{*whole} : std::vector<OpId>{};
  }

  void put(OpId op, const Position& position) {
    mapping_[op.index()] = position.device;
    key_[op.index()] = position.start_ms;
    known_[op.index()] = true;
  }

  /// Returns the shorter of two schedules by these positions: in the order of the starts, and by
  /// longest paths. Operators without a position, which join shards or take rows of one, run where
  /// their first consumer does. Nothing where a device cannot run an operator.
  std::optional<CutSchedule> scheduled(const Taken& taken) {
    complete();
    for (std::size_t i = 0; i < mapping_.size(); ++i) {
      if (!cut_.costs->can_run(OpId(i), mapping_[i])) return {};
    }
    const MappingTimes in_order(graph(), *cut_.costs, order());
    CutSchedule made{taken, cut_, in_order.schedule(mapping_)};
    made.latency_ms = latency_of(made.schedule);
    MappedDispatch dispatch(graph(), *cut_.costs);
    dispatch.latency_ms(mapping_);
    Schedule by_paths = dispatch.schedule();
    const double by_paths_ms = latency_of(by_paths);
    if (by_paths_ms < made.latency_ms) {
      made.schedule = std::move(by_paths);
      made.latency_ms = by_paths_ms;
    }
    return made;
  }

 private:
  double latency_of(const Schedule& schedule) const {
    return simulate(graph(), schedule, *cut_.costs).latency_ms;
  }

  void complete() {
    const auto order = graph().topological();
    for (std::size_t i = order.size(); i-- > 0;) {
      const OpId op = order[i];
      if (known_[op.index()]) continue;
      Position position{DeviceId(0), std::numeric_limits<double>::infinity()};
      for (const EdgeId edge : graph().out_edges(op)) {
        const std::size_t to = graph().edge(edge).to.index();
        if (key_[to] < position.start_ms) position = {mapping_[to], key_[to]};
      }
      mapping_[op.index()] = position.device;
      key_[op.index()] = position.start_ms;
    }
  }

  /// Returns a topological order, of operators that are ready the one with the least start first.
  std::vector<OpId> order() const {
    using Ready = std::pair<double, OpId>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    std::vector<std::size_t> waits(graph().size());
    const auto add = [&](OpId op) { ready.emplace(key_[op.index()], op); };
    for (std::size_t i = 0; i < graph().size(); ++i) {
      waits[i] = graph().in_edges(OpId(i)).size();
      if (waits[i] == 0) add(OpId(i));
    }
    std::vector<OpId> order;
    while (!ready.empty()) {
      const OpId op = ready.top().second;
      ready.pop();
      order.push_back(op);
      for (const EdgeId edge : graph().out_edges(op)) {
        const OpId to = graph().edge(edge).to;
        if (--waits[to.index()] == 0) add(to);
      }
    }
    return order;
  }

  const CuttableProblem& problem_;
  CutNetwork cut_;
  std::map<std::string, std::vector<OpId>, std::less<>> shards_;  // by the whole operator's name
  Mapping mapping_;
  std::vector<double> key_;  // by OpId: the start
  std::vector<bool> known_;  // by OpId: has a position
};

class JointMoves {
 public:
  JointMoves(const CuttableProblem& problem, const Deadline& deadline, CutSchedule& best)
      : problem_(problem),
        deadline_(deadline),
        best_(best),
        budget_(deadline.has_time_limit() ? SIZE_MAX
                                          : networks_of_search(best.cut.graph().size())) {}

  bool run() {
    const Taken from = best_.taken;
    const double from_ms = best_.latency_ms;
    begin();
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t length = 1; length <= kLongestRun; length *= 2) {
        for (std::size_t begin = 0; begin < best_.taken.size(); begin += length) {
          const std::size_t end = std::min(begin + length, best_.taken.size());
          for (const bool cut : {true, false}) moved = change(begin, end, cut) || moved;
        }
      }
    }
    return best_.latency_ms < from_ms || best_.taken != from;
  }

 private:
  void begin() {
    positions_ = positions_of(best_);
    known_.clear();  // a change that did not help may help elsewhere
  }

  /// Cuts the candidates of a run, or makes them whole. Returns true if that helped.
  bool change(std::size_t begin, std::size_t end, bool cut) {
    Taken taken = best_.taken;
    std::fill(taken.begin() + static_cast<std::ptrdiff_t>(begin),
              taken.begin() + static_cast<std::ptrdiff_t>(end), cut);
    if (taken == best_.taken || budget_ == 0 || deadline_.expired()) return false;
    if (!known_.insert(taken).second) return false;
    --budget_;
    std::optional<CutSchedule> shortest;
    try {
      Changed changed(problem_, cut_network(problem_, cuts_of(problem_, taken)), positions_);
      const std::size_t devices = best_.schedule.devices.size();
      for (std::size_t first = 0; first < devices && !deadline_.expired(); ++first) {
        for (std::size_t i = begin; i < end; ++i) {
          if (best_.taken[i] != cut) place(changed, i, first);
        }
        std::optional<CutSchedule> made = changed.scheduled(taken);
        if (made && (!shortest || made->latency_ms < shortest->latency_ms)) shortest = made;
      }
    } catch (const InputError&) {
      return false;  // a cost is missing
    }
    return shortest && take(*std::move(shortest));
  }

  /// Puts a candidate's shards on devices in a row, from `first` on, or the whole on it.
  void place(Changed& changed, std::size_t candidate, std::size_t first) const {
    const std::size_t devices = best_.schedule.devices.size();
    const std::vector<OpId> parts = changed.parts_of(candidate);
    const double start_ms = start_of(candidate);
    for (std::size_t s = 0; s < parts.size(); ++s) {
      changed.put(parts[s], {DeviceId((first + s) % devices), start_ms});
    }
  }

  /// Returns the start of a candidate, the first of its shards', in the best schedule.
  double start_of(std::size_t candidate) const {
    const std::string& name = problem_.candidates[candidate].op;
    const auto whole = positions_.find(name);
    if (whole != positions_.end()) return whole->second.start_ms;
    double start_ms = std::numeric_limits<double>::infinity();
    const std::string prefix = name + " ";  // a shard's name goes on with its range
    for (auto it = positions_.lower_bound(prefix);
         it != positions_.end() && it->first.starts_with(prefix); ++it) {
      start_ms = std::min(start_ms, it->second.start_ms);
    }
    return start_ms;
  }

  /// Keeps a schedule that is shorter, or as short with fewer cuts.
  bool take(CutSchedule made) {
    const auto cuts = [](const CutSchedule& of) { return std::ranges::count(of.taken, true); };
    const bool better = made.latency_ms < best_.latency_ms ||
                        (made.latency_ms == best_.latency_ms && cuts(made) < cuts(best_));
    const Platform& platform = made.cut.costs->platform();
    if (!better || !validate(made.cut.graph(), platform, made.schedule).empty()) return false;
    best_ = std::move(made);
    begin();
    return true;
  }

  const CuttableProblem& problem_;
  const Deadline& deadline_;
  CutSchedule& best_;
  std::size_t budget_;
  Positions positions_;
  std::set<Taken> known_;
};

}  // namespace

bool move_together(const CuttableProblem& problem, const Deadline& deadline, CutSchedule& best) {
  return JointMoves(problem, deadline, best).run();
}

}  // namespace hios::scheduler
