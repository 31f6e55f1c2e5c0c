#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "engine/host/disturbance.h"
#include "engine/measure/protocol.h"
#include "engine/measure/sweep_times.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"
#include "mpi/transport.h"

/// Measures operators, stages and transfers the way the executor runs them, on all ranks at the
/// same time, because they share memory and clocks. All functions are collective and give every
/// rank the same result; what is missing and when to stop is for rank 0 to decide, so ranks cannot
/// disagree about it. Where the protocol's `stop` says so, each ends with what it has: operators by
/// as many sweeps as there were, whole pairs of ranks, whole batches of stages. Whether sweeps had
/// settled stands in the configuration's protocol (hios/profile/settling.h).
namespace hios {

struct ProfilerContext;

/// How many of the things asked for were there to be measured, and how many were.
struct Measured {
  std::size_t missing = 0;  ///< not in the profile before, equal ones counted once
  std::size_t done = 0;     ///< of those
  bool stopped = false;     ///< by Protocol::stop, on all ranks
};

/// Used by the main thread only. Ranks that are not alike form teams, with a configuration each,
/// which all ranks hold and which stay alike on all.
class Profiler {
 public:
  /// All arguments outlive the profiler. `teams`: every rank in one; none given: all are alike.
  /// `disturbance`: this machine's, where none is given.
  /// Throws InputError where the backend does not support an operator (operator and reason).
  Profiler(const CoarseGraph& coarse, const Model& model, Backend& backend,
           mpi::Transport& transport, TensorSource& source, const Protocol& protocol,
           std::vector<Team> teams = {}, DisturbanceReader* disturbance = nullptr);
  ~Profiler();

  /// Sweeps over the whole network in topological order, run by the executor, each operator
  /// with all cores of the rank; writes those signatures that `into` lacks. An operator is measured
  /// in its network, where its inputs are as warm and its weights as cold as in a run. Teams sweep
  /// at the same time and wait for each other between sweeps; which sweeps are a team's fastest is
  /// judged by its own ranks. `into` has a configuration for each team.
  Measured measure_operators(std::span<Configuration* const> into);
  Measured measure_operators(Configuration& into) { return measure_operators(std::array{&into}); }

  /// Stages with their groups really concurrent (engine/measure/stages/stage_batch.h), first asked,
  /// first measured; skips those that `into` has, and stages of one group, which cost the sum of
  /// their operators. Stops before the batch of stages that would not end within `time_limit_s`. A
  /// stage has `iterations` samples a rank, fewer where time is short, but not fewer than ten, and
  /// more until they settle. They are measured on one team's ranks, while those of other teams
  /// wait.
  Measured measure_stages(const std::vector<Stage>& stages, Configuration& into,
                          double time_limit_s, std::size_t team = 0);

  /// Every ordered pair of ranks, 1 KB to `largest` by powers of two, through the transport that
  /// runs, one pair after the other. A pair of two teams stands with the team of the rank that
  /// sends.
  Measured measure_transfers(std::span<Configuration* const> into, Bytes largest = kLargestMessage);
  Measured measure_transfers(Configuration& into, Bytes largest = kLargestMessage) {
    return measure_transfers(std::array{&into}, largest);
  }

  // For many inferences in flight. Neither measures anything with one rank, nor where some device
  // is asynchronous: its transfers and its stages overlap by themselves, and its memory is its own.

  /// Each operator in a part of the network that a rank runs again and again, as many parts as
  /// ranks with about as many bytes of weights each, beside the same in the whole network; all
  /// operators where one is missing, so that they were measured in the same parts. Every rank runs
  /// every part.
  Measured measure_warm(std::span<Configuration* const> into);
  Measured measure_warm(Configuration& into) { return measure_warm(std::array{&into}); }

  /// What a transfer takes of both ends' own time while they compute (transfer_charge.h), by three
  /// sizes of the network's tensors, from each rank to the next. Charges are sums over what a
  /// team's ranks sent, and received, divided by the times of these transfers between waiting
  /// ranks. REQUIRES: operators and transfers were measured.
  Measured measure_charges(std::span<Configuration* const> into);
  Measured measure_charges(Configuration& into) { return measure_charges(std::array{&into}); }

 private:
  std::unique_ptr<ProfilerContext> context_;
};

}  // namespace hios
