#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cold/packed_parameters.h"
#include "engine/emulated/emulation.h"
#include "engine/host/disturbance.h"
#include "engine/job/ranks/tensor_transport.h"
#include "engine/job/run_job.h"
#include "engine/run/executor.h"
#include "engine/run/pipeline.h"
#include "mpi/shared/shared_memory.h"

namespace hios::job {

/// The state of a RunJob on one rank. Its functions are in run_job.cpp (setting up),
/// run_one_at_a_time.cpp and run_many.cpp (the two ways to run), and run_end.cpp (the end of both).
struct RunJob::State {
  State(Watch& the_watch, const RunInputs& the_inputs, const RunOptions& the_options)
      : watch(the_watch), inputs(the_inputs), options(the_options) {
    if (options.inferences) inferences = settled(*options.inferences, inputs.schedule);
  }

  mpi::Transport& transport() const { return watch.transport(); }
  Rank rank() const { return transport().rank(); }
  CopyDevice copy_device() const {
    return job::copy_device(rank(), inputs.schedule.devices.size());
  }
  std::size_t copies() const { return inferences ? inferences->copies : 1; }
  /// Returns the transport of collective calls between runs. REQUIRES: prepare() has returned.
  mpi::Transport& meeting_transport() const {
    return emulated_transport ? *emulated_transport : transport();
  }
  /// REQUIRES: prepare() has returned.
  RankContext context(TensorSource& source) const {
    return {inputs.network.coarse,
            inputs.network.model,
            *mine.backend,
            emulated_transport ? *emulated_transport : tensors->get(),
            source,
            shared_arena ? shared_arena->data() : nullptr};
  }

  // run_job.cpp
  void agree();
  void make_backend();
  void plan_rank_of_copy();
  /// Returns true if tensors may lie in memory that ranks share.
  bool may_share() const { return !inferences && !options.any_order && !emulation; }
  /// Finds the ranks that share memory, and says by which numbers (PlanOptions::sharers); empty
  /// where none do. Collective.
  void find_sharers();
  /// Returns true if this run copies tensors between ranks that shared memory when they were
  /// measured. REQUIRES: a profile.
  bool copies_what_was_shared() const;
  /// Returns true if all ranks are going to agree on algorithms, so that all give the bits of one.
  bool ranks_are_alike() const;
  /// Throws InputError where the job would hold more memory than its hosts have.
  void require_host_memory();
  /// Opens the packed parameters where the schedule loads from a disk.
  void open_packed();
  /// Throws InputError where shards of this rank were not certified as they will run.
  void require_certified_shards(const Configuration& measured) const;
  void prepare();
  void describe();
  std::vector<std::string> recording_refused();

  // run_one_at_a_time.cpp
  void run_one_at_a_time(TensorSource& source, RunResults& results);
  void record(Executor& executor, const std::function<void()>& before, RunResults& results);
  /// Returns the schedule's stores that are disks.
  std::vector<StoreId> disks() const;
  LoadOptions loads() const;
  bool cold() const { return inputs.schedule.schedule.weights.has_value(); }

  // emulated/emulated_run.cpp, where the inputs have a machine to emulate
  /// Throws InputError, on all ranks, where graphs, platforms or time scales of ranks differ.
  void agree_on_machine();
  void make_emulated_backend();
  void make_emulated_transport();
  /// Returns the ranks with the sizes that the graph gives. Collective.
  std::vector<ReportRank> emulated_ranks() const;
  /// Puts the graph's sizes in place of the digests'.
  void note_sizes(Timeline& measured) const;
  /// Returns the simulated timeline.
  Timeline simulated() const;

  // run_many.cpp
  void run_many(TensorSource& source, RunResults& results);
  std::optional<PredictedInferences> predict_inferences() const;
  std::optional<Verified> verify_inputs(TensorSource& source, const Pipeline& pipeline) const;

  // run_end.cpp
  using OutputOf = std::function<std::vector<float>(OpId)>;
  /// Checks the memory of this rank, once its operators are bound.
  void check_held(RunResults& results) const;
  /// Keeps the outputs, gathers them and verifies them, as the options say. `output` is empty where
  /// this rank has none; `verified` is called to verify.
  void finish(RunResults& results, const OutputOf& output,
              const std::function<std::optional<Verified>()>& verified) const;
  void gather_outputs(RunResults& results) const;
  /// `judge`: the source of the parameters that the run is compared with.
  std::optional<Verified> verify(TensorSource& source, TensorSource& judge, const OutputOf& output,
                                 bool reference = true) const;

  Watch& watch;
  const RunInputs& inputs;
  const RunOptions options;
  std::optional<InferencesOptions> inferences;  ///< settled
  Platform platform;    ///< its devices have their identities once the backends are made
  Platform all_copies;  ///< the devices of all copies, by rank; the costs' own
  std::vector<RankDevice> devices;                 ///< by rank
  std::vector<DeviceIdentity> identities;          ///< by rank
  std::unique_ptr<emulated::Emulation> emulation;  ///< null: nothing is emulated
  RankBackend mine;
  std::vector<std::size_t> sharers;                 ///< PlanOptions::sharers
  std::unique_ptr<mpi::SharedMemory> shared_arena;  ///< null: the plan has none
  RankPlan plan;
  std::vector<MemoryEstimate> planned;  ///< by rank; empty where a machine is emulated
  std::optional<Profile> profile;       ///< the inputs', or one extrapolated from other ranks
  std::optional<CostModel> costs;
  std::unique_ptr<PackedParameters> packed;  ///< null: the plan loads from no disk
  std::unique_ptr<TensorTransport> tensors;
  std::unique_ptr<mpi::Transport> emulated_transport;  ///< null likewise
  RunSetup setup;
  HostDisturbance disturbance;
};

}  // namespace hios::job
