#pragma once

#include <cstdint>
#include <string_view>

#include "hios/graph.h"

namespace hios {

/// The random networks of paper 001, section V-A.
struct RandomDag {
  std::size_t operators = 200;
  std::size_t edges = 400;
  std::size_t layers = 14;
  double p = 0.8;  ///< transfer time over the producer's time, at least 0.1 ms
  std::uint64_t seed = 0;
};

/// "n=200,edges=400,layers=14,p=0.8,seed=3"; absent keys keep their defaults.
RandomDag parse_random_dag(std::string_view text);

/// Layers, operators spread over them, edges that respect layers and leave no operator of a later
/// layer without an input; times U[0.1, 4] ms, utilization U[0.6, 1], transfer = max(0.1, p × time
/// of the producer), stage cost `overlap` 0.5. Depends on the parameters alone, on any machine.
Graph random_dag(const RandomDag& parameters);

}  // namespace hios
