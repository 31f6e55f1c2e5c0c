#pragma once

#include <cstddef>
#include <vector>

#include "engine/measure/profiler.h"

/// The little that tests of the profiler measure.
namespace hios::test {

inline const Protocol kShort{.warmup = 1, .iterations = 4};

/// Returns the first six stages of two independent operators each.
inline std::vector<Stage> independent_pairs(const Graph& graph) {
  const Reachability reachability(graph);
  std::vector<Stage> stages;
  for (std::size_t a = 0; a < graph.size(); ++a) {
    for (std::size_t b = a + 1; b < graph.size(); ++b) {
      if (stages.size() < 6 && reachability.independent(OpId(a), OpId(b)))
        stages.push_back({{{OpId(a)}, {OpId(b)}}});
    }
  }
  return stages;
}

}  // namespace hios::test
