#include "scheduler/cold/search/search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>

#include "hios/base/numbers/random.h"
#include "scheduler/cold/search/cold_plan.h"
#include "scheduler/cold/search/plain_plan.h"
#include "scheduler/cold/search/plan_moves.h"
#include "scheduler/structures/run_all.h"

// Islands anneal by themselves, each from another one of the best starts, in cycles of equally many
// moves for all. A cycle cools from a percent of the latency to nearly nothing, and is longer
// than the one before. Between cycles every second island continues with the best of all; the
// others do so once theirs is far above it, so that not all search the same valley.
//
// The best start stays where no plan is shorter by more than rounding, and of the best plan only
// what makes it shorter (plain_plan.h), for which some of the time is left.
//
// A move copies the plan and simulates its schedule, which takes nearly all of the time.
//
// Determinism: an island's moves follow from its own random stream. Islands exchange nothing before
// a cycle's end, so the number of threads does not matter. Only the deadline cuts a cycle short.
//
// Tests: tests/scheduler/cold/search_test.cpp.

namespace hios::scheduler::cold {
namespace {

constexpr double kRoundingOfSums = 1e-10;   // sums of the same times in another order
constexpr double kFirstTemperature = 0.01;  // of the latency
constexpr double kLastTemperature = 1e-5;
constexpr std::int64_t kFirstMovesOfIsland = 200;  // moves
constexpr std::int64_t kCycleGrowth = 2;           // ratio of two cycles' lengths
constexpr std::int64_t kMovesOfOperator = 200;     // moves an operator without any other limit
constexpr double kTimeOfMoves = 0.95;              // of the deadline's, the rest for a plainer plan
constexpr double kNotFarAbove = 1.05;              // ratio to the best at which an island goes on

class Annealer {
 public:
  Annealer(const PlanProblem& problem, ColdPlan start, double start_ms, std::uint64_t seed,
           std::string_view name)
      : problem_(problem),
        random_(seed, name),
        current_(std::move(start)),
        current_ms_(start_ms),
        best_(current_),
        best_ms_(start_ms) {}

  const ColdPlan& best() const { return best_; }
  double best_ms() const { return best_ms_; }
  void take(const ColdPlan& plan, double ms) {
    best_ = plan;
    best_ms_ = ms;
  }

  /// Cools from its best plan.
  void run_cycle(std::int64_t moves, double good_enough_ms, const Deadline& deadline) {
    current_ = best_;
    current_ms_ = best_ms_;
    const double ratio = kLastTemperature / kFirstTemperature;
    for (std::int64_t move = 0; move < moves; ++move) {
      if (best_ms_ <= good_enough_ms || deadline.expired()) return;
      const double done = static_cast<double>(move) / static_cast<double>(moves);
      try_move(best_ms_ * kFirstTemperature * std::pow(ratio, done));
    }
  }

 private:
  void try_move(double temperature_ms) {
    ColdPlan next = current_;
    if (!make_move(problem_, next, random_)) return;
    const auto schedule = schedule_of(problem_, next);
    if (!schedule) return;
    const double ms = problem_.latency_ms(*schedule);
    const double worse_ms = ms - current_ms_;
    if (worse_ms > 0 && random_.uniform() >= std::exp(-worse_ms / temperature_ms)) return;
    current_ = std::move(next);
    current_ms_ = ms;
    if (ms < best_ms_) {
      best_ = current_;
      best_ms_ = ms;
    }
  }

  const PlanProblem& problem_;
  Random random_;
  ColdPlan current_;
  double current_ms_;
  ColdPlan best_;
  double best_ms_;
};

class Search {
 public:
  Search(const CostModel& costs, const SearchOptions& options, double bound_ms,
         const Context& context, const Held& held)
      : problem_(costs, held),
        options_(options),
        good_enough_ms_(bound_ms * (1 + kRoundingOfSums)),
        bound_ms_(bound_ms),
        context_(context),
        moves_until_(context.deadline.share(kTimeOfMoves)),
        threads_(options.threads > 0 ? options.threads
                                     : std::max(1u, std::thread::hardware_concurrency())),
        budget_(options.iterations) {
    if (costs.reports_unmeasured()) threads_ = 1;  // its callback is no matter for threads
    if (budget_ == 0 && context.deadline.can_expire())
      budget_ = std::numeric_limits<std::int64_t>::max();
    if (budget_ == 0) budget_ = kMovesOfOperator * static_cast<std::int64_t>(costs.graph().size());
  }

  SearchResult run(const std::vector<Schedule>& starts) {
    rank(starts);
    SearchResult result{starts[ranked_.front().index]};
    double least_ms = ranked_.front().ms;
    if (least_ms > good_enough_ms_) {
      make_islands(starts);
      for (std::int64_t length = kFirstMovesOfIsland; !finished(); length *= kCycleGrowth) {
        run_cycle(std::min(length, budget_ - moves_));
      }
      const Annealer* const leading = leader();
      if (leading && leading->best_ms() < least_ms * (1 - kRoundingOfSums)) {
        least_ms = leading->best_ms();
        result.schedule =
            *schedule_of(problem_, plainer(problem_, leading->best(),
                                           least_ms * (1 + kRoundingOfSums), context_.deadline));
      }
    }
    result.optimal = least_ms <= good_enough_ms_;
    result.timed_out = !result.optimal && moves_until_.expired();
    return result;
  }

 private:
  struct Start {
    double ms = 0;
    std::size_t index = 0;
  };

  void rank(const std::vector<Schedule>& starts) {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      ranked_.push_back({problem_.latency_ms(starts[i]), i});
    }
    std::ranges::stable_sort(ranked_, {}, &Start::ms);
  }

  /// Makes islands of the best starts that a plan can express.
  void make_islands(const std::vector<Schedule>& starts) {
    struct Begin {
      ColdPlan plan;
      double ms = 0;
    };
    std::vector<Begin> begins;
    for (const Start& start : ranked_) {
      if (begins.size() == options_.islands) break;
      ColdPlan plan = plan_of(problem_, starts[start.index]);
      const auto schedule = schedule_of(problem_, plan);
      if (schedule) begins.push_back({std::move(plan), problem_.latency_ms(*schedule)});
    }
    for (std::size_t i = 0; i < options_.islands && !begins.empty(); ++i) {
      const Begin& begin = begins[i % begins.size()];
      islands_.emplace_back(problem_, begin.plan, begin.ms, context_.seed,
                            "cold " + std::to_string(i));
    }
  }

  bool finished() const {
    if (islands_.empty() || moves_ >= budget_ || moves_until_.expired()) return true;
    return leader()->best_ms() <= good_enough_ms_;
  }

  /// Returns the island with the shortest plan, the first of several; null where there is none.
  const Annealer* leader() const {
    const auto found = std::ranges::min_element(islands_, {}, &Annealer::best_ms);
    return found == islands_.end() ? nullptr : &*found;
  }

  void run_cycle(std::int64_t length) {
    run_all(islands_.size(), threads_,
            [&](std::size_t i) { islands_[i].run_cycle(length, good_enough_ms_, moves_until_); });
    moves_ += length;
    const ColdPlan best = leader()->best();
    const double ms = leader()->best_ms();
    for (std::size_t i = 0; i < islands_.size(); ++i) {
      const bool goes_on = i % 2 == 0 && islands_[i].best_ms() <= ms * kNotFarAbove;
      if (!goes_on) islands_[i].take(best, ms);
    }
    report_progress(ms);
  }

  void report_progress(double latency_ms) const {
    if (!context_.progress) return;
    char line[160];
    const double gap = bound_ms_ > 0 ? (latency_ms / bound_ms_ - 1) * 100 : 0;
    std::snprintf(line, sizeof line, "best: %.3f ms, bound %.3f ms, gap %.2f %%, %lld moves",
                  latency_ms, bound_ms_, gap,
                  static_cast<long long>(moves_ * static_cast<std::int64_t>(islands_.size())));
    context_.progress(line);
  }

  const PlanProblem problem_;
  const SearchOptions& options_;
  double good_enough_ms_, bound_ms_;
  const Context& context_;
  Deadline moves_until_;
  std::size_t threads_;
  std::int64_t budget_;     ///< moves of each island
  std::int64_t moves_ = 0;  ///< made by each
  std::vector<Start> ranked_;
  std::vector<Annealer> islands_;
};

}  // namespace

SearchResult search(const CostModel& costs, const std::vector<Schedule>& starts,
                    const SearchOptions& options, double bound_ms, const Context& context,
                    const Held& held) {
  return Search(costs, options, bound_ms, context, held).run(starts);
}

}  // namespace hios::scheduler::cold
