#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/host/disturbance.h"
#include "engine/job/ranks/tensor_transport.h"
#include "engine/job/run_job.h"
#include "engine/run/executor.h"
#include "engine/run/pipeline.h"

namespace hios::job {

/// What a rank has once it is set up.
struct RunJob::State {
  State(Watch& the_watch, const RunInputs& the_inputs, const RunOptions& the_options)
      : watch(the_watch), inputs(the_inputs), options(the_options) {
    if (options.inferences) inferences = settled(*options.inferences, inputs.schedule);
  }

  mpi::Transport& transport() const { return watch.transport(); }
  Rank rank() const { return transport().rank(); }
  PlaceInCopies place() const { return place_in_copies(rank(), inputs.schedule.devices.size()); }
  std::size_t copies() const { return inferences ? inferences->copies : 1; }

  void agree();
  void make_backend();
  void prepare();
  void describe();
  std::vector<std::string> recording_refused();
  void record(Executor& executor, RunResults& results);
  void gather_outputs(RunResults& results) const;
  void plan_rank_of_copy();
  void run_one_at_a_time(TensorSource& source, RunResults& results);
  void run_many(TensorSource& source, RunResults& results);
  std::optional<PredictedInferences> predict_inferences() const;
  void check_held(RunResults& results) const;
  using OutputOf = std::function<std::vector<float>(OpId)>;
  std::optional<Verified> verify(TensorSource& source, const OutputOf& output,
                                 bool reference = true) const;
  std::optional<Verified> verify_inputs(TensorSource& source, const Pipeline& pipeline) const;

  Watch& watch;
  const RunInputs& inputs;
  const RunOptions options;
  std::optional<InferencesOptions> inferences;  ///< settled
  Platform platform;    ///< its devices have their identities once the backends are made
  Platform all_copies;  ///< by rank; the costs' own
  std::vector<RankDevice> devices;         ///< by rank
  std::vector<DeviceIdentity> identities;  ///< by rank
  RankBackend mine;
  RankPlan plan;
  std::vector<MemoryEstimate> planned;  ///< by rank
  std::optional<Profile> profile;       ///< the costs' own: the inputs', or what stands in
  std::optional<CostModel> costs;
  std::unique_ptr<TensorTransport> tensors;
  RunSetup setup;
  HostDisturbance disturbance;
};

}  // namespace hios::job
