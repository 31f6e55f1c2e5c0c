#include "scheduler/split/diagram/state_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "scheduler/structures/numbers.h"

// Dominance and merging are proved in decision_diagram.cpp.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kNoState = static_cast<std::size_t>(-1);

struct Comparison {
  bool new_dominated = true, old_dominated = true;
  double distance = 0;  ///< a sum of differences, or more than `least`
};

Comparison compare(std::span<const double> state, const double* other, double least,
                   double cutoff_ms) {
  Comparison found;
  const double slack = cutoff_ms * kRounding;
  for (std::size_t k = 0; k < state.size(); ++k) {
    const double old = other[k], made = state[k];
    if (old == made) continue;
    if (old > made + slack) found.new_dominated = false;
    if (made > old + slack) found.old_dominated = false;
    found.distance += std::min(std::abs(old - made), cutoff_ms);
    if (!found.new_dominated && !found.old_dominated && found.distance > least) break;
  }
  return found;
}

/// Lowers each number of `into` to that of the other state.
void merge(double* into, const double* state, std::size_t size) {
  for (std::size_t k = 0; k < size; ++k) into[k] = std::min(into[k], state[k]);
}

}  // namespace

void StateSet::insert(std::vector<double>& state, const Decision& decision, std::size_t max_states,
                      double cutoff_ms) {
  std::size_t nearest = kNoState;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < decisions.size();) {
    double* old = &states[i * stride];
    const Comparison found = compare(state, old, least, cutoff_ms);
    if (found.new_dominated) {
      merge(old, state.data(), stride);
      return;
    }
    if (found.old_dominated) {
      merge(state.data(), old, stride);
      remove(i);
      if (nearest == decisions.size()) nearest = kNoState;
      continue;
    }
    if (found.distance < least) {
      least = found.distance;
      nearest = i;
    }
    ++i;
  }
  if (decisions.size() >= max_states && nearest != kNoState) {
    double* old = &states[nearest * stride];
    if (state[0] < old[0]) decisions[nearest] = decision;
    merge(old, state.data(), stride);
    return;
  }
  states.insert(states.end(), state.begin(), state.end());
  decisions.push_back(decision);
}

void StateSet::remove(std::size_t i) {
  const std::size_t last = decisions.size() - 1;
  std::copy_n(&states[last * stride], stride, &states[i * stride]);
  decisions[i] = decisions[last];
  decisions.pop_back();
  states.resize(states.size() - stride);
}

}  // namespace hios::scheduler::split
