#include "scheduler/split/prove.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/best/best.h"
#include "scheduler/milp/horizon.h"
#include "scheduler/structures/run_all.h"

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kThreads = 2;           // instances of a solver in threads give equal results
constexpr std::size_t kMostSolved = 80;       // operators; what is larger is only searched
constexpr std::int64_t kMovesOfLarge = 2000;  // of that search

}  // namespace

Context within(const Context& context, double seconds) {
  Context part;
  part.seed = context.seed;
  part.out_of_time = context.out_of_time;
  if (!context.seconds_left || !std::isfinite(seconds)) {
    part.seconds_left = context.seconds_left;
    return part;
  }
  const double until = std::max(0.0, context.seconds_left() - seconds);
  part.seconds_left = [left = context.seconds_left, until] { return left() - until; };
  part.out_of_time = [late = context.out_of_time, left = context.seconds_left, until] {
    return (late && late()) || left() <= until;
  };
  return part;
}

double Prover::quick_low_ms(const Piece& piece) {
  if (!piece.possible()) return std::numeric_limits<double>::infinity();
  const auto [at, is_new] = quick_.try_emplace(piece.key(), 0);
  if (is_new) at->second = lower_bound(piece.graph(), piece.costs(), context_.out_of_time).ms;
  return at->second;
}

const Proof* Prover::known(const Piece& piece) const {
  const auto found = proofs_.find(piece.key());
  return found == proofs_.end() ? nullptr : &found->second;
}

void Prover::prove(const std::vector<std::shared_ptr<const Piece>>& pieces, double seconds) {
  std::map<std::string, const Piece*> asked;
  for (const auto& piece : pieces) {
    if (known(*piece) == nullptr) asked.emplace(piece->key(), piece.get());
  }
  std::vector<std::pair<const std::string*, const Piece*>> work;
  for (const auto& [key, piece] : asked) work.emplace_back(&key, piece);
  std::vector<Proof> found(work.size());
  run_all(work.size(), kThreads,
          [&](std::size_t i) { found[i] = proof_of(*work[i].second, seconds); });
  for (std::size_t i = 0; i < work.size(); ++i) {
    found[i].low_ms = std::max(found[i].low_ms, quick_low_ms(*work[i].second));
    proofs_.emplace(*work[i].first, std::move(found[i]));
  }
}

Proof Prover::proof_of(const Piece& piece, double seconds) const {
  Proof proof;
  proof.low_ms = std::numeric_limits<double>::infinity();
  if (!piece.possible()) return proof;
  const milp::Horizon any(piece.graph(), piece.costs(), std::numeric_limits<double>::infinity());
  if (any.impossible()) return proof;
  proof.low_ms = 0;
  const Context context = within(context_, seconds);
  try {
    if (piece.size() > kMostSolved) {
      best::BestOptions moves;
      moves.iterations = kMovesOfLarge;
      proof.schedule = best::search(piece.graph(), piece.costs(), moves, 0, context).schedule;
    } else {
      milp::MilpResult found =
          milp::schedule_exactly(piece.graph(), piece.costs(), limits_, context);
      proof.schedule = std::move(found.schedule);
      proof.optimal = found.optimal;
      if (found.bound) proof.low_ms = found.bound->ms;
    }
    proof.high_ms = simulate(piece.graph(), proof.schedule, piece.costs()).latency_ms;
  } catch (const InputError&) {
    // Too large a program, or no placement was found: nothing is known.
  }
  return proof;
}

}  // namespace hios::scheduler::split
