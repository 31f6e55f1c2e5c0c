#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/run/stage_order.h"
#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// Memory that several ranks of a host share, their window: a tensor that one of them computes and
/// another reads lies there, so that no byte of it is copied, and its message only says that it is
/// there. A region with several writers (CoarseGraph::place_of) lies there as a whole: shards of an
/// operator write their rows next to each other, and read each other's where they lie.
///
/// Tensors share bytes of the window only where the order of stages proves, for all ranks, that the
/// one is not read any more when the other is written: what computes a later tensor has awaited,
/// through messages or on its own rank, the end of every stage that reads or writes the earlier
/// one. So nobody waits for memory.
///
/// Pure: all ranks that share a window lay it out alike, without messages. O(n²) for n tensors.
class WindowLayout {
 public:
  /// `sharers`, by rank: equal numbers for ranks that share a window; `rank`: the layout is that of
  /// its window. `reuse`: tensors may share bytes. The order outlives nothing.
  WindowLayout(const CoarseGraph& coarse, const Schedule& schedule, const StageOrder& order,
               std::span<const std::size_t> sharers, std::size_t rank, bool reuse);

  /// Returns the offset at which an operator's output begins; nothing where it is not in the
  /// window.
  std::optional<Bytes> begin(OpId op) const { return begin_[op.index()]; }
  Bytes size_bytes() const { return size_bytes_; }

 private:
  std::vector<std::optional<Bytes>> begin_;  // by OpId
  Bytes size_bytes_ = 0;
};

}  // namespace hios
