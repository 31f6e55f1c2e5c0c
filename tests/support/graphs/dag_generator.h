#pragma once

#include <cstdint>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

/// Random graphs, platforms, profiles and schedules for tests. They depend on the given Random
/// alone.
namespace hios::test {

/// The style of a random graph's costs.
struct CostStyle {
  bool overlap = true;          ///< stage cost `overlap` with a random weight; otherwise serial
  bool small_integers = false;  ///< times 0, 1, 2, so that ties and free operators are common
  bool by_device = false;       ///< times by device; some devices cannot run some operators
};

/// Returns the style of a test's n-th graph: one in four has serial stage costs, one in three small
/// integers.
CostStyle style_by_number(std::uint64_t number);

/// Returns a graph with one of the 2^(n(n−1)/2) edge sets over n operators in a fixed topological
/// order: bit k of `edge_set` is the k-th pair of (0,1), (0,2), (1,2), (0,3), … Costs are random.
Graph dag(std::size_t n, std::uint64_t edge_set, const CostStyle& style, Random& random);

/// Returns a graph in which each pair has an edge with this probability, a few pairs two. Operators
/// are numbered in a random order, not a topological one.
Graph random_graph(std::size_t n, double density, const CostStyle& style, Random& random);

/// Returns devices gpu0, gpu1, … of the kind "gpu", with this number of streams.
Platform devices(std::size_t count, int streams);

/// Returns the platform with devices that need this share of a transfer's time to receive it.
Platform with_receive(const Platform& platform, double share);

/// Returns such devices with links that carry one tensor at a time.
Platform devices(std::size_t count, int streams, Contention contention);

/// Returns devices gpu0, gpu1, … of one stream with these bytes of memory; 0: without a limit.
Platform devices_with_memory(const std::vector<Bytes>& limits);

/// Returns the devices that random modules have times for: a GPU, a slower one and a CPU.
Platform unlike_devices(Contention contention = Contention::kNone);

/// Returns a profile of a graph, to whose operators it gives few signatures. Some of its stages are
/// measured, at costs between a third and one and a half of their sum. `graph` loses its own costs.
Profile random_profile(Graph& graph, const Platform& platform, Random& random);

/// Returns the profile with a share that receivers need, and with shared memory between some of its
/// devices, whose readers need all of it.
Profile with_shared_memory(Profile profile, Random& random);

/// Returns any schedule that validate() accepts on devices that can run everything: stages of
/// several groups, groups of several operators, within the devices' streams.
Schedule random_schedule(const Graph& graph, const Platform& platform, Random& random);

}  // namespace hios::test
