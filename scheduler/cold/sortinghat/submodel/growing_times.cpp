#include "scheduler/cold/sortinghat/submodel/growing_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/structures/numbers.h"
#include "scheduler/structures/saturating_sum.h"

// A step changes one subgraph's duration and what it waits for, and the loads after its own on one
// bus. Nothing becomes earlier by it, so times without the step bound those with it: a search that
// asks least_end_ms() first walks over all subgraphs for few of its steps.
//
// Test: tests/scheduler/cold/sortinghat/growing_times_test.cpp (against times_of())

namespace hios::scheduler::sortinghat {

GrowingTimes::GrowingTimes(const SubmodelProblem& problem)
    : problem_(problem),
      stride_(problem.subgraphs() + 1),
      inputs_(problem.operators.size()),
      turn_(stride_, 0),
      load_ms_(stride_, 0),
      duration_ms_(stride_, 0),
      fixed_ms_(stride_, 0),
      last_load_(stride_ * problem.bus_free_ms.size(), 0),
      used_bytes_(problem.devices, 0),
      known_(problem.nodes() * stride_, 0),
      known_after_(stride_ * stride_, 0),
      after_(stride_),
      waits_(stride_, 0),
      loads_end_ms_(stride_, 0),
      start_ms_(stride_, 0),
      end_ms_(stride_, 0),
      new_loads_end_ms_(stride_, 0),
      new_start_ms_(stride_, 0),
      new_end_ms_(stride_, 0),
      ready_(stride_, 0) {
  assignment_.subgraph.assign(problem.fixed_node(0), kUnplaced);
  for (const auto& [from, to] : problem.edges) inputs_[to].push_back(from);
  for (std::size_t bus = 0; bus < problem.bus_free_ms.size(); ++bus) {
    order_.push_back(problem.transfer_order(bus));
    for (std::size_t turn = 0; turn < order_[bus].size(); ++turn) {
      turn_[order_[bus][turn]] = turn;
      loads_end_ms_[order_[bus][turn]] = problem.bus_free_ms[bus];
    }
  }
  for (std::size_t d = 0; d < problem.devices; ++d) {
    fixed_ms_[problem.first_of(d)] = problem.device_free_ms[d];
    for (std::size_t turn = 0; turn < problem.subgraphs_per_device; ++turn) {
      const SubgraphId j = problem.first_of(d) + turn;
      waits_[j] = turn > 0;
      start_ms_[j] = end_ms_[j] = problem.device_free_ms[d];
    }
  }
}

bool GrowingTimes::may_load() const {
  const auto& reads = next().reads;
  return reads && !problem_.is_fixed(*reads) && (of(*reads) == kUnplaced || of(*reads) == 0);
}

std::size_t GrowingTimes::device_of(std::size_t node) const {
  return problem_.is_fixed(node) ? problem_.fixed[node - problem_.fixed_node(0)].device
                                 : problem_.device_of(of(node));
}

/// Adds what the step's subgraph waits for (19), (20), and a copy into it (9), (10), unless the
/// node is read there already.
void GrowingTimes::add_input(std::size_t from, const Step& step, Bytes& bytes) {
  const SubgraphId j = step.subgraph;
  std::size_t at = 0;
  if (problem_.is_parameters(from)) {
    const SubgraphId loaded_for = step.load.value_or(of(from));
    if (loaded_for == 0 || loaded_for == kUnplaced) {  // (5): the store does not suffice
      change_.possible = false;
      return;
    }
    at = problem_.device_of(loaded_for);
    const double own_ms = step.load ? load_ms(at) : 0;
    change_.ready_ms = std::max(change_.ready_ms, loads_end_ms_[loaded_for] + own_ms);
  } else if (problem_.is_fixed(from)) {
    at = device_of(from);
    const double finish_ms = problem_.fixed[from - problem_.fixed_node(0)].finish_ms;
    change_.ready_ms = std::max(change_.ready_ms, finish_ms);
  } else {
    at = device_of(from);
    add_wait(of(from), j);
  }
  const std::size_t device = problem_.device_of(j);
  if (at == device || known_[from * stride_ + j]) return;
  change_.duration_ms += problem_.copy(from, at, device);
  bytes = saturating_sum(bytes, problem_.bytes[from]);
}

void GrowingTimes::add_wait(SubgraphId before, SubgraphId j) {
  if (before == j) return;
  change_.ready_ms = std::max(change_.ready_ms, end_ms_[before]);
  if (known_after_[before * stride_ + j]) return;
  if (std::ranges::find(change_.after, before) != change_.after.end()) return;
  change_.after.push_back(before);
}

void GrowingTimes::find_change(const Step& step) {
  Bytes bytes = problem_.bytes[next_];
  change_.duration_ms = problem_.operator_ms(next_, step.subgraph);
  change_.ready_ms = 0;
  change_.possible = true;
  change_.after.clear();
  for (const std::size_t from : inputs_[next_]) {
    if (problem_.counts(from, step.subgraph)) add_input(from, step, bytes);
  }
  change_.possible = change_.possible && std::isfinite(change_.duration_ms) &&
                     std::isfinite(change_.ready_ms) && fits(step, bytes);
}

/// Returns true if the bytes on the subgraph's device, and a load, keep (11).
bool GrowingTimes::fits(const Step& step, Bytes bytes) const {
  const auto holds = [this](std::size_t device, Bytes more) {
    const auto& room = problem_.room_bytes[device];
    return !room || saturating_sum(used_bytes_[device], more) <= *room;
  };
  const std::size_t device = problem_.device_of(step.subgraph);
  if (!step.load) return holds(device, bytes);
  const Bytes loaded = problem_.bytes[*next().reads];
  const std::size_t to = problem_.device_of(*step.load);
  if (to == device) return holds(device, saturating_sum(bytes, loaded));
  return holds(device, bytes) && holds(to, loaded);
}

double GrowingTimes::least_end_ms(const Step& step) {
  find_change(step);
  if (!change_.possible) return kInfinity;
  return std::max(start_ms_[step.subgraph], change_.ready_ms) + duration_ms_[step.subgraph] +
         change_.duration_ms;
}

/// Finds the ends of loads (12) to (14) with the step's own.
void GrowingTimes::load_in_turn(const Step& step) {
  times_.lanes_end_ms = 0;
  for (std::size_t bus = 0; bus < order_.size(); ++bus) {
    double ms = problem_.bus_free_ms[bus];
    for (const SubgraphId j : order_[bus]) {
      ms += load_ms_[j];
      if (step.load == j) ms += load_ms(problem_.device_of(j));
      new_loads_end_ms_[j] = ms;
    }
    times_.lanes_end_ms += ms;
  }
}

/// Finds starts and ends by (15) to (19), (21) to (23); returns false where subgraphs form a cycle.
bool GrowingTimes::walk(const Step& step) {
  const std::size_t q = problem_.subgraphs_per_device, buses = order_.size();
  std::size_t ready = 0;  // number of subgraphs in ready_
  open_ = waits_;
  open_[step.subgraph] += change_.after.size();
  for (SubgraphId j = 1; j < stride_; ++j) {
    double& start_ms = new_start_ms_[j] = fixed_ms_[j];
    for (std::size_t bus = 0; bus < buses; ++bus) {
      const std::size_t turns = last_load_[j * buses + bus];
      if (turns > 0) start_ms = std::max(start_ms, new_loads_end_ms_[order_[bus][turns - 1]]);
    }
    if (open_[j] == 0) ready_[ready++] = j;
  }
  double& own_ms = new_start_ms_[step.subgraph];
  own_ms = std::max(own_ms, change_.ready_ms);
  if (step.load && !problem_.in_place(step.subgraph)) {
    own_ms = std::max(own_ms, new_loads_end_ms_[*step.load]);
  }
  times_.latency_ms = 0;
  std::size_t done = 0;
  for (; done < ready; ++done) {
    const SubgraphId j = ready_[done];
    const double more_ms = j == step.subgraph ? change_.duration_ms : 0;
    const double end_ms = new_end_ms_[j] = new_start_ms_[j] + duration_ms_[j] + more_ms;
    times_.latency_ms = std::max(times_.latency_ms, end_ms);
    const auto arrive = [&](SubgraphId later) {
      new_start_ms_[later] = std::max(new_start_ms_[later], end_ms);
      if (--open_[later] == 0) ready_[ready++] = later;
    };
    for (const SubgraphId later : after_[j]) arrive(later);
    if (std::ranges::find(change_.after, j) != change_.after.end()) arrive(step.subgraph);
    if (j % q != 0) arrive(j + 1);
  }
  times_.end_ms = new_end_ms_[step.subgraph];
  return done + 1 == stride_;
}

std::optional<GrowingTimes::Times> GrowingTimes::with(const Step& step) {
  find_change(step);
  if (!change_.possible) return {};
  load_in_turn(step);
  if (!std::isfinite(times_.lanes_end_ms) || !walk(step)) return {};
  return times_;
}

void GrowingTimes::take(const Step& step) {
  with(step);
  const SubgraphId j = step.subgraph;
  const std::size_t device = problem_.device_of(j);
  take_load(step);
  assignment_.subgraph[next_] = j;
  duration_ms_[j] += change_.duration_ms;
  used_bytes_[device] = saturating_sum(used_bytes_[device], problem_.bytes[next_]);
  for (const SubgraphId before : change_.after) {
    after_[before].push_back(j);
    known_after_[before * stride_ + j] = 1;
  }
  waits_[j] += change_.after.size();
  for (const std::size_t from : inputs_[next_]) {
    if (problem_.counts(from, j) && placed(from)) take_input(from, j);
  }
  loads_end_ms_.swap(new_loads_end_ms_);
  start_ms_.swap(new_start_ms_);
  end_ms_.swap(new_end_ms_);
  ++next_;
}

void GrowingTimes::take_load(const Step& step) {
  const auto& reads = next().reads;
  if (!reads || problem_.is_fixed(*reads)) return;
  if (step.load) {
    const std::size_t to = problem_.device_of(*step.load);
    load_ms_[*step.load] += load_ms(to);
    used_bytes_[to] = saturating_sum(used_bytes_[to], problem_.bytes[*reads]);
    assignment_.subgraph[*reads] = *step.load;
  } else if (of(*reads) == kUnplaced) {
    assignment_.subgraph[*reads] = 0;
  }
}

void GrowingTimes::take_input(std::size_t from, SubgraphId j) {
  const std::size_t at = device_of(from), device = problem_.device_of(j);
  if (problem_.is_fixed(from)) {
    fixed_ms_[j] = std::max(fixed_ms_[j], problem_.fixed[from - problem_.fixed_node(0)].finish_ms);
  } else if (problem_.is_parameters(from)) {
    std::size_t& turns = last_load_[j * order_.size() + problem_.bus_of[at]];
    turns = std::max(turns, turn_[of(from)] + 1);
  }
  const bool was_known = std::exchange(known_[from * stride_ + j], 1) != 0;
  if (at == device || was_known) return;
  used_bytes_[device] = saturating_sum(used_bytes_[device], problem_.bytes[from]);
}

}  // namespace hios::scheduler::sortinghat
