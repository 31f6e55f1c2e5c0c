#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/run/plan/stage_order.h"
#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// The shared arena of ranks of one host: memory in which a tensor lies that one of them computes
/// and another reads. No byte of it is copied, and its message only says that it is there. A region
/// with several producers (CoarseGraph::place_of) lies there as a whole: shards of an operator
/// write their rows next to each other, and read each other's where they lie.
///
/// Tensors share bytes there only where the order of stages proves, for all ranks, that the one is
/// not read any more when the other is written: the stages that compute the later tensor have
/// awaited, through messages or on their own rank, the end of every stage that writes or reads the
/// earlier one. So nobody waits for memory.
///
/// Pure: all ranks that share an arena lay it out alike, without messages. At most O(n² r²) for n
/// tensors and r ranks.
class SharedLayout {
 public:
  /// `sharers`, by rank: equal numbers for ranks that share an arena; `rank`: the layout is that of
  /// its arena. `reuse`: tensors may share bytes. Keeps no reference.
  SharedLayout(const CoarseGraph& coarse, const Schedule& schedule, const StageOrder& order,
               std::span<const std::size_t> sharers, std::size_t rank, bool reuse);

  /// Returns the offset at which an operator's output begins; nothing where it is not
  /// shared.
  std::optional<Bytes> begin(OpId op) const { return begin_[op.index()]; }
  Bytes size_bytes() const { return size_bytes_; }

 private:
  std::vector<std::optional<Bytes>> begin_;  // by OpId
  Bytes size_bytes_ = 0;
};

}  // namespace hios
