#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "hios/base/ids.h"

namespace hios::mpi {

/// Two ranks that do something together.
using RankPair = std::pair<Rank, Rank>;

/// Divides pairs into rounds in which no rank occurs twice, so that a round's pairs can act at the
/// same time. Each pair takes the first round in which both of its ranks are free: all pairs of 2^k
/// ranks, in the order of their ranks, take 2^k - 1 rounds, the fewest possible.
inline std::vector<std::vector<RankPair>> disjoint_rounds(std::span<const RankPair> pairs) {
  std::vector<std::vector<RankPair>> rounds;
  for (const RankPair& pair : pairs) {
    const auto has_one = [&](const RankPair& other) {
      return other.first == pair.first || other.first == pair.second ||
             other.second == pair.first || other.second == pair.second;
    };
    const auto free = std::ranges::find_if(rounds, [&](const std::vector<RankPair>& round) {
      return std::ranges::none_of(round, has_one);
    });
    if (free == rounds.end()) {
      rounds.push_back({pair});
    } else {
      free->push_back(pair);
    }
  }
  return rounds;
}

}  // namespace hios::mpi
