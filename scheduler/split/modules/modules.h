#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hios/graph/graph.h"

namespace hios::scheduler::split {

/// What runs between two operators that are comparable with all others: all that comes before the
/// module comes before `entry` or is it, all that comes after it after `exit`.
struct Module {
  std::optional<OpId> entry;  ///< absent: the graph begins with the module
  std::vector<OpId> between;  ///< in topological order; may be empty
  std::optional<OpId> exit;   ///< absent: the graph ends with it
};

/// The graph as modules in a row, each one's exit the next one's entry. One module without either
/// where no operator is comparable with all others. Linear. REQUIRES: the graph has operators.
std::vector<Module> modules_of(const Graph& graph);

/// Cuts an order into parts of at most `most` operators: each where as few tensors pass as behind
/// any of the operators that it could have, and at most `channels` of them in a larger half if that
/// is possible. Returns where parts end, the last at the order's end.
/// REQUIRES: `order` has every operator once and every edge leads forward; most > 0.
std::vector<std::size_t> cuts_along(const Graph& graph, std::span<const OpId> order,
                                    std::size_t most, std::size_t channels);

}  // namespace hios::scheduler::split
