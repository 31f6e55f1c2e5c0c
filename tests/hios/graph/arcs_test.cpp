#include "hios/graph/arcs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "hios/base/numbers/random.h"

namespace hios {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Arcs arcs_of(std::size_t nodes, const Pairs& pairs) {
  return Arcs(nodes, [&](const auto& visit) {
    for (const auto& [from, to] : pairs) visit(from, to);
  });
}

std::vector<std::vector<bool>> reached(std::size_t nodes, const Pairs& pairs) {
  std::vector<std::vector<bool>> reaches(nodes, std::vector<bool>(nodes, false));
  for (const auto& [from, to] : pairs) reaches[from][to] = true;
  for (std::size_t via = 0; via < nodes; ++via) {
    for (std::size_t from = 0; from < nodes; ++from) {
      for (std::size_t to = 0; to < nodes; ++to) {
        if (reaches[from][via] && reaches[via][to]) reaches[from][to] = true;
      }
    }
  }
  return reaches;
}

TEST(Arcs, ListsThemByNode) {
  const Arcs arcs = arcs_of(3, {{2, 0}, {0, 1}, {2, 2}, {0, 1}});
  ASSERT_EQ(arcs.size(), 3u);
  EXPECT_EQ(std::vector<std::size_t>(arcs.from(0).begin(), arcs.from(0).end()),
            (std::vector<std::size_t>{1, 1}));
  EXPECT_TRUE(arcs.from(1).empty());
  EXPECT_EQ(std::vector<std::size_t>(arcs.from(2).begin(), arcs.from(2).end()),
            (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(arcs_of(0, {}).size(), 0u);
}

TEST(Arcs, ComponentsAreWhatReachesEachOther) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int cycles = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::size_t nodes = 1 + random.below(8);
    Pairs pairs;
    for (std::size_t arc = random.below(2 * nodes + 1); arc-- > 0;) {
      pairs.emplace_back(random.below(nodes), random.below(nodes));
    }
    const Arcs arcs = arcs_of(nodes, pairs);
    const auto reaches = reached(nodes, pairs);
    const std::vector<std::size_t> components = strong_components(arcs);
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t b = 0; b < nodes; ++b) {
        const bool together = a == b || (reaches[a][b] && reaches[b][a]);
        EXPECT_EQ(components[a] == components[b], together);
        if (reaches[a][b]) {
          EXPECT_GE(components[a], components[b]);
        }
      }
      if (!reaches[a][a]) continue;
      ++cycles;
      const std::vector<std::size_t> cycle = cycle_through(arcs, components, a);
      EXPECT_EQ(cycle.front(), a);
      for (std::size_t i = 0; i < cycle.size(); ++i) {  // each is pointed to by the next one
        const auto from = arcs.from(cycle[(i + 1) % cycle.size()]);
        EXPECT_NE(std::find(from.begin(), from.end(), cycle[i]), from.end());
      }
    }
  }
  EXPECT_GT(cycles, 100);
}

}  // namespace
}  // namespace hios
