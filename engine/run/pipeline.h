#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "engine/run/plan.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"
#include "mpi/transport.h"

namespace hios {

/// When an inference ran on one rank, in ms from the start of the run there. On an asynchronous
/// device the start is when its first stage was queued, the end when it was seen to have ended.
struct InferenceTimes {
  double start_ms = 0;  ///< of its first stage
  double end_ms = 0;    ///< its stages are done and its outputs are kept
};

/// Where a rank's time went in a run, in ms.
struct TimeShares {
  double computing_ms = 0;     ///< in operators; not known of asynchronous devices, and 0 there
  double transferring_ms = 0;  ///< in messages that moved on, and with the model's input and output
  double waiting_ms = 0;       ///< for other ranks, and for the device
  double own_ms = 0;           ///< all else: the executor's own
  double total_ms() const { return computing_ms + transferring_ms + waiting_ms + own_ms; }
  static auto fields(auto& self) {
    return std::tie(self.computing_ms, self.transferring_ms, self.waiting_ms, self.own_ms);
  }
};

/// One stage of one inference, in ms from the start of the run on its rank.
struct StageOfInference {
  std::size_t inference = 0, stage = 0;
  double awaited_ms = 0, start_ms = 0, end_ms = 0;  ///< as StageTimes
  static auto fields(auto& self) {
    return std::tie(self.inference, self.stage, self.awaited_ms, self.start_ms, self.end_ms);
  }
};

struct PipelineOptions {
  bool blocking = false;  ///< as ExecutorOptions::blocking
  /// The i-th inference here is `first + i · step` of the job's, where several copies of a network
  /// take them by turns. Its input is that number modulo the plan's inputs.
  std::size_t first = 0, step = 1;
  /// The stages of the last so many inferences of a run are noted (trace()); host backends only.
  std::size_t traced = 0;
};

/// Runs many inferences of one network through one rank's plan, "inferences": each rank takes them
/// in order, and begins the next one when its own part of the one before is done, so that ranks
/// work on several at the same time. Tensors that travel have the plan's `in_flight` places, taken
/// in turn, each with its own requests and, on devices, its own recordings. An inference begins
/// once all that this rank sent for the inference `in_flight` before it has been taken by its
/// receivers, who post receives for an inference as soon as they are done with the one `in_flight`
/// before: so no rank is ahead of another that it sends to by more than `2 · in_flight`, nor holds
/// more than its places, and no collective is needed. (Archer, Fahrbach, Liu and Prabhu, "Practical
/// Performance Guarantees for Pipelined DNN Inference", Figure 1, with places counted.)
///
/// Built once, run many times. The loop allocates, parses, locks and logs nothing. Used by the main
/// thread only.
class Pipeline {
 public:
  /// As Executor's. REQUIRES: `plan` is of the same `in_flight` on all ranks.
  Pipeline(const CoarseGraph& coarse, const Model& model, const RankPlan& plan, Backend& backend,
           mpi::Transport& transport, TensorSource& source, const PipelineOptions& options = {});
  ~Pipeline();

  /// As Executor::close().
  void close();

  /// So many inferences, and returns when they are done here and all sends have been taken. The
  /// same number on all ranks of a copy; the caller has put a barrier before. Throws RunError that
  /// names rank, host, inference and step; the pipeline is of no further use then.
  void run(std::span<InferenceTimes> times);

  /// Of the last run.
  const TimeShares& shares() const;
  /// When it began, in ms on this host's clock, which its processes share.
  double began_ms() const;
  /// Whether this rank has no operators.
  bool idle() const;
  /// Whether they say what was computed: not on an asynchronous device.
  bool knows_computing() const;
  /// Allocates.
  std::vector<StageOfInference> trace() const;
  /// How many inferences of the last run gave other bits than one before with the same input.
  std::size_t unlike() const;
  /// Whether the last run had that input here; REQUIRES for output().
  bool ran(std::size_t input) const;
  /// A copy of a graph's output, REQUIRES: computed here, as the last inference with that input
  /// made it.
  std::vector<float> output(OpId op, std::size_t input) const;

  /// For watchdogs, as Executor's.
  std::string current_step() const;
  std::uint64_t progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
