#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cold/planned_loads.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/schedule/schedule.h"

/// Schedule → this rank's steps: pure data, the same on every run; no backend, no transport. A plan
/// has the stages, receives, sends and loads of the rank, their order, and the slot of each tensor
/// in the rank's arena.
namespace hios {

/// The bytes of a tensor in the arena.
struct Slot {
  OpId op;  ///< the operator whose output it is
  Bytes offset = 0;
  bool received = false;  ///< comes from another rank
  bool shared = false;    ///< lies in the memory that ranks share, not in the arena
  /// The bytes of the output that are here; a rank may receive fewer than were computed. Where a
  /// region has several writers (CoarseGraph::place_of), their slots lie as in the region, so that
  /// a reader of several reads them as one.
  ByteRange bytes = {};
  /// The distance from one of its buffers to the next, where many inferences are in flight and the
  /// tensor travels (PlanOptions::in_flight); else 0: one buffer serves all inferences.
  Bytes stride = 0;

  Bytes size_bytes() const { return bytes.size(); }
  Bytes offset_at(std::size_t buffer) const { return offset + static_cast<Bytes>(buffer) * stride; }
  /// Returns the offset of a byte of the output, or of one that lies before it in the region.
  Bytes offset_of(std::int64_t byte, std::size_t buffer = 0) const {
    return offset_at(buffer) + static_cast<Bytes>(byte - static_cast<std::int64_t>(bytes.begin));
  }
  bool shares_bytes_with(const Slot& other) const {
    return shared == other.shared && offset < other.offset + other.size_bytes() &&
           other.offset < offset + size_bytes();
  }
};

struct PlannedMessage {
  OpId op;  ///< the operator whose output travels
  Rank peer;
  int tag = 0;
  std::size_t stage =
      0;                 ///< send: the producing stage here; receive: the first stage that needs it
  ByteRange bytes = {};  ///< the bytes of the output from the first to the last that is read there
  /// mpi::Message::order: the level of the first stage that needs it
  /// (engine/run/plan/stage_order.h)
  std::size_t order = 0;
  std::size_t batch = 0;  ///< mpi::Message::batch: by the producing stage
  /// The bytes lie in memory that both ranks share: the message has none, and says that they are
  /// there.
  bool shared = false;

  Bytes size_bytes() const { return bytes.size(); }
};

/// The steps of a rank, a closed variant.
struct AwaitReceive {
  std::size_t receive;  ///< index into RankPlan::receives
  std::size_t stage;    ///< the stage that needs it
};
/// Waits for a send whose slot is about to be overwritten.
struct AwaitSend {
  std::size_t send;  ///< index into RankPlan::sends
};
struct Compute {
  std::size_t stage;
};
struct StartSend {
  std::size_t send;
};
/// Waits for a load of parameters, and so for all before it in its lane.
struct AwaitLoad {
  std::size_t lane;  ///< index into RankPlan::lanes
  std::size_t load;  ///< index there
  std::size_t stage;
};
/// Waits for the loads of all other ranks.
struct AwaitOtherLoads {
  std::size_t stage;
};
/// Removes parameters that no later step reads.
struct Evict {
  std::size_t eviction;  ///< index into RankPlan::evictions
};
using Step =
    std::variant<AwaitReceive, AwaitSend, AwaitLoad, AwaitOtherLoads, Compute, StartSend, Evict>;

struct PlanOptions {
  /// Every tensor keeps its slot to the end, so that all can be compared afterwards.
  bool keep_all = false;
  /// Tensors of other ranks keep their slots to the end: they never arrive.
  bool keep_received = false;
  /// The number F of buffers of each tensor that is sent or received; inferences take them in turn.
  /// If F > 1, no other tensor uses these buffers, also between two inferences.
  std::size_t in_flight = 1;
  /// Stages may run in any order that the graph's edges allow (engine/run/ready/ready_order.h):
  /// each stage has all of its own waits, and slots share bytes only where edges prove that the old
  /// tensor is not needed any more. REQUIRES: in_flight == 1.
  bool any_order = false;
  /// The number of different inputs in memory, with the outputs that each gives, besides the plan's
  /// slots: for runs of many inferences (engine/run/inference_data.h).
  std::size_t inputs = 0;
  /// By rank: equal numbers for ranks whose tensors may lie in memory that they share
  /// (slots/shared_layout.h); in_flight is 1 then, and any_order false. Empty: every tensor is
  /// copied from rank to rank.
  std::vector<std::size_t> sharers = {};
};

struct RankPlan {
  Rank rank;
  std::vector<Stage> stages;
  std::vector<Step> steps;
  std::vector<PlannedMessage> sends, receives;
  std::vector<std::vector<PlannedLoad>> lanes;  ///< for a cold start: what is loaded here
  std::vector<OpId> in_place;                   ///< for a cold start: read where they are kept
  std::vector<HeldOperator> held;               ///< for a cold start: see PlannedLoads
  std::vector<PlannedEviction> evictions;       ///< for a cold start: see PlannedLoads
  LoadExchange exchange;                        ///< for a cold start: see PlannedLoads
  std::vector<Slot> slots;                      ///< outputs computed here, then tensors received
  Bytes arena_bytes = 0;                        ///< the peak: the size of the arena
  Bytes shared_bytes = 0;         ///< the size of the memory that this rank shares with others
  std::size_t sharing_ranks = 0;  ///< the number of ranks with operators that share it
  Bytes all_tensors_bytes = 0;    ///< the sum, as if no bytes were reused
  std::size_t in_flight = 1;      ///< PlanOptions::in_flight
  std::size_t buffers = 1;        ///< the same, but 1 where nothing travels to or from here
  std::size_t inputs = 0;         ///< PlanOptions::inputs
  bool any_order = false;         ///< PlanOptions::any_order
  int tags = 0;                   ///< added to a message's tag from one buffer index to the next
  std::vector<OpId> outputs;      ///< the graph's outputs that this rank computes
  /// Returns the bytes of tensors that this rank answers for: its arena, and its share of the
  /// memory that it shares.
  Bytes tensor_bytes() const {
    if (stages.empty() || sharing_ranks == 0) return arena_bytes;
    return arena_bytes + (shared_bytes + sharing_ranks - 1) / sharing_ranks;
  }
  bool has_parameters() const {  ///< loads, reads in place or holds some for a cold start
    return !lanes.empty() || !in_place.empty() || !held.empty() || !evictions.empty();
  }
  std::vector<std::size_t> slot_of;  ///< by OpId; SIZE_MAX: not here
  /// REQUIRES: computed or received here.
  const Slot& slot(OpId op) const { return slots[slot_of[op.index()]]; }
};

/// Plans one rank. A tensor travels once to each rank that needs it. Tags come from the producer's
/// OpId, so both sides agree on them without communication. All receives are posted at the start of
/// an iteration, so that every AwaitSend ends; a received tensor keeps its slot from the start to
/// its last use. A stage awaits its parameters last: other tensors travel meanwhile. What an
/// earlier stage has awaited is not awaited again, unless stages run in any order. Regions
/// are 64-byte aligned and share bytes where lifetimes allow. The model's input is not planned
/// (each rank makes its own). REQUIRES: validate() finds nothing.
RankPlan plan_rank(const CoarseGraph& coarse, const Schedule& schedule, Rank rank,
                   const PlanOptions& options = {});

/// Returns the plan for the copy of the schedule whose device 0 is rank `first`.
RankPlan of_copy(RankPlan plan, std::size_t first);

/// Stages with no message step between them, which a device can be given all at once.
struct Segment {
  std::size_t first = 0;  ///< index of its first step
  std::size_t end = 0;    ///< after its last
  bool operator==(const Segment&) const = default;
};

/// Returns the maximal runs of Compute steps, in order.
std::vector<Segment> cut_segments(std::span<const Step> steps);

/// Returns true for steps that wait for messages or loads before a stage.
inline bool is_wait(const Step& step) {
  return !std::holds_alternative<Compute>(step) && !std::holds_alternative<StartSend>(step) &&
         !std::holds_alternative<Evict>(step);
}

/// REQUIRES: a Compute step.
inline std::size_t stage_of(const Step& step) { return std::get<Compute>(step).stage; }

}  // namespace hios
