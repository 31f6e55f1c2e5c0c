#include "scheduler/pipeline/bounds/exact_bound.h"

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

/// Returns the block's members if it is of the class, else zeros.
std::vector<Linear> members_of_class(BlockProgram& made, const std::vector<Linear>& members,
                                     const PipelineClass& device, const Linear& choice) {
  std::vector<Linear> own;
  for (std::size_t v = 0; v < members.size(); ++v) {
    const bool never = members[v].is(0) || device.work_ms[v] == kInfinity;
    own.push_back(never ? Linear{} : made.both(members[v], choice));
  }
  return own;
}

/// Adds blocks with a choice of class each, so that each device is used once.
void add_blocks_of_classes(const LeastCosts& costs, BlockProgram& made) {
  const std::vector<PipelineClass>& classes = costs.classes();
  std::vector<Linear> used(classes.size());
  for (std::size_t b = 0; b < made.blocks(); ++b) {
    const std::vector<Linear> members = made.members(b);
    std::vector<Linear> rest = members;  // not in any class yet
    Linear cost, chosen;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const Linear choice = made.choice();
      chosen.add(choice, 1);
      used[c].add(choice, 1);
      const std::vector<Linear> own = members_of_class(made, members, classes[c], choice);
      for (std::size_t v = 0; v < own.size(); ++v) rest[v].add(own[v], -1);
      cost.add(made.block_cost(classes[c], own, choice), 1);
    }
    for (const Linear& each : rest) made.require(0, each, 0);
    made.require(1, chosen, 1);
    made.bound_period(1, cost);
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto devices = static_cast<double>(classes[c].devices.size());
    made.require(devices, used[c], devices);
  }
}

std::vector<double> start_of(const LeastCosts& costs, const BlockProgram& made,
                             const KnownBlocks* known) {
  if (known == nullptr) return {};
  std::vector<double> choices;
  if (costs.classes().size() > 1) {
    for (const std::size_t device_class : known->class_of) {
      for (std::size_t c = 0; c < costs.classes().size(); ++c)
        choices.push_back(c == device_class ? 1 : 0);
    }
  }
  return made.values(known->block_of, choices);
}

ProgramBound solve_exact(const LeastCosts& costs, const milp::Solver& solver,
                         const ProgramOptions& options) {
  const BoundaryWindows windows = boundary_windows(costs, options.known_ms);
  if (windows.impossible) return between({options.known_ms, true}, options);
  BlockProgram made(costs, windows.sides, unit_of(costs, options));
  made.limit_period(options.at_least_ms, options.known_ms * (1 + kRounding));
  if (costs.classes().size() > 1) {
    add_blocks_of_classes(costs, made);
  } else {
    for (std::size_t b = 0; b < made.blocks(); ++b)
      made.bound_period(1, made.block_cost(costs.classes()[0], made.members(b), {1}));
  }
  const std::vector<double> start = start_of(costs, made, options.known);
  return between(solve_program(made, solver, options, start, 1), options);
}

}  // namespace

ProgramBound exact_bound(const LeastCosts& costs, const milp::Solver& solver,
                         const ProgramOptions& options) {
  if (too_large(costs, costs.devices(), costs.classes().size()))
    return {options.at_least_ms, false, kTooLarge};
  return raised_bound(costs, solver, options, solve_exact);
}

}  // namespace hios::scheduler::pipeline
