#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/deadline.h"

namespace hios::scheduler::pipeline {

/// Biased random-key genetic algorithm: Gonçalves and Resende, "Biased random-key genetic
/// algorithms for combinatorial optimization", Journal of Heuristics 17(5), 2011. A chromosome is a
/// vector of keys in [0, 1); what it stands for, and how good that is, only the caller knows.
struct GeneticOptions {
  std::size_t population = 100;
  std::size_t generations = 100;  ///< the first, all random, included
  double elite = 0.2;             ///< share that lives on unchanged
  double mutants = 0.15;          ///< share that is new and random
  double inheritance = 0.7;       ///< chance of each key to come from the elite parent
};

/// Calls `fitness` (less is better) for population · generations chromosomes at most, fewer where
/// elites live on; ends when the deadline expires. The best is whatever `fitness` remembers.
/// `starts` are chromosomes of the first generation.
void evolve_keys(std::size_t keys, const GeneticOptions& options, std::uint64_t seed,
                 const std::vector<std::vector<double>>& starts,
                 const std::function<double(std::span<const double>)>& fitness,
                 const Deadline& deadline);

}  // namespace hios::scheduler::pipeline
