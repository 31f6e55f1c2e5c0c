#include "scheduler/best/best.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "hios/evaluate/simulate.h"
#include "scheduler/best/islands.h"
#include "scheduler/best/starts/device_subsets.h"
#include "scheduler/best/starts/starts.h"
#include "scheduler/structures/run_all.h"

// Islands anneal independently (annealing.h), in cycles of equally many moves for all. Each cycle
// is longer than the one before: whenever the time ends, most of it went into few long coolings,
// which annealing needs. A cooling that the time cuts short is lost, so the last cycle is as long
// as the time is enough for at the speed of the one before. Between two cycles islands exchange
// their bests, in the order of their numbers.
//
// Where transfers are expensive, half of the islands begin with strips (algorithms/list/strips.h)
// and half with the shortest of the other schedules; so it is where prices for memory
// (starts/priced_start.h) give the shortest. Odd islands meet after the first cycle.
//
// Where devices differ, the fastest of them are also searched alone, by as many islands
// (starts/device_subsets.h). Annealing that may use a slow device finds a good schedule of the fast
// ones later than annealing that may not. The islands of a subset do exactly what they would
// without the other devices. So with one slow device more, the same budget of moves never ends at a
// longer schedule. Each subset passes its best to the next larger one after each cycle. A subset is
// pruned once its lower bound is not below the best of all; with a time limit, which gives no such
// guarantee, also once its best is far above it, in a large graph from the beginning. With a time
// limit, groups that end a cycle above the best also leave the next cycle to the others: mostly one
// group has all the time, so that more devices cost little of it.
//
// Determinism: an island's moves follow from its own random stream. Threads take whole rounds of
// whole islands, and islands exchange nothing before the round's end. So the result depends neither
// on the number of threads nor on their speed. Only the deadline cuts a round short, and where it
// alone ends the search, the number of islands may follow that of threads (island_count()).
//
// `ios` may take longer than everything else, and has a chance only where one device is as good as
// many. So it runs after about a second of annealing (before it, if a cycle takes longer), and only
// where a bound of its one device is below the best latency. After the deadline it still runs and
// ends early by itself, as it would have alone.
//
// Tests: tests/scheduler/best/best_test.cpp, and tests/scheduler/oracle_test.cpp for all
// algorithms.

namespace hios::scheduler::best {
namespace {

constexpr double kSumRounding = 1e-10;        // sums of the same times in another order
constexpr std::int64_t kFirstCycle = 20'000;  // moves, at least
constexpr std::int64_t kFirstMoves = 20;  // moves an operator in the first cycle, if that is more
constexpr std::int64_t kLongFirstCycle = 400'000;  // moves, at most
constexpr std::int64_t kGrowth = 2;                // ratio of two cycles' lengths
constexpr double kInTime = 0.9;  // share of the time that a last cycle may take at that speed
constexpr std::int64_t kUnlimitedBudget = 2000;       // moves an operator without any other limit
constexpr std::int64_t kWorkBeforeIos = 100'000'000;  // moves · operators: about a second
constexpr std::int64_t kRoundWork = 20'000'000;       // moves · operators: a fraction of a second
constexpr std::size_t kLeastIslands = 2;              // however few threads there are
constexpr double kFarAbove =
    1.02;                         // ratio to the best of all at which a time limit prunes a subset
constexpr double kAbove = 1.001;  // ratio at which a time limit lets a group rest for a cycle
/// In larger graphs the first cycle takes seconds, so that starts decide which subsets it has.
constexpr std::size_t kMaxOperatorsOfFirstCycle = 2000;
constexpr std::int64_t kMaxOperatorsOfMove = 1000;  // larger graphs' moves stay in a neighbourhood

std::size_t threads_of(const BestOptions& options) {
  return options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

class Search {
 public:
  Search(const Graph& graph, const CostModel& costs, const BestOptions& options, double bound_ms,
         const Context& context)
      : graph_(graph),
        costs_(costs),
        options_(options),
        good_enough_ms_(bound_ms * (1 + kSumRounding)),
        bound_ms_(bound_ms),
        context_(context),
        preparing_(options.starts_take_half ? context.deadline.half() : context.deadline),
        threads_(threads_of(options)),
        island_count_(
            island_count(options, options.iterations == 0 && context.deadline.can_expire())),
        budget_(options.iterations) {
    if (budget_ == 0 && context.deadline.can_expire())
      budget_ = std::numeric_limits<std::int64_t>::max();
    if (budget_ == 0) budget_ = kUnlimitedBudget * static_cast<std::int64_t>(graph.size());
  }

  BestResult run() {
    const std::vector<Start> made = all_starts();
    for (const Start& start : made) offer(start.schedule);
    island_starts_ = island_starts(made);
    if (!finished()) anneal();
    try_ios();
    best_.optimal = at_bound_;
    best_.timed_out = !best_.optimal && late();
    return std::move(best_);
  }

 private:
  bool late() const { return context_.deadline.expired(); }
  bool finished() const { return graph_.size() < 2 || at_bound_ || moves_ >= budget_ || late(); }

  std::vector<Start> all_starts() const {
    std::vector<Start> all = starts(graph_, costs_, threads_, preparing_);
    if (context_.start == nullptr) return all;
    const double latency_ms = simulate(graph_, *context_.start, costs_).latency_ms;
    const auto shorter = [&](const Start& start) { return start.latency_ms < latency_ms; };
    all.insert(std::ranges::partition_point(all, shorter), {"start", *context_.start, latency_ms});
    return all;
  }

  void offer(const Schedule& schedule) {
    const double latency = simulate(graph_, schedule, costs_).latency_ms;
    if (!best_.schedule.devices.empty() && latency >= best_.latency_ms) return;
    best_.schedule = schedule;
    best_.latency_ms = latency;
    at_bound_ = at_bound_ || latency <= good_enough_ms_;
  }

  void anneal() {
    subsets_ = device_subsets(graph_, costs_, threads_, best_.latency_ms, preparing_);
    for (const DeviceSubset& subset : subsets_) {
      offer(subset.start.schedule);
      add_group(subset.costs, subset.island_starts);
    }
    island_starts_.front() = best_.schedule;
    add_group(costs_, island_starts_);
    const auto operators = static_cast<std::int64_t>(graph_.size());
    const std::int64_t moves_before_ios = kWorkBeforeIos / operators;
    const std::int64_t first = std::clamp(kFirstMoves * operators, kFirstCycle, kLongFirstCycle);
    for (std::int64_t length = first; !finished(); length *= kGrowth) {
      if (moves_ + length > moves_before_ios) try_ios();
      if (finished()) return;
      run_cycle(cycle_length(length));
      exchange();
    }
  }

  void add_group(const CostModel& costs, const std::vector<Schedule>& from) {
    groups_.push_back(std::make_unique<Islands>(costs, from, island_count_, context_.seed));
    resting_.push_back(false);
  }

  /// Returns the moves of the budget that are left, and for which there is time.
  std::int64_t moves_left() const {
    const std::int64_t left = budget_ - moves_;
    if (options_.iterations > 0 || !context_.deadline.has_time_limit() || moves_per_s_ <= 0) {
      return left;
    }
    const double in_time = kInTime * context_.deadline.seconds_left() * moves_per_s_;
    return in_time < static_cast<double>(left)
               ? std::max(kFirstCycle, static_cast<std::int64_t>(in_time))
               : left;
  }

  /// Makes a cycle take all moves that are left if less than half a cycle would be.
  std::int64_t cycle_length(std::int64_t length) const {
    const std::int64_t left = moves_left();
    return left - length < length * kGrowth / 2 ? left : length;
  }

  void run_cycle(std::int64_t length) {
    prune_subsets();
    std::vector<Annealing*> islands;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (resting_[g]) continue;
      for (std::size_t i = 0; i < groups_[g]->size(); ++i) islands.push_back(&(*groups_[g])[i]);
    }
    const auto operators = static_cast<std::int64_t>(graph_.size());
    const std::int64_t round = kRoundWork / std::min(operators, kMaxOperatorsOfMove);
    const std::int64_t moves_before = moves_;
    const double began_s = context_.deadline.now_s();
    for (Annealing* island : islands) island->begin_cycle(length);
    for (std::int64_t done = 0; done < length; done += round) {
      const std::int64_t moves = std::min(round, length - done);
      run_all(islands.size(), threads_,
              [&](std::size_t i) { islands[i]->run(moves, good_enough_ms_, context_.deadline); });
      moves_ += moves;
      island_moves_ += moves * static_cast<std::int64_t>(islands.size());
      const double least = least_ms();
      report_progress(least);
      at_bound_ = least <= good_enough_ms_;
      if (at_bound_ || late()) break;
    }
    run_all(islands.size(), threads_, [&](std::size_t i) { islands[i]->end_cycle(); });
    const double took_s = context_.deadline.now_s() - began_s;
    if (took_s > 0) moves_per_s_ = static_cast<double>(moves_ - moves_before) / took_s;
    for (const auto& group : groups_) offer(group->leading().best());
    let_rest();
  }

  /// Lets groups rest in the next cycle whose best is above the least of all, but for those that
  /// rested.
  void let_rest() {
    if (options_.iterations > 0) return;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      resting_[g] = !resting_[g] && groups_[g]->leading().best_ms() > kAbove * least_ms();
    }
    const bool nobody = std::find(resting_.begin(), resting_.end(), false) == resting_.end();
    if (nobody) resting_.assign(groups_.size(), false);
  }

  double least_ms() const {
    double least = best_.latency_ms;
    for (const auto& group : groups_) least = std::min(least, group->leading().best_ms());
    return least;
  }

  /// Removes subsets that cannot improve, the largest first; smaller ones may still help a larger
  /// one.
  void prune_subsets() {
    while (!subsets_.empty() && cannot_improve(subsets_.size() - 1)) {
      subsets_.pop_back();
      groups_.erase(groups_.end() - 2);
      resting_.erase(resting_.end() - 2);
    }
  }

  bool cannot_improve(std::size_t subset) const {
    if (subsets_[subset].bound_ms >= best_.latency_ms) return true;
    const bool by_time = options_.iterations == 0;
    const bool judged = moves_ > 0 || graph_.size() > kMaxOperatorsOfFirstCycle;
    return by_time && judged && groups_[subset]->leading().best_ms() > kFarAbove * best_.latency_ms;
  }

  /// Exchanges bests within groups, then passes each subset's best to the next.
  void exchange() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g]->exchange();
      if (g == 0) continue;
      const Annealing& inner = groups_[g - 1]->leading();
      groups_[g]->take(inner.best(), inner.best_ms());
    }
  }

  /// Tries `ios` once, also when the time is up or all moves are made.
  void try_ios() {
    if (ios_tried_ || graph_.size() < 2 || at_bound_) return;
    ios_tried_ = true;
    double longest = best_.latency_ms;
    for (const auto& group : groups_) longest = std::max(longest, group->leading().best_ms());
    const auto start = ios_start(graph_, costs_, longest, options_.max_endings, context_);
    if (!start) return;
    offer(start->schedule);
    for (const auto& group : groups_) group->take(start->schedule, start->latency_ms);
  }

  void report_progress(double latency_ms) const {
    if (!context_.progress) return;
    char line[160];
    const double gap = bound_ms_ > 0 ? (latency_ms / bound_ms_ - 1) * 100 : 0;
    std::snprintf(line, sizeof line, "best: %.3f ms, bound %.3f ms, gap %.2f %%, %.1f M moves",
                  latency_ms, bound_ms_, gap, static_cast<double>(island_moves_) / 1e6);
    context_.progress(line);
  }

  const Graph& graph_;
  const CostModel& costs_;
  const BestOptions& options_;
  double good_enough_ms_, bound_ms_;
  const Context& context_;
  Deadline preparing_;  ///< the deadline of starts
  std::size_t threads_;
  std::size_t island_count_;           ///< of each group
  std::int64_t budget_;                ///< moves of each island
  std::int64_t moves_ = 0;             ///< made by each
  std::int64_t island_moves_ = 0;      ///< made by all islands
  double moves_per_s_ = 0;             ///< of each in the last cycle
  std::vector<DeviceSubset> subsets_;  ///< the groups' but for the last, in their order
  std::vector<std::unique_ptr<Islands>>
      groups_;                 ///< one for each subset, then the whole platform's
  std::vector<bool> resting_;  ///< by group: left out of the next cycle
  BestResult best_;
  std::vector<Schedule> island_starts_;
  bool at_bound_ = false;   ///< no schedule can be shorter
  bool ios_tried_ = false;  ///< or cannot help
};

}  // namespace

std::size_t island_count(const BestOptions& options, bool deadline_alone) {
  if (options.islands > 0) return options.islands;
  return deadline_alone ? std::clamp(threads_of(options), kLeastIslands, kIslands) : kIslands;
}

BestResult search(const Graph& graph, const CostModel& costs, const BestOptions& options,
                  double bound_ms, const Context& context) {
  return Search(graph, costs, options, bound_ms, context).run();
}

}  // namespace hios::scheduler::best
