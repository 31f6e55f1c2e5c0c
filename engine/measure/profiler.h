#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/cold/kept_parameters.h"
#include "engine/host/disturbance.h"
#include "engine/measure/measured.h"
#include "engine/measure/protocol.h"
#include "engine/measure/sweep_times.h"
#include "engine/measure/transfers/charge_effort.h"
#include "engine/measure/transfers/transfer_times.h"
#include "engine/run/rank_context.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

/// Measures operators, stages and transfers as the executor runs them, on all ranks at the same
/// time, because they share memory and clocks. All functions are collective and give every rank the
/// same result. Rank 0 decides what is missing and when to stop, so that ranks cannot disagree.
/// After the protocol's `stop`, each function keeps complete results only: all sweeps so far over
/// the operators, whole pairs of ranks, whole batches of stages. The configuration's protocol
/// says whether sweeps had settled (hios/profile/settling.h).
namespace hios {

struct ProfilerContext;

/// Measures the operators, stages and transfers that a profile lacks. Ranks that are not alike form
/// teams, with a configuration each, which all ranks hold and which stays the same on all. Used by
/// the main thread only.
class Profiler {
 public:
  /// All references outlive the profiler. `teams`: every rank in one; none given: all are alike.
  /// `disturbance`: this machine's, where none is given.
  /// Throws InputError where the backend does not support an operator (operator and reason).
  Profiler(const RankContext& rank, const Protocol& protocol, std::vector<Team> teams = {},
           DisturbanceReader* disturbance = nullptr);
  ~Profiler();

  /// Sweeps over the whole network in topological order, run by the executor, each operator with
  /// all cores of the rank; writes the signatures that `into` lacks. An operator is measured in its
  /// network, where its inputs are as warm and its weights as cold as in a run. Teams sweep at the
  /// same time and wait for each other between sweeps; a team's fastest sweeps are chosen by its
  /// own ranks. `into` has a configuration for each team.
  Measured measure_operators(std::span<Configuration* const> into);
  Measured measure_operators(Configuration& into) { return measure_operators(std::array{&into}); }

  /// Measures stages in the given order, with their groups really concurrent
  /// (engine/measure/stages/stage_batch.h). Skips stages that `into` has, and stages of one group,
  /// which cost the sum of their operators. Stops before the batch of stages that would not end
  /// within `time_limit_s`. A stage has `iterations` samples a rank; fewer where time is short, but
  /// not fewer than ten; more until they settle. One team's ranks measure, while those of other
  /// teams wait.
  Measured measure_stages(const std::vector<Stage>& stages, Configuration& into,
                          double time_limit_s, std::size_t team = 0);

  /// Measures the transfers of every ordered pair of ranks, 1 KB to `largest` by powers of two,
  /// through the transport of runs, one pair after the other. A pair of two teams belongs to the
  /// team of the rank that sends.
  /// `sharers`, by rank: equal numbers for ranks that share memory, whose TransferCurve::shared is
  /// measured, too, for which two of them run the network (transfers/shared_share.h); empty: none
  /// do.
  Measured measure_transfers(std::span<Configuration* const> into, Bytes largest = kLargestMessage,
                             std::span<const std::size_t> sharers = {});
  Measured measure_transfers(Configuration& into, Bytes largest = kLargestMessage,
                             std::span<const std::size_t> sharers = {}) {
    return measure_transfers(std::array{&into}, largest, sharers);
  }

  // Neither of the next two functions measures anything with one rank, or where some device is
  // asynchronous: its transfers and stages overlap, and it has memory of its own.

  /// For many inferences in flight: measures each operator in a block of the network that a rank
  /// runs repeatedly, and in the whole network for comparison. There are as many blocks as ranks,
  /// with about the same bytes of weights. Measures all operators if one is missing, so that all
  /// belong to the same blocks. Every rank runs every block.
  Measured measure_warm(std::span<Configuration* const> into);
  Measured measure_warm(Configuration& into) { return measure_warm(std::array{&into}); }

  /// Measures the time that a transfer takes from both ends while they compute
  /// (transfers/transfer_charge.h), for three sizes of the network's tensors, from each rank to the
  /// next. A team's charges are the sums of these times over the transfers that its ranks sent, and
  /// received, divided by the times of the same transfers between waiting ranks. REQUIRES:
  /// operators and transfers were measured.
  Measured measure_charges(std::span<Configuration* const> into,
                           ChargeEffort effort = ChargeEffort::kWhole);
  Measured measure_charges(Configuration& into, ChargeEffort effort = ChargeEffort::kWhole) {
    return measure_charges(std::array{&into}, effort);
  }

  // For cold starts, on hosts' backends that show parameters. Parameters are those of the source.

  /// Measures the loads of all parameters from the memory of each rank, and, with a file of packed
  /// parameters in the options, from its disk: alone, by all ranks at the same time, and while
  /// operators run (engine/measure/loads/). Measures all again where one configuration lacks loads
  /// or an operator in place, so that all belong to the same network. A file whose pages stay in
  /// memory is no disk: a warning says so. REQUIRES: an operator with parameters.
  Measured measure_loads(std::span<Configuration* const> into, const LoadOptions& options);
  /// Measures the operators that read their parameters in place, as measure_operators().
  Measured measure_in_place(std::span<Configuration* const> into);

 private:
  std::unique_ptr<ProfilerContext> context_;
};

}  // namespace hios
