#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/schedule/schedule.h"

/// Schedule → this rank's steps: pure data, the same on every run; no backend, no transport. What
/// this rank computes, receives and sends, in which order, and where in its arena each tensor lies.
namespace hios {

/// Where a tensor lies in the arena.
struct Slot {
  OpId op;  ///< the operator whose output it is
  Bytes offset = 0;
  Bytes size_bytes = 0;
  bool received = false;  ///< comes from another rank
  /// What of the output lies here, where the graph divides inputs; received may be a part of what
  /// was computed. Batches of one operator that follow each other lie behind each other, so that a
  /// batch of more inputs reads them as one.
  InputRange inputs = {0, 1};
  /// From one of its places to the next, where many inferences are in flight and the tensor travels
  /// (PlanOptions::in_flight); else 0: all inferences have the same.
  Bytes stride = 0;

  Bytes offset_at(std::size_t place) const { return offset + static_cast<Bytes>(place) * stride; }
  /// Where the values of an input begin. REQUIRES: inputs.contains(input).
  Bytes offset_of(std::int64_t input, std::size_t place = 0) const {
    return offset_at(place) + static_cast<Bytes>(input - inputs.begin) * bytes_per_input();
  }
  Bytes bytes_per_input() const { return size_bytes / static_cast<Bytes>(inputs.size()); }
};

struct PlannedMessage {
  OpId op;  ///< whose output travels
  Rank peer;
  int tag = 0;
  Bytes size_bytes = 0;
  std::size_t stage =
      0;  ///< send: the producing stage here; receive: the first stage that needs it
  InputRange inputs = {0, 1};  ///< as Slot::inputs: what the receiver reads of the output
};

/// The steps of a device, a closed variant: later load and evict.
struct AwaitReceive {
  std::size_t receive;
};  ///< index into RankPlan::receives
struct AwaitSend {
  std::size_t send;
};  ///< its buffer is about to be overwritten
struct Compute {
  std::size_t stage;
};
struct StartSend {
  std::size_t send;
};
using Step = std::variant<AwaitReceive, AwaitSend, Compute, StartSend>;

struct PlanOptions {
  /// Every tensor keeps its place to the end, so that all can be compared afterwards.
  bool keep_all = false;
  /// How many places each tensor has that is sent or received; inferences take them in turn. From
  /// two on these places are nobody else's, also between two inferences.
  std::size_t in_flight = 1;
  /// How many different inputs lie in memory, with the outputs that each gives, beside what the
  /// plan places: for runs of many inferences (engine/run/inference_data.h).
  std::size_t inputs = 0;
};

struct RankPlan {
  Rank rank;
  std::vector<Stage> stages;
  std::vector<Step> steps;
  std::vector<PlannedMessage> sends, receives;
  std::vector<Slot> slots;           ///< outputs computed here, then tensors received
  Bytes arena_bytes = 0;             ///< the peak: what the arena needs
  Bytes all_tensors_bytes = 0;       ///< the sum, had nothing been reused
  std::size_t in_flight = 1;         ///< PlanOptions::in_flight
  std::size_t places = 1;            ///< the same, but 1 where nothing travels to or from here
  std::size_t inputs = 0;            ///< PlanOptions::inputs
  int tags = 0;                      ///< what is added to a message's tag from place to place
  std::vector<OpId> outputs;         ///< CoarseGraph::is_output, of those that this rank computes
  const Slot& slot(OpId op) const;   ///< REQUIRES: computed or received here
  std::vector<std::size_t> slot_of;  ///< by OpId; SIZE_MAX: not here
};

/// Plans one rank. A tensor travels once to each rank that needs it; tags are the same on both
/// sides without talking (from the producer's OpId). All receives are posted at the start of an
/// iteration, which makes every AwaitSend end: a received tensor's place is its own from the start
/// to its last use. Places are 64-byte aligned and reused by lifetime. The model's input is not
/// planned (each rank makes its own).
/// REQUIRES: validate() finds nothing.
RankPlan plan_rank(const CoarseGraph& coarse, const Schedule& schedule, Rank rank,
                   const PlanOptions& options = {});

/// The plan of the copy of a schedule whose device 0 is rank `first`.
RankPlan of_copy(RankPlan plan, std::size_t first);

/// Stages with no message step between them, so that a device can be given all of them at once.
struct Segment {
  std::size_t first = 0;  ///< index of its first step
  std::size_t end = 0;    ///< behind its last
  bool operator==(const Segment&) const = default;
};

/// The maximal runs of Compute steps, in order.
std::vector<Segment> cut_segments(std::span<const Step> steps);

/// REQUIRES: a Compute step.
inline std::size_t stage_of(const Step& step) { return std::get<Compute>(step).stage; }

}  // namespace hios
