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

/// The caller's time in equal turns; what one leaves, the next ones have.
class Turns {
 public:
  Turns(const Context& context, std::size_t turns) : context_(context), turns_(turns) {}

  /// REQUIRES: the one before is over.
  Context next() {
    Context turn = context_;
    const auto& left = context_.seconds_left;
    const std::size_t to_come = turns_ - taken_++;
    if (!left || to_come == 0) return turn;
    const double now_s = left();
    const double own_s = now_s / static_cast<double>(to_come);
    const auto over = [&left, now_s](double after_s) { return left() <= now_s - after_s; };
    const auto& ended = context_.out_of_time;
    turn.out_of_time = [=, &ended] { return (ended && ended()) || over(own_s); };
    turn.past_half_time = [=, &ended] { return (ended && ended()) || over(own_s / 2); };
    turn.seconds_left = [=, &left] { return std::max(0.0, left() - (now_s - own_s)); };
    return turn;
  }

 private:
  const Context& context_;
  std::size_t turns_, taken_ = 0;
};

std::vector<std::int64_t> even_numbers(const SizedGraphs& graphs) {
  std::vector<std::int64_t> numbers;
  const std::int64_t parts = graphs.inputs() / graphs.sizes().front();
  for (std::int64_t batches = 1; batches <= parts; ++batches) {
    if (parts % batches == 0) numbers.push_back(batches);
  }
  return numbers;
}

/// All ways in which operators may divide the inputs: each a mask of the cuts between the parts.
class AllDivisions {
 public:
  explicit AllDivisions(const SizedGraphs& graphs)
      : graphs_(graphs),
        part_(graphs.sizes().front()),
        cuts_(static_cast<std::size_t>(graphs.inputs() / part_ - 1)),
        masks_(graphs.whole()->size(), 0) {}

  /// Whether there are no more than that.
  bool are_few(std::size_t most) const {
    double all = 1;
    for (std::size_t op = 0; op < masks_.size(); ++op) all *= std::exp2(cuts_);
    return all <= static_cast<double>(most);
  }

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

  /// False behind the last.
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

class Divider {
 public:
  Divider(const DivisibleProblem& problem, const Algorithm& algorithm, const Options& options,
          const Context& context)
      : problem_(problem),
        algorithm_(algorithm),
        options_(options),
        bound_(context.bound.value_or(LowerBound{0, "none"})) {}

  void try_even(std::int64_t batches, const Context& context) {
    const SizedGraphs& graphs = *problem_.graphs;
    (void)attempt(even_batches(*graphs.whole(), graphs.inputs(), batches), context);
  }

  /// What is proved of every division is proved of all.
  void try_all(AllDivisions divisions, const Context& context) {
    LowerBound least{std::numeric_limits<double>::infinity(), bound_.name};
    do {
      if (context.out_of_time && context.out_of_time()) return;
      const auto proved = attempt(divisions.batches(), context);
      if (proved && proved->ms < least.ms) least = *proved;
    } while (divisions.next());
    if (best_ && least.ms > bound_.ms) bound_ = least;
  }

  /// From the best so far, or copies(), to less even divisions.
  void improve(const Context& context) {
    std::optional<TimedDivision> start = copies(problem_);
    if (best_ && (!start || best_->result.latency_ms <= start->latency_ms)) {
      start = {best_->division, best_->result.schedule, best_->result.latency_ms};
    }
    if (!start) return;
    TimedDivision joined = join_batches(problem_, *std::move(start), context);
    if (best_ && joined.latency_ms >= best_->result.latency_ms) return;
    ScheduleResult result =
        complete(std::move(joined.schedule), best_ ? best_->result.outcome : Outcome::kFeasible,
                 *joined.division.graph, *joined.division.costs, options_, context);
    best_ = DividedResult{std::move(joined.division), std::move(result)};
  }

  DividedResult result() && {
    if (!best_) std::rethrow_exception(refusal_);
    ScheduleResult& result = best_->result;
    const LowerBound known = beside(bound_, result.latency_ms);
    result.lower_bound_ms = known.ms;
    result.bound = known.name;
    if (known.ms >= result.latency_ms) {
      result.outcome = Outcome::kOptimal;
    } else if (result.outcome == Outcome::kOptimal) {
      result.outcome = Outcome::kFeasible;
    }
    return *std::move(best_);
  }

 private:
  /// Keeps the schedule where it is the shortest. Returns the bound of the division that the
  /// algorithm proved or knows; nothing where the division is impossible.
  std::optional<LowerBound> attempt(std::vector<Batch> batches, const Context& context) {
    std::optional<Division> division;
    try {
      division = make_division(problem_, std::move(batches));
      ScheduleResult result =
          algorithm_.run(*division->graph, *division->costs, *problem_.platform, options_, context);
      LowerBound proved{result.lower_bound_ms, result.bound};
      if (!best_ || result.latency_ms < best_->result.latency_ms) {
        best_ = DividedResult{*std::move(division), std::move(result)};
      }
      return proved;
    } catch (const InputError&) {
      if (!refusal_) refusal_ = std::current_exception();
      return division ? std::optional(bound_) : std::nullopt;
    }
  }

  const DivisibleProblem& problem_;
  const Algorithm& algorithm_;
  const Options& options_;
  LowerBound bound_;  // of every division
  std::optional<DividedResult> best_;
  std::exception_ptr refusal_;
};

}  // namespace

DividedResult schedule_divided(const DivisibleProblem& problem, const Algorithm& algorithm,
                               const Options& options, const Context& context) {
  constexpr std::size_t kFewDivisions = 256;
  const std::vector<std::int64_t> numbers = even_numbers(*problem.graphs);
  const AllDivisions divisions(*problem.graphs);
  Divider divider(problem, algorithm, options, context);
  if (algorithm.exact && divisions.are_few(kFewDivisions)) {
    divider.try_all(divisions, context);
    return std::move(divider).result();
  }
  Turns turns(context, numbers.size() + (algorithm.improves ? 1 : 0));
  for (const std::int64_t batches : numbers) divider.try_even(batches, turns.next());
  if (algorithm.improves) divider.improve(turns.next());
  return std::move(divider).result();
}

}  // namespace hios::scheduler
