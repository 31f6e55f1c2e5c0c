// Tests: tests/scheduler/cuts/cut_search_test.cpp (against brute force over cuts and schedules).
#include "scheduler/cuts/cut_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/cuts/cut_network.h"
#include "scheduler/cuts/joint_moves.h"
#include "scheduler/structures/borrowed.h"

namespace hios::scheduler {
namespace {

/// The least share by which cuts shorten the latency. A shard's time is off by some percent, as all
/// are, and each adds messages: 175 cuts of NASNet that were to gain 0.5 % made its runs 5 %
/// longer.
constexpr double kLeastGain = 0.01;

/// The work of an operator with and without its cut.
struct Work {
  double whole_ms = 0;   ///< the operator's
  double shards_ms = 0;  ///< the sum of its shards'
  double loss() const { return whole_ms > 0 ? shards_ms / whole_ms - 1 : 0; }
};

/// An algorithm with its options.
struct Finder {
  const Algorithm* algorithm = nullptr;
  Options options;
};

/// Returns the shortest of the schedules, the first of several. REQUIRES: some finder.
ScheduleResult shortest(const std::vector<Finder>& finders, const CostModel& costs,
                        const Context& context) {
  std::optional<ScheduleResult> best;
  for (const Finder& finder : finders) {
    ScheduleResult made = finder.algorithm->run(Problem(costs), finder.options, context);
    if (!best || made.latency_ms < best->latency_ms) best = std::move(made);
  }
  return std::move(*best);
}

/// Returns true if the algorithm searches for so long as it is given time or iterations, so that it
/// cannot schedule one network after another.
bool searches_itself(const Algorithm& algorithm) {
  return algorithm.improves || algorithm.exact ||
         std::ranges::find(algorithm.options, "iterations", &OptionSpec::name) !=
             algorithm.options.end();
}

class CutSearch {
 public:
  CutSearch(const CuttableProblem& problem, const std::vector<Finder>& finders,
            const Context& context)
      : problem_(problem), finders_(finders), context_(context) {
    context_.bound = LowerBound{0, "none"};  // it would take longer than the schedule
    context_.progress = {};
  }

  /// Returns the best cuts, none if the whole network's schedule of this latency is no longer.
  Cuts best(double whole_ms) {
    best_ms_ = whole_ms;
    best_.assign(problem_.candidates.size(), false);
    const std::optional<CutNetwork> all = all_cut();
    if (!all) return {};
    budget_ = networks_of_search(finders_.size() * all->graph().size());
    consider(Taken(best_.size(), true));
    undo_first(by(work_of(*all), &Work::loss));
    undo_first(by_whole(work_of(*all)));
    for (double before = 2 * best_ms_; best_ms_ < before;) {
      before = best_ms_;
      change_runs();
    }
    return cuts_of(problem_, best_);
  }

  bool ended_early() const { return ended_early_; }

 private:
  /// Returns the network with all cut; nothing where costs are missing.
  std::optional<CutNetwork> all_cut() const {
    if (problem_.candidates.empty()) return {};
    try {
      return cut_network(problem_, problem_.candidates);
    } catch (const InputError&) {
      return {};
    }
  }

  /// Schedules the network with these cuts, and keeps them if that is shorter than all before, or
  /// as short with fewer cuts.
  bool consider(const Taken& taken) {
    if (budget_ == 0 || context_.deadline.expired()) {
      ended_early_ = ended_early_ || budget_ > 0;
      return false;
    }
    const auto number = std::ranges::count(taken, true);
    if (!known_.insert(taken).second || number == 0) return false;
    --budget_;
    try {
      const CutNetwork cut = cut_network(problem_, cuts_of(problem_, taken));
      const double ms = shortest(finders_, *cut.costs, context_).latency_ms;
      const bool fewer = number < std::ranges::count(best_, true);
      if (ms > best_ms_ || (ms == best_ms_ && !fewer)) return false;
      best_ms_ = ms;
      best_ = taken;
      return true;
    } catch (const InputError&) {
      return false;  // a cost is missing, or memory does not suffice
    }
  }

  /// Returns the work of each candidate with and without its cut.
  std::vector<Work> work_of(const CutNetwork& all) const {
    std::map<LayerId, double> shards_ms;  // by the last layer of the operator
    const CoarseGraph& cut = all.network->coarse;
    for (std::size_t i = 0; i < cut.operators.size(); ++i) {
      const auto origin = all.network->model.layer(cut.operators[i].layers.back()).origin;
      if (origin) shards_ms[*origin] += all.costs->mean_operator_ms(OpId(i));
    }
    std::vector<Work> work;
    const CoarseGraph& whole = problem_.whole->coarse;
    for (const Cut& cut_of : problem_.candidates) {
      const OpId op = *whole.graph.find(cut_of.op);
      work.push_back(
          {problem_.costs->mean_operator_ms(op), shards_ms[whole.layers(op).layers.back()]});
    }
    return work;
  }

  /// Returns the candidates by decreasing loss.
  template <class Key>
  static std::vector<std::size_t> by(const std::vector<Work>& work, Key key) {
    std::vector<std::size_t> order(work.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return (work[a].*key)() > (work[b].*key)(); });
    return order;
  }

  /// Returns the candidates by increasing time of the whole operator.
  static std::vector<std::size_t> by_whole(const std::vector<Work>& work) {
    std::vector<std::size_t> order(work.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return work[i].whole_ms; });
    return order;
  }

  /// Tries the best cuts without the first of these, for several shares of them.
  void undo_first(const std::vector<std::size_t>& order) {
    constexpr std::size_t kSteps = 8;
    const bool cuts_some = std::ranges::count(best_, true) > 0;
    const Taken from = cuts_some ? best_ : Taken(best_.size(), true);
    for (std::size_t step = 1; step < kSteps; ++step) {
      Taken taken = from;
      for (std::size_t i = 0; i < order.size() * step / kSteps; ++i) taken[order[i]] = false;
      consider(taken);
    }
  }

  /// Cuts or joins all operators of a run, for shorter and shorter runs, while that helps.
  void change_runs() {
    for (std::size_t length = best_.size() / 2; length > 0; length /= 2) {
      for (std::size_t begin = 0; begin < best_.size(); begin += length) {
        const std::size_t end = std::min(begin + length, best_.size());
        for (const bool cut : {true, false}) {
          Taken taken = best_;
          std::fill(taken.begin() + static_cast<std::ptrdiff_t>(begin),
                    taken.begin() + static_cast<std::ptrdiff_t>(end), cut);
          consider(taken);
        }
      }
    }
  }

  const CuttableProblem& problem_;
  const std::vector<Finder>& finders_;
  Context context_;
  std::set<Taken> known_;
  Taken best_;
  double best_ms_ = std::numeric_limits<double>::infinity();
  std::size_t budget_ = 1;
  bool ended_early_ = false;
};

/// Cuts that shorten a schedule.
struct FoundCuts {
  Cuts cuts;
  bool ended_early = false;  ///< by the deadline
};

/// Returns the best cuts by the finders' schedules. `whole_ms`: the latency of the whole network;
/// empty: that of theirs.
FoundCuts find_cuts(const CuttableProblem& problem, const std::vector<Finder>& finders,
                    std::optional<double> whole_ms, Context context) {
  context.bound = LowerBound{0, "none"};
  if (!whole_ms) whole_ms = shortest(finders, *problem.costs, context).latency_ms;
  CutSearch search(problem, finders, context);
  FoundCuts found{.cuts = search.best(*whole_ms)};
  found.ended_early = search.ended_early();
  return found;
}

/// Takes the schedule of the network with these cuts where it is shorter than the whole's. `own`:
/// an algorithm that found none of them; may be null.
void improve_by_cuts(const CuttableProblem& problem, const Finder* own,
                     const std::vector<Finder>& finders, const FoundCuts& found,
                     const Context& context, CutResult& best) {
  if (found.ended_early) best.result.outcome = Outcome::kTimeLimit;
  if (found.cuts.empty()) return;
  CutNetwork cut = cut_network(problem, found.cuts);
  Context of_cut = context;
  of_cut.deadline = context.deadline.from_now(context.deadline.seconds_left());
  of_cut.bound = lower_bound(cut.graph(), *cut.costs, of_cut.deadline.share(0.25));
  ScheduleResult result = shortest(finders, *cut.costs, of_cut);
  if (own != nullptr) {
    try {
      ScheduleResult by_own = own->algorithm->run(Problem(*cut.costs), own->options, of_cut);
      if (by_own.latency_ms <= result.latency_ms) result = std::move(by_own);
    } catch (const InputError&) {
      // It refuses the cut network, which has more operators: the quick one's schedule stands.
    }
  }
  if (result.latency_ms > best.whole.latency_ms * (1 - kLeastGain)) return;
  result.outcome = found.ended_early ? Outcome::kTimeLimit : Outcome::kFeasible;
  best.cuts = found.cuts;
  best.network = std::move(cut.network);
  best.costs = std::move(cut.costs);
  best.result = std::move(result);
}

/// Returns the algorithm's schedule of the whole network.
CutResult whole_scheduled(const CuttableProblem& problem, const Finder& own,
                          const Context& context) {
  CutResult best;
  best.whole = own.algorithm->run(Problem(*problem.costs), own.options, context);
  best.result = best.whole;
  // An optimum of the whole is none of all cuts.
  if (!problem.candidates.empty() && best.result.outcome == Outcome::kOptimal)
    best.result.outcome = Outcome::kFeasible;
  return best;
}

/// Returns the schedule that was found, with its cuts.
CutSchedule cut_schedule_of(const CuttableProblem& problem, const CutResult& found) {
  CutSchedule of{.taken = Taken(problem.candidates.size()),
                 .cut = {found.network, found.costs},
                 .schedule = found.result.schedule,
                 .latency_ms = found.result.latency_ms};
  if (found.network == nullptr) of.cut = {borrowed(*problem.whole), borrowed(*problem.costs)};
  for (std::size_t i = 0; i < of.taken.size(); ++i) {
    of.taken[i] = std::ranges::find(found.cuts, problem.candidates[i]) != found.cuts.end();
  }
  return of;
}

/// Returns the schedule of a search that starts from this one, or this one where the search finds
/// nothing shorter.
ScheduleResult gone_on(const CutSchedule& from, const Finder& own, const Context& context) {
  Context with_start = context;
  with_start.deadline = context.deadline.from_now(context.deadline.seconds_left());
  if (!context.bound || std::ranges::count(from.taken, true) > 0) {
    with_start.bound =
        lower_bound(from.cut.graph(), *from.cut.costs, with_start.deadline.share(0.25));
  }
  with_start.start = &from.schedule;
  const Problem problem(*from.cut.costs);
  ScheduleResult result =
      complete(from.schedule, Outcome::kFeasible, problem, own.options, with_start);
  try {
    ScheduleResult found = own.algorithm->run(problem, own.options, with_start);
    if (found.latency_ms <= result.latency_ms) result = std::move(found);
  } catch (const InputError&) {
    // It finds no start of its own.
  }
  return result;
}

/// Changes cuts and devices together (move_together()), and lets a search that improves schedules
/// go on from there. Where nothing was changed, it goes on if a time limit leaves it time.
void improve_together(const CuttableProblem& problem, const Finder& own, const Context& context,
                      CutResult& best) {
  CutSchedule from = cut_schedule_of(problem, best);
  bool changed = move_together(problem, context.deadline.share(0.5), from);
  const double cut_limit_ms = best.whole.latency_ms * (1 - kLeastGain);
  if (std::ranges::count(from.taken, true) > 0 && from.latency_ms > cut_limit_ms) {
    from = cut_schedule_of(problem, best);
    changed = false;
  }
  const bool has_time = context.deadline.has_time_limit() && !context.deadline.expired();
  const bool is_done = best.network == nullptr && best.whole.outcome == Outcome::kOptimal;
  if (!changed && (!has_time || is_done)) return;
  ScheduleResult result = gone_on(from, own, context);
  const Cuts cuts = cuts_of(problem, from.taken);
  const double limit_ms = cuts.empty() ? best.whole.latency_ms : cut_limit_ms;
  if (result.latency_ms > std::min(limit_ms, best.result.latency_ms)) return;
  const bool ended_early = best.result.outcome == Outcome::kTimeLimit || context.deadline.expired();
  result.outcome = ended_early ? Outcome::kTimeLimit : Outcome::kFeasible;
  if (cuts.empty()) best.whole = result;
  best.result = std::move(result);
  best.cuts = cuts;
  best.network = cuts.empty() ? nullptr : from.cut.network;
  best.costs = cuts.empty() ? nullptr : from.cut.costs;
}

/// Returns the context with a share of the time that is left.
Context with_share(const Context& context, double fraction) {
  Context with = context;
  with.deadline = context.deadline.share(fraction);
  return with;
}

/// Finds cuts with the quick algorithms, before the other one has the time that is left.
CutResult schedule_cut_by_search(const CuttableProblem& problem, const Finder& own,
                                 const std::vector<Finder>& quick, const Context& context) {
  FoundCuts found;
  if (!problem.candidates.empty()) {
    try {
      found = find_cuts(problem, quick, {}, with_share(context, 0.3));
    } catch (const InputError&) {
      // The quick algorithms refuse the whole network: nothing is cut.
    }
  }
  const bool goes_on = own.algorithm->improves && !problem.candidates.empty();
  const double whole_share = !found.cuts.empty() ? 0.6 : goes_on ? 0.8 : 1;
  CutResult best = whole_scheduled(problem, own, with_share(context, whole_share));
  improve_by_cuts(problem, &own, quick, found, goes_on ? with_share(context, 0.5) : context, best);
  if (goes_on) improve_together(problem, own, context, best);
  return best;
}

}  // namespace

CutResult schedule_cut(const CuttableProblem& problem, const Algorithm& algorithm,
                       const Options& options, std::span<const Algorithm* const> quick,
                       const Context& context) {
  const Finder own{&algorithm, options};
  std::vector<Finder> finders;
  for (const Algorithm* each : quick) finders.push_back({each, Options(each->options)});
  if (searches_itself(algorithm)) return schedule_cut_by_search(problem, own, finders, context);
  CutResult best = whole_scheduled(problem, own, context);
  if (problem.candidates.empty()) return best;
  const FoundCuts found = find_cuts(problem, {own}, best.whole.latency_ms, context);
  improve_by_cuts(problem, nullptr, {own}, found, context, best);
  return best;
}

}  // namespace hios::scheduler
