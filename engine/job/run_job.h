#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/inferences.h"
#include "engine/job/ranks/ranks.h"
#include "engine/job/ranks/surroundings.h"
#include "engine/job/ranks/wait_samples.h"
#include "engine/job/ranks/watch.h"
#include "engine/job/run_inputs.h"
#include "engine/job/verification.h"
#include "engine/measure/protocol.h"
#include "engine/run/plan/memory_estimate.h"
#include "hios/base/json/owned_json.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/report/cold_walls.h"
#include "hios/report/report.h"
#include "mpi/routes/route.h"

/// A network run by a schedule on the ranks of a job, from plain values: no command line, no files
/// but those that the caller reads, nothing printed to standard output. The program that runs
/// schedules (cli/run) adds flags and tables; other programs call this inside mpi::run_session.
///
///   read      RunInputs: network, schedule, profile      read_run_inputs, or values made in memory
///     │       RunOptions: how to run them
///   agree     every rank holds the same inputs, and they fit the job                    ┐
///     │                                                                                 │
///   set up    cores and backend of each rank · which devices these are · plan ·         │ RunJob()
///     │       memory · algorithms · routes of tensors                                   ┘
///     │         └─ setup(), steps(): the steps of each rank, and its device
///   run       warm-up, measured iterations, a few more with every stage's clock; or,    ┐
///             with RunOptions::inferences, many inferences in flight                     │
///     │                                                                                 │ run()
///   verify    against the reference backend, and bit by bit against one rank            ┘
///     │
///   report    make_report: everything as data (hios/report/report.h)
///
/// Every step is taken by all ranks together. Input that is bad, on whichever rank, ends in the
/// same InputError on all, before anything runs.
namespace hios::job {

/// The options of a run. The same on all ranks. Cores, streams and arithmetic are the schedule's.
struct RunOptions {
  RankOptions ranks = {};
  const mpi::Route* route = nullptr;  ///< between devices; null: the best that works
  Protocol protocol = {};             ///< warm-up runs and measured ones
  /// Many inferences in flight, which `protocol` then counts; empty: one at a time.
  std::optional<InferencesOptions> inferences = {};
  std::uint64_t seed = 0;  ///< for weights and input
  /// The file of packed parameters that the schedule's disks hold; empty: none was given.
  std::filesystem::path packed_weights = {};
  Verify verify = Verify::kNo;
  std::optional<double> atol = {};  ///< in the values' own unit; empty: by the roughest arithmetic
  std::optional<double> rtol = {};  ///< a share of the expected value; empty: the same
  bool gather_outputs = false;      ///< RunResults::model_outputs
  bool blocking = false;            ///< waits after every operator (ExecutorOptions)
  /// The earliest of a rank's stages that have their inputs and parameters runs next
  /// (engine/run/ready/ready_order.h), instead of all in the schedule's order. On hosts, one
  /// inference at a time.
  bool any_order = false;
  /// Frees the model's weights as operators are bound: for the process's only rank, whose inputs
  /// nothing reads again. Ignored where weights are read again: to verify, or in a cold start.
  bool forget_weights = false;
  bool plan_only = false;       ///< run() is not called, and hosts need no memory for it
  bool time_operators = false;  ///< RunResults::operators
  /// Version, commit and build of the programs, which are compared with the profile's.
  Surrounding program = {};
};

/// The devices, routes and costs of a run, known before anything runs.
struct RunSetup {
  std::vector<std::string> backends;  ///< names, by rank
  std::vector<ReportRank> ranks;      ///< weights as the network has them, scratch not yet known
  std::string transfer_path;          ///< Transport::path() of the tensors
  std::string routes;                 ///< a table rank x rank, for people; empty: no devices
  std::optional<OwnedJson> transfer_paths;  ///< the same, for reports
  /// The number of ranks that the prediction's costs were measured with, if it is not this job's
  /// (hios/profile/extrapolate.h).
  std::optional<std::size_t> measured_ranks;
  std::vector<HostWarning> warnings;  ///< facts of the hosts that spoil times
  /// Measurements of the profile that had not settled (hios/profile/settling.h).
  std::string unsettled;
  Precision precision = Precision::kFp32;  ///< the roughest of all devices'
  Tolerance tolerance;
  /// The differences between the profile's machine or build and the job's
  /// (hios/profile/elsewhere.h).
  std::string elsewhere;
  /// The algorithms by which all ranks compute, so that N of them give the bits of one. Empty: the
  /// ranks' backends, arithmetics or GPUs differ, and so do their algorithms.
  std::optional<ReportAlgorithms> algorithms;
};

/// The prediction for many inferences in flight, by the profile, or else the schedule's own.
struct PredictedInferences {
  double period_ms = 0;              ///< for all copies together
  std::optional<double> latency_ms;  ///< for one inference in flight
  std::size_t bottleneck = 0;  ///< the rank whose block is the most expensive, in the first copy
};

struct RunResults {
  /// The maximum over ranks of each measured iteration; empty where stopped before the first. With
  /// many inferences in flight: each one's latency, once the pipeline was full.
  std::vector<double> iterations_ms;
  std::vector<bool> disturbed;  ///< by iteration: some rank's machine did other work
  /// Protocol::stop ended the run early; the results so far are valid.
  bool stopped = false;
  double overhead_ms = 0;  ///< the executor's, outside kernels and waits; the maximum over ranks
  /// "rank 1: …" of ranks whose device refused to record its stages (Backend::record).
  std::vector<std::string> recording_refused;
  /// By rank, once its operators were bound: weights in all layouts, and scratch.
  std::vector<MemoryEstimate> held;
  std::optional<Timeline> measured;   ///< the fastest recorded run; empty where stopped before
  std::optional<Timeline> predicted;  ///< by the profile
  /// Means over the faster half of the recorded runs; empty where stopped before.
  std::optional<RecordedWaits> waits;
  /// With RunOptions::inferences, instead of timelines.
  std::optional<MeasuredInferences> inferences;
  /// The two walls of a cold start; empty for others, and where stopped before the first round.
  std::optional<ColdWalls> cold_walls;
  std::optional<PredictedInferences> predicted_inferences;
  /// Operators in the order in which they started, each with its median over the recorded runs.
  /// Empty without RunOptions::time_operators, or where stopped before.
  std::vector<ReportOperator> operators;
  /// The graph's outputs that this rank computed, as the last measured run left them.
  std::vector<std::pair<OpId, std::vector<float>>> outputs;
  /// By Model::named_outputs(), row-major; on rank 0, with RunOptions::gather_outputs.
  std::vector<std::vector<float>> model_outputs;
  std::optional<Verified> verified;
};

/// One job, on each of its ranks. Used by the main thread; all calls are collective. `watch` (which
/// has the transport) and `inputs` outlive it.
class RunJob {
 public:
  /// Agrees and sets up. Throws InputError, the same on all ranks: also where the ranks of a host
  /// would hold more memory than it has left.
  RunJob(Watch& watch, const RunInputs& inputs, const RunOptions& options);
  ~RunJob();

  const RunSetup& setup() const;
  /// Returns the profile's costs; null without a profile.
  const CostModel* costs() const;
  /// Returns the steps of each rank, a line a step, by rank, on every rank.
  std::vector<std::string> steps();

  /// Writes the parameters of all operators (engine/cold/packed_parameters.h), in the layouts in
  /// which this job computes with them, and in those of another schedule's groups: `held`.
  /// REQUIRES: one rank. Throws as write_packed() does.
  void write_packed_parameters(const std::filesystem::path& file,
                               const std::vector<HeldOperator>& held, Existing existing);

  /// Runs, measures and verifies. Called once. Throws InputError, the same on all ranks and before
  /// anything runs, where a rank holds more than its device's memory_bytes.
  RunResults run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Sets up and runs a job, watched with `timeout_s` (see Watch).
RunResults run(mpi::Transport& transport, const RunInputs& inputs, const RunOptions& options = {},
               double timeout_s = Watch::kDefaultTimeoutSeconds);

/// Returns the predicted latency in ms: the profile's, else the schedule's own; empty where neither
/// has one. With many inferences in flight it is the latency of one of them.
std::optional<double> predicted_ms(const RunInputs& inputs, const RunResults& results);

/// Makes the report of a run, without the program's arguments and versions, which the caller adds.
Report make_report(const RunInputs& inputs, const RunOptions& options, const RunSetup& setup,
                   const RunResults& results);

}  // namespace hios::job
