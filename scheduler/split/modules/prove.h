#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/milp/milp.h"
#include "scheduler/scheduler.h"
#include "scheduler/split/modules/subproblem.h"

namespace hios::scheduler::split {

/// Facts proved about a subproblem of one operator after the other on every device.
struct Proof {
  double low_ms = 0;                                         ///< a lower bound
  double high_ms = std::numeric_limits<double>::infinity();  ///< the schedule's latency, if any
  Schedule schedule = {};                                    ///< the subproblem's operators
  bool optimal = false;                                      ///< within milp::kTolerance
};

/// Proves subproblems by GapCloser, then if necessary by milp::schedule_exactly(); equal ones once.
/// One thread at a time may call it; it solves two subproblems in parallel. The same subproblems
/// give the same results, unless a deadline expires.
class Prover {
 public:
  static constexpr std::size_t kMaxSolved = 80;  ///< operators; larger ones have no linear program

  /// `limits`: of each subproblem.
  Prover(const milp::MilpOptions& limits, Context context)
      : limits_(limits), context_(std::move(context)) {}

  /// Returns the bound that every scheduler has, computed at once.
  double quick_bound_ms(const Subproblem& subproblem);
  /// Returns the proof of an equal subproblem, or null.
  const Proof* known(const Subproblem& subproblem) const;
  /// Proves those that are not known, each within `seconds` if time is limited.
  void prove(const std::vector<std::shared_ptr<const Subproblem>>& subproblems, double seconds);

  std::size_t solved() const { return proofs_.size(); }
  bool timed_out() const { return context_.deadline.expired(); }
  /// Returns infinity without a time limit.
  double seconds_left() const { return context_.deadline.seconds_left(); }

 private:
  Proof proof_of(const Subproblem& subproblem, double seconds) const;
  void close(const Subproblem& subproblem, Proof& proof, const Context& context,
             double seconds) const;
  static bool closed(const Proof& proof);

  milp::MilpOptions limits_;
  Context context_;
  std::map<std::string, double> quick_;
  std::map<std::string, Proof> proofs_;
};

/// Returns the context with at most `seconds` of its time, without progress and bound.
Context within(const Context& context, double seconds);

}  // namespace hios::scheduler::split
