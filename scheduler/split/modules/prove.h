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

/// What is known of a piece, one operator after the other on every device.
struct Proof {
  double low_ms = 0;                                         ///< none takes less, proved
  double high_ms = std::numeric_limits<double>::infinity();  ///< of the schedule, if there is one
  Schedule schedule = {};                                    ///< of the piece's operators
  bool optimal = false;                                      ///< within milp::kTolerance
};

/// Proves pieces by Closer, where that is not enough by milp::schedule_exactly(), equal ones
/// once. One thread at a time may call it; it
/// solves two pieces side by side. Results follow from the pieces alone, unless time ends a proof.
class Prover {
 public:
  static constexpr std::size_t kMostSolved = 80;  ///< operators; larger ones have no linear program

  /// `limits`: of each piece.
  Prover(const milp::MilpOptions& limits, Context context)
      : limits_(limits), context_(std::move(context)) {}

  /// The bounds that every scheduler has, at once.
  double quick_low_ms(const Piece& piece);
  /// What was proved of an equal piece, or null.
  const Proof* known(const Piece& piece) const;
  /// Proves those that are not known, each in at most `seconds`, where time is limited.
  void prove(const std::vector<std::shared_ptr<const Piece>>& pieces, double seconds);

  std::size_t solved() const { return proofs_.size(); }
  bool timed_out() const { return context_.deadline.expired(); }
  /// Infinity where there is no limit.
  double seconds_left() const { return context_.deadline.seconds_left(); }

 private:
  Proof proof_of(const Piece& piece, double seconds) const;
  void close(const Piece& piece, Proof& proof, const Context& context, double seconds) const;
  static bool closed(const Proof& proof);

  milp::MilpOptions limits_;
  Context context_;
  std::map<std::string, double> quick_;
  std::map<std::string, Proof> proofs_;
};

/// The context with at most so many seconds of its time, and without progress and bound.
Context within(const Context& context, double seconds);

}  // namespace hios::scheduler::split
