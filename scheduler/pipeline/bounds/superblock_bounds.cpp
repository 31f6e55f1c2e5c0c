#include "scheduler/pipeline/bounds/superblock_bounds.h"

#include <algorithm>

#include "scheduler/pipeline/bounds/programs/dual_prices.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

Linear weighted(const std::vector<Linear>& members, const std::vector<double>& weights) {
  Linear sum;
  for (std::size_t v = 0; v < members.size(); ++v) sum.add(members[v], weights[v]);
  return sum;
}

/// Programs of three superblocks; the middle one is a block of a class that has its share of dual
/// prices.
class Superblocks {
 public:
  Superblocks(const LeastCosts& costs, const milp::Solver& solver, const ProgramOptions& options)
      : costs_(costs), options_(options), dual_prices_(largest_dual_prices(costs, solver)) {}

  /// Returns possible classes of the middle block: those with a share of the dual prices.
  std::vector<std::size_t> classes() const {
    std::vector<std::size_t> found;
    for (std::size_t c = 0; c < dual_prices_.shares.size(); ++c) {
      if (dual_prices_.shares[c] > 0) found.push_back(c);
    }
    return found;
  }

  BlockProgram program(const std::vector<std::vector<Side>>& sides, std::size_t device_class,
                       double below_ms) const {
    BlockProgram made(costs_, sides, unit_of(costs_, options_));
    made.limit_period(options_.at_least_ms, below_ms);
    const std::vector<Linear> middle = made.members(1);
    made.bound_period(1, made.block_cost(costs_.classes()[device_class], middle, {1}));
    const Linear prices = weighted(middle, dual_prices_.by_vertex_ms);
    Linear row;
    const double needed_ms = needed(device_class);
    row.add(prices, 1 / made.unit_ms());
    made.require(needed_ms / made.unit_ms() * (1 - kRounding), row, kInfinity);
    return made;
  }

  /// Adds the outer superblocks, each shared by a number of devices.
  void add_outer(BlockProgram& made, std::size_t device_class, std::size_t before,
                 std::size_t after) const {
    Linear outer;
    for (const bool first : {true, false}) {
      const std::size_t blocks = first ? before : after;
      if (blocks == 0) continue;
      const std::vector<Linear> members = made.members(first ? 0 : 2);
      Linear ms = weighted(members, costs_.work_ms());
      if (first && costs_.charge().send > 0) ms.add(made.sent(members), costs_.charge().send);
      if (!first && costs_.charge().receive > 0)
        ms.add(made.received(members), costs_.charge().receive);
      ms.add(made.overflow(costs_.overflow_of(blocks), members, {1}), 1);
      made.bound_period(static_cast<double>(blocks), ms);
      outer.add(weighted(members, dual_prices_.by_vertex_ms), 1);
    }
    if (costs_.classes().size() > 1)
      made.bound_period(1 - dual_prices_.shares[device_class] + kRounding, outer);
  }

 private:
  double needed(std::size_t device_class) const {
    double ms = dual_prices_.all_ms;
    if (costs_.classes().size() == 1) {  // some block also has the most expensive vertex
      for (const double work_ms : costs_.work_ms()) ms = std::max(ms, work_ms);
    }
    return ms * dual_prices_.shares[device_class];
  }

  const LeastCosts& costs_;
  const ProgramOptions& options_;
  DualPrices dual_prices_;
};

/// Takes the least of the bounds of several cases, one of which holds for the optimum.
void take_case(ProgramBound& all, const ProgramBound& one) {
  all.finished = all.finished && one.finished;
  all.ms = std::min(all.ms, one.ms);
  if (!one.failure.empty()) all.failure = one.failure;
}

std::vector<Side> all_on(const LeastCosts& costs, Side side) {
  return std::vector<Side>(costs.size(), side);
}

ProgramBound solve_bottleneck(const LeastCosts& costs, const milp::Solver& solver,
                              const ProgramOptions& options) {
  const Superblocks superblocks(costs, solver, options);
  const std::vector<std::size_t> classes = superblocks.classes();
  const std::vector<std::vector<Side>> open(2, all_on(costs, Side::kOpen));
  ProgramBound all{kInfinity, true};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const BlockProgram made =
        superblocks.program(open, classes[i], std::min(all.ms, options.known_ms) * (1 + kRounding));
    take_case(all, solve_program(made, solver, options, {}, classes.size() - i));
  }
  return between(all, options);
}

ProgramBound solve_bottleneck_guess(const LeastCosts& costs, const milp::Solver& solver,
                                    const ProgramOptions& options) {
  const Superblocks superblocks(costs, solver, options);
  const std::size_t blocks = costs.devices();
  const BoundaryWindows windows = boundary_windows(costs, options.known_ms);
  if (windows.impossible) return between({options.known_ms, true}, options);
  ProgramBound all{kInfinity, true};
  const std::vector<std::size_t> classes = superblocks.classes();
  std::size_t left = blocks * classes.size();
  for (std::size_t before = 0; before < blocks; ++before) {
    const std::size_t after = blocks - 1 - before;
    std::vector<std::vector<Side>> sides(2);
    sides[0] = before > 0 ? windows.sides[before - 1] : all_on(costs, Side::kAfter);
    sides[1] = after > 0 ? windows.sides[before] : all_on(costs, Side::kBefore);
    for (const std::size_t device_class : classes) {
      const double below_ms = std::min(all.ms, options.known_ms) * (1 + kRounding);
      BlockProgram made = superblocks.program(sides, device_class, below_ms);
      superblocks.add_outer(made, device_class, before, after);
      take_case(all, solve_program(made, solver, options, {}, left--));
      if (all.ms <= options.at_least_ms)
        return between(all, options);  // later cases cannot raise it
    }
  }
  return between(all, options);
}

}  // namespace

ProgramBound bottleneck_bound(const LeastCosts& costs, const milp::Solver& solver,
                              const ProgramOptions& options) {
  if (too_large(costs, 1, 1)) return {options.at_least_ms, false, kTooLarge};
  return raised_bound(costs, solver, options, solve_bottleneck);
}

ProgramBound bottleneck_guess_bound(const LeastCosts& costs, const milp::Solver& solver,
                                    const ProgramOptions& options) {
  if (too_large(costs, 2, 1)) return {options.at_least_ms, false, kTooLarge};
  return raised_bound(costs, solver, options, solve_bottleneck_guess);
}

}  // namespace hios::scheduler::pipeline
