#include "engine/job/run_job.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/backend/operation.h"
#include "engine/host/disturbance.h"
#include "engine/job/algorithm_agreement.h"
#include "engine/job/device_agreement.h"
#include "engine/job/operator_times.h"
#include "engine/job/report_data.h"
#include "engine/job/tensor_transport.h"
#include "engine/run/executor.h"
#include "engine/run/step_text.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/base/statistics.h"
#include "hios/evaluate/simulate.h"
#include "hios/profile/extrapolate.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {

namespace {

// Far more than any build of the reference backend needs, sanitizers included.
constexpr double kReferenceSecondsPerGflop = 20;

/// Of the operator that computes most.
double largest_gflop(const Network& network) {
  double largest = 0;
  for (const OperatorLayers& op : network.coarse.operators)
    largest = std::max(largest, flop(network.model, op));
  return largest / 1e9;
}

// Few, since they only tell where the time of an iteration goes.
constexpr int kRecordedRuns = 7;

/// A network that passes through several arithmetics has the errors of the roughest.
Precision roughest(const std::vector<RankDevice>& devices) {
  return std::max_element(devices.begin(), devices.end(),
                          [](const RankDevice& a, const RankDevice& b) {
                            return default_tolerance(a.precision).atol <
                                   default_tolerance(b.precision).atol;
                          })
      ->precision;
}

/// Weights as the model or the seed has them; an input of the user's, where there is one.
class InputSource final : public TensorSource {
 public:
  InputSource(std::uint64_t seed, const std::vector<float>& given) : seeded_(seed), given_(given) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.weights(model, layer, out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.bias(model, layer, out);
  }
  void input(const Model& model, std::span<float> out) override {
    if (given_.empty()) return seeded_.input(model, out);
    std::ranges::copy(given_, out.begin());
  }

 private:
  SeededSource seeded_;
  const std::vector<float>& given_;
};

std::string digest_of(const std::vector<float>& values) {
  if (values.empty()) return {};
  return Digest()
      .add(std::string_view(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(float)))
      .hex();
}

void check_supported(const CoarseGraph& coarse, const Model& model, const Backend& backend,
                     const RankPlan& plan) {
  for (const Slot& slot : plan.slots) {
    if (slot.received) continue;
    require_support(backend, operation_of(coarse, model, slot.op));
  }
}

/// What one operator made of an output, from this input on.
struct OutputPart {
  std::int64_t first_input = 0;
  std::vector<float> values;
  static auto fields(auto& self) { return std::tie(self.first_input, self.values); }
};

std::vector<float> joined(const std::vector<std::vector<OutputPart>>& by_rank) {
  std::map<std::int64_t, const std::vector<float>*> in_order;
  for (const auto& parts : by_rank) {
    for (const OutputPart& part : parts) in_order.emplace(part.first_input, &part.values);
  }
  std::vector<float> all;
  for (const auto& [first, values] : in_order)
    all.insert(all.end(), values->begin(), values->end());
  return all;
}

}  // namespace

/// What a rank has once it is set up.
struct RunJob::State {
  State(Watch& the_watch, const RunInputs& the_inputs, const RunOptions& the_options)
      : watch(the_watch), inputs(the_inputs), options(the_options) {}

  mpi::Transport& transport() const { return watch.transport(); }
  Rank rank() const { return transport().rank(); }

  void agree();
  void make_backend();
  void prepare();
  void describe();
  void record(Executor& executor, RunResults& results);
  void gather_outputs(RunResults& results) const;
  std::optional<Verified> verify(TensorSource& source, const Executor& executor) const;

  Watch& watch;
  const RunInputs& inputs;
  const RunOptions options;
  Platform platform;  ///< its devices have their identities once the backends are made
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

void RunJob::State::agree() {
  mpi::agreed(transport(), [&] {
    devices = devices_of_ranks(inputs, options.ranks, transport().size());
    platform = Platform(inputs.schedule.devices);
  });
  mpi::agree_on_facts(transport(), {{"the model", inputs.network.digest()},
                                    {"the schedule", schedule_digest(inputs)},
                                    {"the profile", inputs.profile ? inputs.profile->digest() : ""},
                                    {"the seed", std::to_string(options.seed)},
                                    {"the input", digest_of(inputs.input)}});
}

/// From here on the platform's devices name their GPUs, so that a profile answers for these only.
void RunJob::State::make_backend() {
  mine = make_rank_backend(transport(), options.ranks, devices);
  identities = gather_identities(transport(), *mine.backend);
  require_one_library(transport(), *mine.backend);
  mpi::agreed(transport(), [&] { require_identities(identities, platform, inputs.schedule_name); });
  platform = platform.with_identities(identities);
  if (same_gpus(identities) || rank() != Rank(0)) return;
  log::warning(
      "ranks compute on different GPUs or libraries, as the schedule says: the last bits are not "
      "those of one rank, and are not compared with it");
}

void RunJob::State::prepare() {
  const CoarseGraph& coarse = inputs.network.coarse;
  const Model& model = inputs.network.model;
  mpi::agreed(transport(), [&] {
    plan = plan_rank(coarse, inputs.schedule.schedule, rank());
    check_supported(coarse, model, *mine.backend, plan);
    setup.measured_ranks = standing_in(inputs, platform);
    profile = setup.measured_ranks ? extrapolated(*inputs.profile, platform, *setup.measured_ranks)
                                   : inputs.profile;
    if (profile) costs = CostModel::from_profile(coarse.graph, platform, *profile);
  });
  agree_on_memory(transport(), *mine.backend, inputs.network, plan);
  planned = agree_on_limits(transport(), estimate_memory(coarse, model, plan), platform,
                            inputs.schedule_name);
  // The algorithms that the profile was measured with, so that the run computes by the same.
  const Configuration* const measured =
      profile ? profile->find(platform, DeviceId(rank().index())) : nullptr;
  const auto known =
      measured ? KnownAlgorithms{profile->algorithms(*measured), profile->file} : KnownAlgorithms{};
  agree_on_algorithms(transport(), *mine.backend, coarse, model, known, Choosing::kByRule);
  tensors = std::make_unique<TensorTransport>(transport(), *mine.backend, options.route);
}

void RunJob::State::describe() {
  for (const RankDevice& device : devices) setup.backends.emplace_back(device.backend->name);
  setup.ranks = gather_ranks(transport(), mine, plan);
  note_memory(setup.ranks, planned, platform.devices());
  setup.troubles = troubles_of(gather_surroundings(transport(), mine));
  setup.transfer_path = tensors->get().path();
  setup.routes = tensors->table();
  setup.transfer_paths = tensors->json();
  if (profile) setup.unsettled = unsettled_text(*profile, platform);
  setup.precision = roughest(devices);
  const Tolerance usual = default_tolerance(setup.precision);
  setup.tolerance = {options.atol.value_or(usual.atol), options.rtol.value_or(usual.rtol)};
}

/// A few more runs with the stages' clocks on; the quickest of them is the one that is told about.
void RunJob::State::record(Executor& executor, RunResults& results) {
  executor.record_stages(true);
  double best_ms = 0;
  RankTimeline mine_of_best;
  std::vector<double> overheads;
  OperatorSamples operators;
  for (int i = 0; i < kRecordedRuns; ++i) {
    const Protocol once{.warmup = 0, .iterations = 1, .stop = options.protocol.stop};
    const Samples sample =
        measure(transport(), once, disturbance, [&] { return executor.run_once(); });
    results.stopped = sample.stopped;
    const double latency_ms = sample.ms.front();
    overheads.push_back(executor.overhead_ms());
    if (options.time_operators) operators.add(executor.operator_times());
    if (best_ms == 0 || latency_ms < best_ms) {
      best_ms = latency_ms;
      mine_of_best = executor.timeline();
    }
    if (results.stopped) break;
  }
  executor.record_stages(false);
  results.overhead_ms = summarize(overheads).median;
  transport().all_reduce_max({&results.overhead_ms, 1});
  results.measured = gather_timeline(transport(), best_ms, mine_of_best);
  if (!options.time_operators) return;
  results.operators = report_operators(
      inputs, *results.measured, operators.gather_medians(transport()), costs ? &*costs : nullptr);
}

/// To rank 0, in the model's order. One after the other: only one travels at a time.
void RunJob::State::gather_outputs(RunResults& results) const {
  const Network& network = inputs.network;
  for (const NamedOutput& output : network.model.named_outputs()) {
    const std::optional<OpId> maker = network.coarse.producer(output.tensor);
    std::vector<OutputPart> made_here;
    for (const auto& [op, values] : results.outputs) {
      const auto [whole, range] = network.coarse.graph.batch(op);
      if (whole == maker) made_here.push_back({range.begin, values});
    }
    const auto all = mpi::gather(transport(), made_here);
    if (rank() == Rank(0))
      results.model_outputs.push_back(in_row_major_order(joined(all), output.dims));
  }
}

std::optional<Verified> RunJob::State::verify(TensorSource& source,
                                              const Executor& executor) const {
  // Ranks tell each other after each operator; the reference backend's plain loops take long.
  watch.phase("verifying", kReferenceSecondsPerGflop * largest_gflop(inputs.network));
  const bool alike =
      same_gpus(identities) &&
      std::all_of(devices.begin(), devices.end(), [&](const RankDevice& one) {
        return one.backend == devices.front().backend && one.precision == devices.front().precision;
      });
  return verify_run({.transport = tensors->get(),
                     .network = inputs.network,
                     .schedule = inputs.schedule,
                     .plan = plan,
                     .backend = *mine.backend,
                     .source = source,
                     .executor = executor},
                    {.what = options.verify,
                     .tolerance = setup.tolerance,
                     .alike = alike,
                     .stop = options.protocol.stop});
}

RunJob::RunJob(Watch& watch, const RunInputs& inputs, const RunOptions& options)
    : state_(std::make_unique<State>(watch, inputs, options)) {
  watch.phase("setting up");
  state_->agree();
  state_->make_backend();
  state_->prepare();
  state_->describe();
}

RunJob::~RunJob() = default;

const RunSetup& RunJob::setup() const { return state_->setup; }

const CostModel* RunJob::costs() const { return state_->costs ? &*state_->costs : nullptr; }

std::vector<std::string> RunJob::steps() {
  return mpi::gather(state_->transport(),
                     steps_text(state_->plan, state_->inputs.network.coarse.graph));
}

RunResults RunJob::run() {
  State& job = *state_;
  const Network& network = job.inputs.network;
  InputSource source(job.options.seed, job.inputs.input);
  Executor executor(
      network.coarse, network.model, job.plan, *job.mine.backend, job.tensors->get(), source,
      {.blocking = job.options.blocking, .time_operators = job.options.time_operators});
  RunResults results;
  results.held = agree_on_limits(job.transport(),
                                 held_memory(job.planned[job.rank().index()], *job.mine.backend),
                                 job.platform, job.inputs.schedule_name);
  {
    const auto watching = job.watch.runs(watched(executor));
    Samples samples = measure(job.transport(), job.options.protocol, job.disturbance,
                              [&] { return executor.run_once(); });
    results.iterations_ms = std::move(samples.ms);
    results.disturbed = std::move(samples.disturbed);
    results.stopped = samples.stopped;
    if (!results.stopped) job.record(executor, results);
  }
  job.watch.phase("writing the results");
  for (const OpId op : job.plan.outputs) results.outputs.emplace_back(op, executor.output(op));
  if (job.options.gather_outputs && !results.stopped) job.gather_outputs(results);
  if (job.costs)
    results.predicted = simulate(network.coarse.graph, job.inputs.schedule.schedule, *job.costs);
  if (job.options.verify != Verify::kNo && !results.stopped) {
    results.verified = job.verify(source, executor);
    results.stopped = !results.verified;
  }
  job.watch.phase("writing the results");
  executor.close();
  return results;
}

RunResults run(mpi::Transport& transport, const RunInputs& inputs, const RunOptions& options,
               double timeout_s) {
  Watch watch(transport, timeout_s);
  return RunJob(watch, inputs, options).run();
}

}  // namespace hios::job
