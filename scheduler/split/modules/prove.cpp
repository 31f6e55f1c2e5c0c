#include "scheduler/split/modules/prove.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/best/best.h"
#include "scheduler/milp/horizon.h"
#include "scheduler/split/diagram/gap_closer.h"
#include "scheduler/structures/run_all.h"

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kThreads = 2;           // instances of a solver in threads give equal results
constexpr std::int64_t kMovesOfLarge = 2000;  // of that search
constexpr std::size_t kRounds = 2;            // of Closer
constexpr double kShareOfClosing = 0.5;       // of a piece's time

}  // namespace

Context within(const Context& context, double seconds) {
  Context part;
  part.seed = context.seed;
  part.deadline = context.deadline.within(seconds);
  ;
  return part;
}

double Prover::quick_low_ms(const Piece& piece) {
  if (!piece.possible()) return std::numeric_limits<double>::infinity();
  const auto [at, is_new] = quick_.try_emplace(piece.key(), 0);
  if (is_new) at->second = lower_bound(piece.graph(), piece.costs(), context_.deadline).ms;
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
  if (any.infeasible()) return proof;
  proof.low_ms = 0;
  const Context context = within(context_, seconds);
  try {
    close(piece, proof, context, seconds);
  } catch (const InputError&) {
    // No placement was found: nothing is known.
  }
  if (proof.optimal || piece.size() > kMostSolved) return proof;
  try {
    milp::MilpResult found = milp::schedule_exactly(piece.graph(), piece.costs(), limits_, context);
    if (found.bound) proof.low_ms = std::max(proof.low_ms, found.bound->ms);
    const double ms = simulate(piece.graph(), found.schedule, piece.costs()).latency_ms;
    if (ms < proof.high_ms) proof.schedule = std::move(found.schedule);
    proof.high_ms = std::min(proof.high_ms, ms);
    proof.optimal = found.optimal || closed(proof);
  } catch (const InputError&) {
    // Too large a program, or no placement was found.
  }
  return proof;
}

/// By a short search and Closer.
void Prover::close(const Piece& piece, Proof& proof, const Context& context, double seconds) const {
  best::BestOptions moves;
  moves.iterations = piece.size() > kMostSolved ? kMovesOfLarge : limits_.iterations;
  const CostModel& costs = piece.costs();
  proof.schedule = best::search(piece.graph(), costs, moves, 0, context).schedule;
  proof.schedule = milp::one_by_one(proof.schedule);
  proof.high_ms = simulate(piece.graph(), proof.schedule, costs).latency_ms;
  Closer closer(costs, 0, proof.high_ms);
  closer.run(kRounds, within(context, kShareOfClosing * seconds));
  proof.low_ms = closer.bound_ms();
  if (closer.schedule()) {
    proof.schedule = *closer.schedule();
    proof.high_ms = simulate(piece.graph(), proof.schedule, costs).latency_ms;
  }
  proof.optimal = closed(proof);
}

bool Prover::closed(const Proof& proof) {
  return proof.high_ms <= proof.low_ms * (1 + milp::kTolerance);
}

}  // namespace hios::scheduler::split
