#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "engine/backend/arena.h"
#include "engine/run/plan/edge_chains.h"
#include "engine/run/plan/plan.h"
#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// The time on one rank, counted in instants: a stage of several groups is one instant, since its
/// groups run at the same time and in no known order; a stage of one group has an instant for each
/// operator.
class Instants {
 public:
  static constexpr std::size_t kElsewhere = SIZE_MAX;
  Instants(std::size_t operators, std::span<const Stage> stages);

  /// Returns the instant that writes an operator's output; kElsewhere on other ranks.
  std::size_t of(OpId op) const { return of_[op.index()]; }
  /// Returns the last instant before a stage. REQUIRES: there is one; the number of stages stands
  /// for the end.
  std::size_t before(std::size_t stage) const { return begin_[stage] - 1; }
  std::size_t last() const { return begin_.back() - 1; }

 private:
  std::vector<std::size_t> of_;     // by OpId
  std::vector<std::size_t> begin_;  // by stage, and the end of the last
};

/// The offsets of a rank's slots in its arena. A tensor lives from the instant that writes it to
/// the last that reads it here. A received tensor lives from the start, because receives are posted
/// then. A graph output lives to the end. A tensor that is sent lives until every receiver has it.
/// Tensors of one region (CoarseGraph::place_of) lie together, and live as long as any of them.
class SlotLayout {
 public:
  /// `free_stage`, by OpId: the stage from which on every receiver has the tensor, 0 where it is
  /// not sent. `chains`: with PlanOptions::any_order. References outlive the layout.
  SlotLayout(const CoarseGraph& coarse, const PlanOptions& options, DeviceId device,
             const Instants& instants, const std::vector<std::size_t>& free_stage,
             const EdgeChains* chains)
      : coarse_(coarse),
        options_(options),
        device_(device),
        instants_(instants),
        free_stage_(free_stage),
        chains_(chains) {}

  /// Returns true for a tensor that travels and has PlanOptions::in_flight buffers: other
  /// inferences are computed while it is in flight.
  bool is_buffered(const Slot& slot) const {
    return options_.in_flight > 1 && (slot.received || free_stage_[slot.op.index()] > 0);
  }
  /// Sets the offsets and strides of slots, but for shared ones. Returns the size of the
  /// arena.
  Bytes lay_out(std::vector<Slot>& slots) const;

 private:
  /// The slots of tensors that lie in one region, at the distances that they have there.
  struct Region {
    ByteRange bytes;
    Lifetime life;
    bool buffered;
    std::vector<const Slot*> slots = {};

    Bytes stride() const { return aligned_size(life.size_bytes); }
  };

  Lifetime lifetime(const Slot& slot) const;
  ByteRange in_region(const Slot& slot) const;
  void join(Region& region, const Slot& slot) const;
  ArenaLayout place_by_instants(const std::vector<Region>& regions) const;
  ArenaLayout place_by_edges(const std::vector<Region>& regions) const;
  bool not_needed_at(const Slot& old, const Slot& next) const;

  const CoarseGraph& coarse_;
  const PlanOptions& options_;
  const DeviceId device_;
  const Instants& instants_;
  const std::vector<std::size_t>& free_stage_;
  const EdgeChains* chains_;
};

}  // namespace hios
