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
#include "scheduler/list/mapped_dispatch.h"
#include "scheduler/list/mapping.h"

namespace hios::scheduler {
namespace {

/// The operators of longer runs are seldom all better off.
constexpr std::size_t kLongestRun = 8;

/// The device and the start of an operator.
struct Placed {
  DeviceId device;
  double start_ms = 0;
};

/// An operator of the whole network, or its shards in order, by its name there. Joins of shards
/// have none.
using ByWhole = std::map<std::string, std::vector<OpId>, std::less<>>;
using AllPlaced = std::map<std::string, std::vector<Placed>, std::less<>>;

ByWhole by_whole(const CutNetwork& cut) {
  const CoarseGraph& coarse = cut.network->coarse;
  ByWhole all;
  for (std::size_t i = 0; i < cut.graph().size(); ++i) {
    const std::string& name =
        coarse.whole_names.empty() ? cut.graph().op(OpId(i)).name : coarse.whole_names[i];
    if (!name.empty()) all[name].push_back(OpId(i));
  }
  return all;
}

AllPlaced placed_by(const CutSchedule& now) {
  const Graph& graph = now.cut.graph();
  const Timeline timeline = simulate(graph, now.schedule, *now.cut.costs);
  std::vector<Placed> by_op(graph.size());
  for (std::size_t d = 0; d < now.schedule.devices.size(); ++d) {
    const auto& stages = now.schedule.devices[d];
    for (std::size_t s = 0; s < stages.size(); ++s) {
      for (const Group& group : stages[s].groups) {
        for (const OpId op : group)
          by_op[op.index()] = {DeviceId(d), timeline.stages[d][s].start_ms};
      }
    }
  }
  AllPlaced all;
  for (const auto& [name, ops] : by_whole(now.cut)) {
    for (const OpId op : ops) all[name].push_back(by_op[op.index()]);
  }
  return all;
}

/// A network in which the operators of a run have other cuts, and all others keep their devices.
class Changed {
 public:
  /// `before`: the operators of the network that the change begins from.
  Changed(const CuttableProblem& problem, CutNetwork cut, const AllPlaced& before)
      : problem_(problem),
        cut_(std::move(cut)),
        operators_(by_whole(cut_)),
        mapping_(graph().size()),
        key_(graph().size()),
        known_(graph().size(), false) {
    for (const auto& [name, ops] : operators_) {
      const auto found = before.find(name);
      if (found == before.end() || found->second.size() != ops.size()) continue;
      for (std::size_t s = 0; s < ops.size(); ++s) put(ops[s], found->second[s]);
    }
  }

  const Graph& graph() const { return cut_.graph(); }

  /// Returns a candidate's operator, or its shards.
  const std::vector<OpId>& operators_of(std::size_t candidate) const {
    return operators_.at(problem_.candidates[candidate].op);
  }

  void put(OpId op, const Placed& placed) {
    mapping_[op.index()] = placed.device;
    key_[op.index()] = placed.start_ms;
    known_[op.index()] = true;
  }

  /// Returns the shorter of two schedules of this mapping: in the order of the starts, and by
  /// longest paths. Operators that are not placed, which join shards or take rows of one, run where
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
  std::size_t platform_size() const { return cut_.costs->platform().size(); }
  double latency_of(const Schedule& schedule) const {
    return simulate(graph(), schedule, *cut_.costs).latency_ms;
  }

  void complete() {
    const auto order = graph().topological();
    for (std::size_t i = order.size(); i-- > 0;) {
      const OpId op = order[i];
      if (known_[op.index()]) continue;
      Placed placed{DeviceId(0), std::numeric_limits<double>::infinity()};
      for (const EdgeId edge : graph().out_edges(op)) {
        const std::size_t to = graph().edge(edge).to.index();
        if (key_[to] < placed.start_ms) placed = {mapping_[to], key_[to]};
      }
      for (std::size_t d = 0; d < platform_size() && !cut_.costs->can_run(op, placed.device); ++d)
        placed.device = DeviceId(d);
      mapping_[op.index()] = placed.device;
      key_[op.index()] = placed.start_ms;
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
  const CutNetwork cut_;
  const ByWhole operators_;
  Mapping mapping_;
  std::vector<double> key_;  // by OpId: the start
  std::vector<bool> known_;  // by OpId: is placed
};

class JointMoves {
 public:
  JointMoves(const CuttableProblem& problem, const Deadline& deadline, CutSchedule& best)
      : problem_(problem),
        deadline_(deadline),
        best_(best),
        budget_(deadline.has_time_limit() ? SIZE_MAX
                                          : networks_of_search(2 * best.schedule.devices.size() *
                                                               best.cut.graph().size())) {}

  bool run() {
    const Taken from = best_.taken;
    const double from_ms = best_.latency_ms;
    look_again();
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
  void look_again() {
    placed_ = placed_by(best_);
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
      Changed changed(problem_, cut_network(problem_, cuts_of(problem_, taken)), placed_);
      const std::size_t devices = best_.schedule.devices.size();
      for (std::size_t first = 0; first < devices && !deadline_.expired(); ++first) {
        for (std::size_t i = begin; i < end; ++i) {
          if (best_.taken[i] != cut) place(changed, i, first);
        }
        std::optional<CutSchedule> made = changed.scheduled(taken);
        if (!made || (shortest && made->latency_ms >= shortest->latency_ms)) continue;
        if (is_better(*made)) shortest = std::move(made);
      }
    } catch (const InputError&) {
      return false;  // a cost is missing
    }
    if (!shortest) return false;
    best_ = *std::move(shortest);
    look_again();
    return true;
  }

  /// Puts a candidate's shards on devices in a row, from `first` on, or the whole on it.
  void place(Changed& changed, std::size_t candidate, std::size_t first) const {
    const std::size_t devices = best_.schedule.devices.size();
    const std::vector<OpId>& operators = changed.operators_of(candidate);
    const double start_ms = start_of(candidate);
    for (std::size_t s = 0; s < operators.size(); ++s) {
      changed.put(operators[s], {DeviceId((first + s) % devices), start_ms});
    }
  }

  /// Returns the start of a candidate, of the first of its shards, in the best schedule.
  double start_of(std::size_t candidate) const {
    const auto& placed = placed_.at(problem_.candidates[candidate].op);
    return std::ranges::min(placed, {}, &Placed::start_ms).start_ms;
  }

  /// Returns true for a valid schedule that is shorter, or as short with fewer cuts.
  bool is_better(const CutSchedule& made) const {
    const auto cuts = [](const CutSchedule& of) { return std::ranges::count(of.taken, true); };
    const bool better = made.latency_ms < best_.latency_ms ||
                        (made.latency_ms == best_.latency_ms && cuts(made) < cuts(best_));
    const Platform& platform = made.cut.costs->platform();
    return better && validate(made.cut.graph(), platform, made.schedule).empty();
  }

  const CuttableProblem& problem_;
  const Deadline& deadline_;
  CutSchedule& best_;
  std::size_t budget_;
  AllPlaced placed_;  // by the best schedule
  std::set<Taken> known_;
};

}  // namespace

bool move_together(const CuttableProblem& problem, const Deadline& deadline, CutSchedule& best) {
  return JointMoves(problem, deadline, best).run();
}

}  // namespace hios::scheduler
