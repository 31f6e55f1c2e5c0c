#include "scheduler/batches/divided.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/batches/copies.h"
#include "scheduler/batches/join.h"

namespace hios::scheduler {
namespace {

/// Divides the caller's time into equal shares; time that one leaves unused goes to the next ones.
class TimeShares {
 public:
  TimeShares(const Context& context, std::size_t time_shares)
      : context_(context), shares_(time_shares) {}

  /// REQUIRES: the previous share's work is over.
  Context next() {
    Context share = context_;
    const std::size_t remaining = shares_ - taken_++;
    if (remaining > 0) share.deadline = share.deadline.share(1 / static_cast<double>(remaining));
    return share;
  }

 private:
  const Context& context_;
  std::size_t shares_, taken_ = 0;
};

std::vector<std::int64_t> even_numbers(const SizedGraphs& graphs) {
  std::vector<std::int64_t> numbers;
  const std::int64_t parts = graphs.inputs() / graphs.sizes().front();
  for (std::int64_t batches = 1; batches <= parts; ++batches) {
    if (parts % batches == 0) numbers.push_back(batches);
  }
  return numbers;
}

/// All ways in which operators may divide the inputs: each operator has a mask of the cuts between
/// parts.
class AllDivisions {
 public:
  explicit AllDivisions(const SizedGraphs& graphs)
      : graphs_(graphs),
        part_(graphs.sizes().front()),
        cuts_(static_cast<std::size_t>(graphs.inputs() / part_ - 1)),
        masks_(graphs.whole()->size(), 0) {}

  /// Returns true if there are at most that many.
  bool are_few(std::size_t most) const {
    return std::exp2(cuts_ * masks_.size()) <= static_cast<double>(most);
  }
  /// REQUIRES: are_few().
  std::size_t count() const { return std::size_t{1} << (cuts_ * masks_.size()); }

  std::vector<Batch> batches() const {
    std::vector<Batch> all;
    for (std::size_t op = 0; op < masks_.size(); ++op) {
      std::int64_t begin = 0;
      for (std::size_t cut = 0; cut <= cuts_; ++cut) {
        if (cut < cuts_ && (masks_[op] >> cut & 1) == 0) continue;
        const std::int64_t end = static_cast<std::int64_t>(cut + 1) * part_;
        all.push_back({OpId(op), {begin, end}});
        begin = end;
      }
    }
    return all;
  }

  /// Returns false after the last division.
  bool next() {
    for (std::uint64_t& mask : masks_) {
      if (++mask >> cuts_ == 0) return true;
      mask = 0;
    }
    return false;
  }

 private:
  const SizedGraphs& graphs_;
  std::int64_t part_;
  std::size_t cuts_;
  std::vector<std::uint64_t> masks_;  // by operator
};

class DivisionSearch {
 public:
  DivisionSearch(const DivisibleProblem& problem, const Algorithm& algorithm,
                 const Options& options, const Context& context)
      : problem_(problem),
        algorithm_(algorithm),
        options_(options),
        bound_(context.bound.value_or(LowerBound{0, "none"})) {}

  void try_even(std::int64_t batches, const Context& context) {
    const SizedGraphs& graphs = *problem_.graphs;
    (void)attempt(even_batches(*graphs.whole(), graphs.inputs(), batches), context);
  }

  /// Runs the algorithm on every division: a bound proved for each is proved for all. Takes one of
  /// `time_shares` for each.
  void try_all(AllDivisions divisions, TimeShares& time_shares, const Context& context) {
    LowerBound least{std::numeric_limits<double>::infinity(), bound_.name};
    bool optimal = true;
    do {
      if (context.deadline.expired()) {
        cut_short_ = true;
        return;
      }
      const Attempt made = attempt(divisions.batches(), time_shares.next());
      if (made.bound && made.bound->ms < least.ms) least = *made.bound;
      optimal = optimal && (!made.bound || made.optimal);
    } while (divisions.next());
    proved_ = optimal && best_;
    if (best_ && least.ms > bound_.ms) bound_ = least;
  }

  /// Continues from the best schedule, or from copies(), with uneven divisions.
  void improve(const Context& context) {
    std::optional<TimedDivision> start = copies(problem_);
    if (best_ && (!start || best_->result.latency_ms <= start->latency_ms)) {
      start = {best_->division, best_->result.schedule, best_->result.latency_ms};
    }
    if (!start) return;
    TimedDivision joined = join_batches(problem_, *std::move(start), context);
    if (best_ && joined.latency_ms >= best_->result.latency_ms) return;
    ScheduleResult result = complete(std::move(joined.schedule), Outcome::kFeasible,
                                     Problem(*joined.division.costs), options_, context);
    best_ = DividedResult{std::move(joined.division), std::move(result)};
  }

  /// Considers the algorithm's own division.
  void divide(const Context& context) {
    std::optional<TimedDivision> made = algorithm_.divide(problem_, context.deadline);
    if (!made || (best_ && made->latency_ms >= best_->result.latency_ms)) return;
    ScheduleResult result = complete(std::move(made->schedule), Outcome::kFeasible,
                                     Problem(*made->division.costs), options_, context);
    best_ = DividedResult{std::move(made->division), std::move(result)};
  }

  /// Runs the algorithm from scratch on the best division.
  void try_best_again(const Context& context) {
    if (!best_) return;
    try {
      (void)attempt(best_->division, context);
    } catch (const InputError&) {  // it accepts even divisions only
    }
  }

  DividedResult result() && {
    if (!best_) std::rethrow_exception(refusal_);
    ScheduleResult& result = best_->result;
    const LowerBound known = snap_to_latency(bound_, result.latency_ms);
    result.lower_bound_ms = known.ms;
    result.bound = known.name;
    result.outcome = proved_ || known.ms >= result.latency_ms ? Outcome::kOptimal
                     : cut_short_                             ? Outcome::kTimeLimit
                                                              : Outcome::kFeasible;
    return *std::move(best_);
  }

 private:
  struct Attempt {
    /// The algorithm's bound for this division; nothing if the division is impossible.
    std::optional<LowerBound> bound = {};
    bool optimal = false;
  };

  Attempt attempt(std::vector<Batch> batches, const Context& context) {
    std::optional<Division> division;
    try {
      division = make_division(problem_, std::move(batches));
      return attempt(*std::move(division), context);
    } catch (const InputError&) {
      if (!refusal_) refusal_ = std::current_exception();
      return division ? Attempt{bound_, false} : Attempt{};
    }
  }

  /// Keeps the schedule if it is the shortest.
  Attempt attempt(Division division, const Context& context) {
    ScheduleResult result = algorithm_.run(Problem(*division.costs), options_, context);
    const Attempt made{LowerBound{result.lower_bound_ms, result.bound},
                       result.outcome == Outcome::kOptimal};
    cut_short_ = cut_short_ || result.outcome == Outcome::kTimeLimit;
    if (!best_ || result.latency_ms < best_->result.latency_ms) {
      best_ = DividedResult{std::move(division), std::move(result)};
    }
    return made;
  }

  const DivisibleProblem& problem_;
  const Algorithm& algorithm_;
  const Options& options_;
  LowerBound bound_;  // for every division
  std::optional<DividedResult> best_;
  bool proved_ = false;     // no division has a shorter schedule
  bool cut_short_ = false;  // by time, at least once
  std::exception_ptr refusal_;
};

}  // namespace

DividedResult schedule_divided(const DivisibleProblem& problem, const Algorithm& algorithm,
                               const Options& options, const Context& context) {
  constexpr std::size_t kFewDivisions = 256;
  const std::vector<std::int64_t> numbers = even_numbers(*problem.graphs);
  const AllDivisions divisions(*problem.graphs);
  const bool all = algorithm.exact && divisions.are_few(kFewDivisions);
  const bool improves = algorithm.improves || algorithm.exact;
  DivisionSearch search(problem, algorithm, options, context);
  TimeShares time_shares(context, numbers.size() + (algorithm.divide ? 1 : 0) + (improves ? 2 : 0) +
                                      (all ? divisions.count() : 0));
  for (const std::int64_t batches : numbers) search.try_even(batches, time_shares.next());
  if (algorithm.divide) search.divide(time_shares.next());
  if (improves) {
    search.improve(time_shares.next());
    search.try_best_again(time_shares.next());
  }
  if (all) search.try_all(divisions, time_shares, context);
  return std::move(search).result();
}

}  // namespace hios::scheduler
