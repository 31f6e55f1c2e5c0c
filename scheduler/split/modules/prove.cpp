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

constexpr std::size_t kThreads = 2;           // parallel runs of a solver give equal results
constexpr std::int64_t kMovesOfLarge = 2000;  // moves of the search in a large subproblem
constexpr std::size_t kRoundsOfProof = 2;     // rounds of GapCloser
constexpr double kClosingShare = 0.5;         // share of a subproblem's time

}  // namespace

Context within(const Context& context, double seconds) {
  Context limited;
  limited.seed = context.seed;
  limited.deadline = context.deadline.within(seconds);
  return limited;
}

double Prover::quick_bound_ms(const Subproblem& subproblem) {
  if (!subproblem.possible()) return std::numeric_limits<double>::infinity();
  const auto [at, is_new] = quick_.try_emplace(subproblem.key(), 0);
  if (is_new)
    at->second = lower_bound(subproblem.graph(), subproblem.costs(), context_.deadline).ms;
  return at->second;
}

const Proof* Prover::known(const Subproblem& subproblem) const {
  const auto found = proofs_.find(subproblem.key());
  return found == proofs_.end() ? nullptr : &found->second;
}

void Prover::prove(const std::vector<std::shared_ptr<const Subproblem>>& subproblems,
                   double seconds) {
  std::map<std::string, const Subproblem*> asked;
  for (const auto& subproblem : subproblems) {
    if (known(*subproblem) == nullptr) asked.emplace(subproblem->key(), subproblem.get());
  }
  std::vector<std::pair<const std::string*, const Subproblem*>> open;
  for (const auto& [key, subproblem] : asked) open.emplace_back(&key, subproblem);
  std::vector<Proof> found(open.size());
  run_all(open.size(), kThreads,
          [&](std::size_t i) { found[i] = proof_of(*open[i].second, seconds); });
  for (std::size_t i = 0; i < open.size(); ++i) {
    found[i].low_ms = std::max(found[i].low_ms, quick_bound_ms(*open[i].second));
    proofs_.emplace(*open[i].first, std::move(found[i]));
  }
}

Proof Prover::proof_of(const Subproblem& subproblem, double seconds) const {
  Proof proof;
  proof.low_ms = std::numeric_limits<double>::infinity();
  if (!subproblem.possible()) return proof;
  const milp::Horizon any(subproblem.graph(), subproblem.costs(),
                          std::numeric_limits<double>::infinity());
  if (any.infeasible()) return proof;
  proof.low_ms = 0;
  const Context context = within(context_, seconds);
  try {
    close(subproblem, proof, context, seconds);
  } catch (const InputError&) {
    // No placement was found, so nothing is proved.
  }
  if (proof.optimal || subproblem.size() > kMaxSolved) return proof;
  try {
    milp::MilpResult found =
        milp::schedule_exactly(subproblem.graph(), subproblem.costs(), limits_, context);
    if (found.bound) proof.low_ms = std::max(proof.low_ms, found.bound->ms);
    const double ms = simulate(subproblem.graph(), found.schedule, subproblem.costs()).latency_ms;
    if (ms < proof.high_ms) proof.schedule = std::move(found.schedule);
    proof.high_ms = std::min(proof.high_ms, ms);
    proof.optimal = found.optimal || closed(proof);
  } catch (const InputError&) {
    // The program is too large, or no placement was found.
  }
  return proof;
}

/// Improves the proof by a short search and GapCloser.
void Prover::close(const Subproblem& subproblem, Proof& proof, const Context& context,
                   double seconds) const {
  best::BestOptions moves;
  moves.starts_take_half = false;  // the deadline is a share already
  moves.iterations = subproblem.size() > kMaxSolved ? kMovesOfLarge : limits_.iterations;
  const CostModel& costs = subproblem.costs();
  proof.schedule = best::search(subproblem.graph(), costs, moves, 0, context).schedule;
  proof.schedule = milp::one_by_one(proof.schedule);
  proof.high_ms = simulate(subproblem.graph(), proof.schedule, costs).latency_ms;
  GapCloser closer(costs, 0, proof.high_ms);
  closer.run(kRoundsOfProof, within(context, kClosingShare * seconds));
  proof.low_ms = closer.bound_ms();
  if (closer.schedule()) {
    proof.schedule = *closer.schedule();
    proof.high_ms = simulate(subproblem.graph(), proof.schedule, costs).latency_ms;
  }
  proof.optimal = closed(proof);
}

bool Prover::closed(const Proof& proof) {
  return proof.high_ms <= proof.low_ms * (1 + milp::kTolerance);
}

}  // namespace hios::scheduler::split
