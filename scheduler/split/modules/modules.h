#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler::split {

/// The operators between two operators that are comparable with all others. Everything before the
/// module precedes or is `entry`; everything after it follows or is `exit`.
struct Module {
  std::optional<OpId> entry;  ///< absent: the graph begins with the module
  std::vector<OpId> between;  ///< in topological order; may be empty
  std::optional<OpId> exit;   ///< absent: the graph ends with it
};

/// Divides the graph into consecutive modules, each one's exit the next one's entry. Returns one
/// module without entry and exit where no operator is comparable with all others. O(V + E).
/// REQUIRES: the graph has operators.
std::vector<Module> modules_of(const Graph& graph);

/// Cuts an order into modules of at most `most` operators. Each cut is where the fewest tensors
/// cross in the larger half of the possible positions; where more than `channels` cross there, a
/// cut of at most `channels` is taken from the smaller half, if any. Returns the end of each
/// module; the last is the order's end. REQUIRES: `order` has every operator once and every edge
/// leads forward; most > 0.
std::vector<std::size_t> cuts_along(const Graph& graph, std::span<const OpId> order,
                                    std::size_t most, std::size_t channels);

}  // namespace hios::scheduler::split
