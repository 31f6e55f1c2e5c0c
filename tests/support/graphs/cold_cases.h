#pragma once

#include <cstddef>

#include "hios/base/numbers/random.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

/// Random problems of cold starts, and schedules of them. They depend on the given Random alone.
namespace hios::test {

/// The memory of a case's devices.
enum class ColdMemory {
  kUnlimited,
  kEnough,  ///< for the outputs and all parameters that the device ever holds
  kTight,   ///< less: loads wait for evictions, some of them forever (a deadlock)
};

struct ColdStyle {
  std::size_t most_operators = 10;
  std::size_t most_devices = 3;
  std::size_t most_lanes = 4;
  bool whole_numbers = false;  ///< few times, sizes and speeds, so that equal times are common
  ColdMemory memory = ColdMemory::kUnlimited;
};

struct ColdCase {
  Graph graph;
  Platform platform;
  Schedule schedule;  ///< with weights
};

/// Returns devices gpu0, gpu1, … of this number of streams, stores dram and ssd, a few buses, and a
/// route between any two over a random choice of them.
Platform random_topology(std::size_t devices, int streams, bool whole_numbers, Random& random);

/// Returns the graph with parameters for most operators, some of them shared, and bytes instead of
/// times for most edges, the same for all edges of a producer. Every operator can be read in place.
Graph with_parameters(const Graph& graph, bool whole_numbers, Random& random);

/// Returns weights by which the schedule ends, if memory suffices for all parameters: every set is
/// resident, loaded once to each device that needs it, from a store or another device, or read in
/// place by operators that are alone in their stages. Evictions come after all uses: readers and
/// copies to other devices that must have ended by then.
Weights random_weights(const Graph& graph, const Platform& platform, const Schedule& schedule,
                       std::size_t lanes, Random& random);

/// Returns the platform with memory for a schedule that has weights.
Platform with_memory(const Platform& platform, const Graph& graph, const Schedule& schedule,
                     ColdMemory memory, Random& random);

/// Returns the platform with loads that start late, slow operators and are slowed by them.
Platform with_slowdowns(const Platform& platform, Random& random);

/// Returns all of the above together, without slowdowns.
ColdCase random_cold_case(const ColdStyle& style, Random& random);

}  // namespace hios::test
