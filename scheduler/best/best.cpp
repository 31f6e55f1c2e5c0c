#include "scheduler/best/best.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "hios/evaluate/simulate.h"
#include "scheduler/best/annealing.h"
#include "scheduler/best/search_problem.h"
#include "scheduler/best/starts.h"
#include "scheduler/structures/run_all.h"

// Islands anneal apart from each other (annealing.h), in cycles that are as many moves long for
// all, each cycle longer than the one before: whenever time runs out, most of it went into few long
// coolings, which is what annealing needs. Between two cycles islands exchange their bests, in the
// order of their numbers.
//
// Determinism: an island's moves follow from its own random stream. Threads take whole rounds of
// whole islands, and everything that islands tell each other waits for the round's end, so neither
// the number of threads nor their speed shows. Only out_of_time cuts a round short.
//
// `ios` may take longer than all the rest, and has a chance only where one device is as good as
// many. So it runs after a second or so of annealing (before it, where a cycle takes longer than
// that), and only where a bound for its one device is below what there is by then. Out of time, it
// still runs and ends early by itself, as it would have alone.
//
// Tests: best_test, and oracle_test for all algorithms.

namespace hios::scheduler::best {
namespace {

constexpr double kRounding = 1e-10;           // sums of the same times in another order
constexpr std::int64_t kFirstCycle = 20'000;  // moves, at least
constexpr std::int64_t kFirstMoves = 20;      // of the first cycle, an operator where that is more
constexpr std::int64_t kLongFirstCycle = 400'000;  // moves, at most
constexpr std::int64_t kGrowth = 2;                // of the next cycle
constexpr std::int64_t kUnlimitedBudget = 2000;    // moves an operator where nothing else ends it
constexpr std::int64_t kWorkBeforeIos = 100'000'000;  // moves · operators: a second or so
constexpr std::int64_t kRoundWork = 20'000'000;       // moves · operators: a fraction of a second
constexpr std::int64_t kMostOperatorsOfMove = 1000;   // in larger graphs a move stays in a window

class Search {
 public:
  Search(const Graph& graph, const CostModel& costs, const BestOptions& options, double bound_ms,
         const Context& context)
      : graph_(graph),
        costs_(costs),
        options_(options),
        good_enough_ms_(bound_ms * (1 + kRounding)),
        bound_ms_(bound_ms),
        context_(context),
        threads_(options.threads > 0 ? options.threads
                                     : std::max(1u, std::thread::hardware_concurrency())),
        budget_(options.iterations) {
    if (budget_ == 0 && context.out_of_time) budget_ = std::numeric_limits<std::int64_t>::max();
    if (budget_ == 0) budget_ = kUnlimitedBudget * static_cast<std::int64_t>(graph.size());
  }

  BestResult run() {
    for (Start& start : starts(graph_, costs_, threads_, context_.out_of_time)) {
      offer(start.schedule);
    }
    if (!finished()) anneal();
    try_ios();
    best_.optimal = at_bound_;
    best_.out_of_time = !best_.optimal && late();
    return std::move(best_);
  }

 private:
  bool late() const { return context_.out_of_time && context_.out_of_time(); }
  bool finished() const { return graph_.size() < 2 || at_bound_ || moves_ >= budget_ || late(); }

  void offer(const Schedule& schedule) {
    const double latency = simulate(graph_, schedule, costs_).latency_ms;
    if (!best_.schedule.devices.empty() && latency >= best_.latency_ms) return;
    best_.schedule = schedule;
    best_.latency_ms = latency;
    at_bound_ = at_bound_ || latency <= good_enough_ms_;
  }

  void anneal() {
    problem_.emplace(costs_);
    for (std::size_t i = 0; i < options_.islands; ++i) {
      Random seeds(context_.seed + i, "best");
      islands_.push_back(std::make_unique<Annealing>(*problem_, best_.schedule, seeds.next()));
    }
    const std::int64_t moves_before_ios = kWorkBeforeIos / static_cast<std::int64_t>(graph_.size());
    const auto operators = static_cast<std::int64_t>(graph_.size());
    const std::int64_t first = std::clamp(kFirstMoves * operators, kFirstCycle, kLongFirstCycle);
    for (std::int64_t length = first; !finished(); length *= kGrowth) {
      if (moves_ + length > moves_before_ios) try_ios();
      if (finished()) return;
      run_cycle(cycle_length(length));
      exchange();
    }
  }

  /// What would leave less than half a cycle of the budget is made as long as the budget.
  std::int64_t cycle_length(std::int64_t length) const {
    const std::int64_t left = budget_ - moves_;
    return left - length < length * kGrowth / 2 ? left : length;
  }

  void run_cycle(std::int64_t length) {
    const auto operators = static_cast<std::int64_t>(graph_.size());
    const std::int64_t round = kRoundWork / std::min(operators, kMostOperatorsOfMove);
    for (auto& island : islands_) island->begin_cycle(length);
    for (std::int64_t done = 0; done < length; done += round) {
      const std::int64_t moves = std::min(round, length - done);
      run_all(islands_.size(), threads_, [&](std::size_t i) {
        islands_[i]->run(moves, good_enough_ms_, context_.out_of_time);
      });
      moves_ += moves;
      const Annealing& leader = *islands_[leading()];
      tell(leader.best_ms());
      at_bound_ = leader.best_ms() <= good_enough_ms_;
      if (at_bound_ || late()) break;
    }
    run_all(islands_.size(), threads_, [&](std::size_t i) { islands_[i]->end_cycle(); });
    offer(islands_[leading()]->best());
  }

  std::size_t leading() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < islands_.size(); ++i) {
      if (islands_[i]->best_ms() < islands_[best]->best_ms()) best = i;
    }
    return best;
  }

  /// Every other island goes on from the best of all; the rest keep their own.
  void exchange() {
    const std::size_t best = leading();
    for (std::size_t i = 1; i < islands_.size(); i += 2) {
      if (i != best) islands_[i]->adopt(*islands_[best]);
    }
  }

  /// Once; also when time is up or all moves are made.
  void try_ios() {
    if (ios_tried_ || graph_.size() < 2 || at_bound_) return;
    ios_tried_ = true;
    const auto start = ios_start(graph_, costs_, best_.latency_ms, options_.max_endings, context_);
    if (!start || start->latency_ms >= best_.latency_ms) return;
    offer(start->schedule);
    if (!islands_.empty()) islands_.front()->restart(best_.schedule);
  }

  void tell(double latency_ms) const {
    if (!context_.progress) return;
    char line[160];
    const double gap = bound_ms_ > 0 ? (latency_ms / bound_ms_ - 1) * 100 : 0;
    std::snprintf(line, sizeof line, "best: %.3f ms, bound %.3f ms, gap %.2f %%, %.1f M moves",
                  latency_ms, bound_ms_, gap,
                  static_cast<double>(moves_) * static_cast<double>(islands_.size()) / 1e6);
    context_.progress(line);
  }

  const Graph& graph_;
  const CostModel& costs_;
  const BestOptions& options_;
  double good_enough_ms_, bound_ms_;
  const Context& context_;
  std::size_t threads_;
  std::int64_t budget_;     ///< moves of each island
  std::int64_t moves_ = 0;  ///< made by each
  std::optional<SearchProblem> problem_;
  std::vector<std::unique_ptr<Annealing>> islands_;
  BestResult best_;
  bool at_bound_ = false;   ///< nothing can be shorter
  bool ios_tried_ = false;  ///< or out of the question
};

}  // namespace

BestResult search(const Graph& graph, const CostModel& costs, const BestOptions& options,
                  double bound_ms, const Context& context) {
  return Search(graph, costs, options, bound_ms, context).run();
}

}  // namespace hios::scheduler::best
