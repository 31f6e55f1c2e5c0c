#include "scheduler/pipeline/slicing/genetic_keys.h"

#include <algorithm>
#include <utility>

#include "hios/base/numbers/random.h"

namespace hios::scheduler::pipeline {
namespace {

struct Chromosome {
  std::vector<double> keys;
  double fitness = 0;
};

std::vector<double> random_keys(std::size_t keys, Random& random) {
  std::vector<double> drawn(keys);
  for (double& key : drawn) key = random.uniform();
  return drawn;
}

/// Returns keys, each from one of the two parents.
std::vector<double> child_of(const Chromosome& elite, const Chromosome& other, double inheritance,
                             Random& random) {
  std::vector<double> keys(elite.keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = random.uniform() < inheritance ? elite.keys[i] : other.keys[i];
  }
  return keys;
}

}  // namespace

void evolve_keys(std::size_t keys, const GeneticOptions& options, std::uint64_t seed,
                 const std::vector<std::vector<double>>& starts,
                 const std::function<double(std::span<const double>)>& fitness,
                 const Deadline& deadline) {
  Random random(seed, "genetic keys");
  const std::size_t size = std::max<std::size_t>(options.population, 1);
  const auto share = [&](double part) {
    return static_cast<std::size_t>(part * static_cast<double>(size));
  };
  const std::size_t elites = std::min(std::max<std::size_t>(share(options.elite), 1), size);
  const std::size_t mutants = std::min(share(options.mutants), size - elites);
  std::vector<Chromosome> population;
  const auto add = [&](std::vector<double> drawn, std::vector<Chromosome>& to) {
    if (deadline.expired()) return false;
    const double value = fitness(drawn);
    to.push_back({std::move(drawn), value});
    return true;
  };
  for (std::size_t i = 0; i < size; ++i) {
    if (!add(i < starts.size() ? starts[i] : random_keys(keys, random), population)) return;
  }
  for (std::size_t generation = 1; generation < options.generations; ++generation) {
    std::stable_sort(
        population.begin(), population.end(),
        [](const Chromosome& a, const Chromosome& b) { return a.fitness < b.fitness; });
    std::vector<Chromosome> next(population.begin(),
                                 population.begin() + static_cast<std::ptrdiff_t>(elites));
    for (std::size_t i = 0; i < mutants; ++i) {
      if (!add(random_keys(keys, random), next)) return;
    }
    while (next.size() < size) {
      const Chromosome& elite = population[random.below(elites)];
      const Chromosome& other =
          elites < size ? population[elites + random.below(size - elites)] : elite;
      if (!add(child_of(elite, other, options.inheritance, random), next)) return;
    }
    population = std::move(next);
  }
}

}  // namespace hios::scheduler::pipeline
