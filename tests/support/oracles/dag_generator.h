#pragma once

#include <cstdint>

#include "hios/base/numbers/random.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

/// Graphs, platforms, profiles and schedules by chance, for tests. Everything follows from the
/// Random that is passed in.
namespace hios::test {

/// What the costs of a random graph look like.
struct CostStyle {
  bool overlap = true;          ///< stage cost `overlap` with a random weight; else serial
  bool small_integers = false;  ///< times 0, 1, 2, so that ties and free operators are common
  bool by_device = false;       ///< times by device, some devices cannot run some operators
};

/// One of the 2^(n(n−1)/2) edge sets over n operators in a fixed topological order: bit k of
/// `edge_set` is the k-th pair of (0,1), (0,2), (1,2), (0,3), … Costs by chance.
Graph dag(std::size_t n, std::uint64_t edge_set, const CostStyle& style, Random& random);

/// Each pair has an edge with this probability; now and then a pair has two. Operators are numbered
/// in any order, not a topological one.
Graph random_graph(std::size_t n, double density, const CostStyle& style, Random& random);

/// Devices gpu0, gpu1, … of the kind "gpu", with as many streams.
Platform devices(std::size_t count, int streams);

/// A profile of a graph (whose operators it gives few signatures) with some of its stages measured,
/// at costs between a third and one and a half of their sum. `graph` loses its own costs.
Profile random_profile(Graph& graph, const Platform& platform, Random& random);

/// Any schedule that validate() accepts on devices that can run everything: stages of several
/// groups, groups of several operators, within the devices' streams.
Schedule random_schedule(const Graph& graph, const Platform& platform, Random& random);

}  // namespace hios::test
