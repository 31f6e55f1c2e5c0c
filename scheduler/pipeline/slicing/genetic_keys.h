#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/deadline.h"

namespace hios::scheduler::pipeline {

/// Options of the biased random-key genetic algorithm: Gonçalves and Resende, "Biased random-key
/// genetic algorithms for combinatorial optimization", Journal of Heuristics 17(5), 2011. A
/// chromosome is a vector of keys in [0, 1); the caller decodes and evaluates it.
struct GeneticOptions {
  std::size_t population = 100;
  std::size_t generations = 100;  ///< including the first, random one
  double elite = 0.2;             ///< share that survives unchanged
  double mutants = 0.15;          ///< share that is new and random
  double inheritance = 0.7;       ///< probability of each key to come from the elite parent
};

/// Calls `fitness` (less is better) for the chromosomes of the first generation, and in each later
/// one for all but the elites: 100 + 99 · 80 by default. Ends when the deadline expires. The
/// caller's `fitness` keeps the best. `starts` are chromosomes of the first generation.
void evolve_keys(std::size_t keys, const GeneticOptions& options, std::uint64_t seed,
                 const std::vector<std::vector<double>>& starts,
                 const std::function<double(std::span<const double>)>& fitness,
                 const Deadline& deadline);

}  // namespace hios::scheduler::pipeline
