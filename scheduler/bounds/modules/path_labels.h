#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hios::scheduler {

/// A way to place the operators of a path: the path's length and the operators' dual prices.
struct PathLabel {
  double length_ms = 0;
  double price_ms = 0;
  std::uint32_t trace = 0;  ///< for the user, to find the placement again
};

/// Labels of which none dominates another: the longer, the cheaper, and the shortest is first.
using PathLabels = std::vector<PathLabel>;

/// Replaces `into` by the labels of `a`, and those of `b` lengthened by `more_ms`, that no other
/// dominates. Linear.
void merge_labels(const PathLabels& a, const PathLabels& b, double more_ms, PathLabels& into);

/// Replaces `into` by the labels of two paths that run at the same time: the longer one's length,
/// and the sum of prices. Linear.
void join_labels(const PathLabels& a, const PathLabels& b, PathLabels& into);

/// Leaves at most `most` labels. Neighbours become one that is as short as the first and as cheap
/// as the last of them: it dominates them, so a minimum over labels does not increase.
void limit_labels(PathLabels& labels, std::size_t most);

}  // namespace hios::scheduler
