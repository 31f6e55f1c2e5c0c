#include "engine/job/run_job.h"

#include <algorithm>
#include <set>

#include "engine/backend/operation.h"
#include "engine/cold/packed_parameters.h"
#include "engine/host/available_memory.h"
#include "engine/job/input_source.h"
#include "engine/job/ranks/algorithm_agreement.h"
#include "engine/job/ranks/device_agreement.h"
#include "engine/job/ranks/host_memory.h"
#include "engine/job/report_data.h"
#include "engine/job/run_job_state.h"
#include "engine/job/verification.h"
#include "engine/run/plan/host_need.h"
#include "engine/run/plan/step_text.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/base/need.h"
#include "hios/profile/elsewhere.h"
#include "hios/profile/extrapolate.h"
#include "hios/profile/settling.h"
#include "hios/profile/uncertified.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"
#include "mpi/shared/shared_arena.h"

namespace hios::job {

namespace {

/// Returns the arithmetic with the largest tolerance: a network that passes through several has the
/// errors of that one.
Precision roughest(const std::vector<RankDevice>& devices) {
  return std::max_element(devices.begin(), devices.end(),
                          [](const RankDevice& a, const RankDevice& b) {
                            return default_tolerance(a.precision).atol <
                                   default_tolerance(b.precision).atol;
                          })
      ->precision;
}

std::string digest_of(const std::vector<float>& values) {
  if (values.empty()) return {};
  return Digest()
      .add(std::string_view(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(float)))
      .hex();
}

/// Returns the largest number of groups that a stage may have.
int most_streams(const Platform& platform) {
  int most = 1;
  for (const Device& device : platform.devices()) most = std::max(most, device.streams);
  return most;
}

void check_supported(const CoarseGraph& coarse, const Model& model, const Backend& backend,
                     const RankPlan& plan) {
  if (plan.has_parameters()) require_shown_parameters(backend);
  for (const OpId op : plan.in_place) require_reads_in_place(backend, coarse.graph.op(op).name);
  std::vector<Operation> operations;
  for (const Slot& slot : plan.slots) {
    if (!slot.received) operations.push_back(operation_of(coarse, model, slot.op));
  }
  require_support(backend, operations);
}

}  // namespace

void RunJob::State::agree() {
  mpi::agreed(transport(), [&] {
    devices = devices_of_ranks(inputs, options.ranks, transport().size(), copies());
    if (cold() && inferences) {
      throw InputError(inputs.schedule_name +
                       ": $.weights: a cold start is one inference, not many");
    }
    if (inputs.machine && inferences) {
      throw InputError("an emulated run has one inference at a time, not many in flight");
    }
    if (options.any_order && inferences) {
      throw InputError(
          "many inferences in flight run in the schedule's order, not as soon as they can");
    }
    platform = Platform(inputs.schedule.devices);
  });
  mpi::agree_on_facts(transport(), {{"the model", inputs.network.digest()},
                                    {"the schedule", schedule_digest(inputs)},
                                    {"the profile", inputs.profile ? inputs.profile->digest() : ""},
                                    {"the seed", std::to_string(options.seed)},
                                    {"the input", digest_of(inputs.input)}});
  if (inputs.machine) agree_on_machine();
}

/// Makes the backends. From here on the platform's devices name their GPUs, so that a profile's
/// times are used for these only.
void RunJob::State::make_backend() {
  if (inputs.machine) return make_emulated_backend();
  mine = make_rank_backend(transport(), options.ranks, devices);
  identities = gather_identities(transport(), *mine.backend);
  require_one_library(transport(), *mine.backend);
  mpi::agreed(transport(), [&] { require_identities(identities, platform, inputs.schedule_name); });
  platform = platform.with_identities(identities);
  if (same_gpus(identities) || rank() != Rank(0)) return;
  log::warning(
      "ranks compute on different GPUs or libraries, as the schedule says: the last bits differ "
      "from "
      "those of one rank, and are not compared");
}

void RunJob::State::plan_rank_of_copy() {
  const auto [copy, device] = copy_device();
  PlanOptions how{.any_order = options.any_order, .sharers = sharers};
  if (inferences) how = {.in_flight = inferences->in_flight, .inputs = inferences->inputs};
  plan =
      of_copy(plan_rank(inputs.network.coarse, inputs.schedule.schedule, Rank(device.index()), how),
              copy * inputs.schedule.devices.size());
}

void RunJob::State::find_sharers() {
  if (may_share()) sharers = job::memory_sharers(transport(), *mine.backend, options.route);
}

bool RunJob::State::copies_what_was_shared() const {
  for (std::size_t rank = 0; rank < all_copies.size(); ++rank) {
    const Configuration* const measured = profile->find(all_copies, DeviceId(rank));
    if (!measured) continue;
    for (const TransferCurve& curve : measured->transfers) {
      if (curve.shared.empty() || curve.from >= all_copies.size() || curve.to >= all_copies.size())
        continue;
      if (sharers.empty() || sharers[curve.from] != sharers[curve.to]) return true;
    }
  }
  return false;
}

bool RunJob::State::ranks_are_alike() const {
  return same_gpus(identities) && std::ranges::all_of(devices, [&](const RankDevice& one) {
           return one.backend == devices.front().backend &&
                  one.precision == devices.front().precision;
         });
}

void RunJob::State::require_host_memory() {
  const bool all = options.verify == Verify::kOperators, any = options.verify != Verify::kNo;
  const HostNeed need = host_need(inputs.network.coarse, inputs.network.model, plan, *mine.backend,
                                  {.draws_input = inputs.input.empty(),
                                   .verifies_all = all,
                                   .by_reference = any,
                                   .on_one_rank = any && ranks_are_alike(),
                                   .disks = disks()});
  agree_on_host_memory(transport(), inputs.network.model.name(), need, read_available_memory(),
                       inferences.has_value());
}

std::vector<StoreId> RunJob::State::disks() const {
  std::vector<StoreId> disks;
  const auto& stores = inputs.schedule.stores;
  for (std::size_t s = 0; s < stores.size(); ++s) {
    if (stores[s].kind == StoreKind::kDisk) disks.emplace_back(s);
  }
  return disks;
}

void RunJob::State::open_packed() {
  if (inputs.machine) return;  // its disks are flows
  const std::vector<StoreId> all = disks();
  const bool reads = std::ranges::any_of(plan.lanes, [&](const auto& lane) {
    return std::ranges::any_of(lane, [&](const PlannedLoad& load) {
      return load.store && std::ranges::count(all, *load.store) > 0;
    });
  });
  if (!reads) return;
  if (mine.backend->accelerator()) {
    throw InputError(inputs.schedule_name + ": $.weights: it loads from a disk, and the " +
                     std::string(mine.backend->name()) +
                     " backend loads from memory alone; plan its loads from a store in memory");
  }
  if (options.packed_weights.empty()) {
    throw InputError(inputs.schedule_name +
                         ": $.weights: it loads from a disk, and no file of "
                         "weights was given",
                     need::PackedWeights{});
  }
  ReadLimits limits;
  limits.max_bytes = limits.max_weights_bytes;
  packed = std::make_unique<PackedParameters>(
      options.packed_weights, mine.backend->describe(),
      kMostPartsOfOperator * inputs.network.coarse.graph.size(), limits);
}

LoadOptions RunJob::State::loads() const {
  return {.cores = mine.cores, .packed = packed.get(), .disks = disks(), .pace = emulation.get()};
}

void RunJob::State::require_certified_shards(const Configuration& measured) const {
  const CoarseGraph& coarse = inputs.network.coarse;
  const Model& model = inputs.network.model;
  require_certified(coarse.graph, measured, profile->file);
  require_certified_by(mine.backend->describe(), measured, profile->file);
  if (mine.backend->accelerator()) return;  // its streams have no cores
  const std::vector<int> threads = threads_of_operators(coarse.graph, inputs.schedule);
  std::set<int> cores;
  for (const Slot& slot : plan.slots) {
    const bool is_shard = model.layer(coarse.layers(slot.op).layers.back()).range.has_value();
    if (!slot.received && is_shard) cores.insert(threads[slot.op.index()]);
  }
  require_certified_cores(model.name(), cores, measured, profile->file);
}

void RunJob::State::prepare() {
  const CoarseGraph& coarse = inputs.network.coarse;
  const Model& model = inputs.network.model;
  find_sharers();
  mpi::agreed(transport(), [&] {
    if (options.any_order && mine.backend->accelerator()) {
      throw InputError("the " + std::string(mine.backend->name()) +
                       " backend is given its stages in the schedule's order, and cannot run them "
                       "as soon as they can");
    }
    plan_rank_of_copy();
    check_supported(coarse, model, *mine.backend, plan);
    if (!options.plan_only) open_packed();
    all_copies = of_copies(platform, copies());
    setup.measured_ranks = extrapolated_from(inputs, all_copies);
    profile = setup.measured_ranks
                  ? extrapolated(*inputs.profile, all_copies, *setup.measured_ranks)
                  : inputs.profile;
    const Travel travel = profile && copies_what_was_shared() ? Travel::kCopied : Travel::kShared;
    if (profile) costs = CostModel::from_profile(coarse.graph, all_copies, *profile, travel);
  });
  agree_on_memory(transport(), *mine.backend, inputs.network, plan);
  const MemoryEstimate need = estimate_memory(coarse, model, plan);
  if (!options.plan_only) require_host_memory();
  // An emulated machine holds digests here: validate() has judged the graph's sizes.
  if (!emulation) planned = agree_on_limits(transport(), need, platform, inputs.schedule_name);
  // The algorithms that the profile was measured with, so that the run computes by the same.
  const Configuration* const measured =
      profile ? profile->find(all_copies, DeviceId(rank().index())) : nullptr;
  mpi::agreed(transport(), [&] {
    if (measured && model.whole()) require_certified_shards(*measured);
  });
  const auto known =
      measured ? KnownAlgorithms{profile->algorithms(*measured), profile->file} : KnownAlgorithms{};
  // Without a profile, nothing says yet that shards have the bits of their wholes.
  const bool certifies = model.whole() && !profile && !emulation;
  const AgreedAlgorithms agreed =
      agree_on_algorithms(transport(), *mine.backend, coarse, model, known, Choosing::kByRule,
                          certifies ? std::optional(most_streams(platform)) : std::nullopt);
  mpi::agreed(transport(), [&] { require_certified(agreed, *mine.backend, inputs.network.cuts); });
  if (agreed.by_all) setup.algorithms = agreed.origin;
  tensors = std::make_unique<TensorTransport>(transport(), *mine.backend, options.route);
  if (!sharers.empty() && !options.plan_only) {
    shared_arena = mpi::open_shared_arena(transport(), sharers, plan.shared_bytes);
  }
  if (emulation) make_emulated_transport();
}

void RunJob::State::describe() {
  for (const RankDevice& device : devices) setup.backends.emplace_back(device.backend->name);
  if (emulation) {
    setup.ranks = emulated_ranks();
  } else {
    setup.ranks = gather_ranks(transport(), mine, plan);
    note_memory(setup.ranks, planned, platform.devices());
  }
  const std::vector<RankSurroundings> surroundings = gather_surroundings(tensors->get(), mine);
  setup.warnings = host_warnings(surroundings);
  setup.transfer_path = (emulated_transport ? *emulated_transport : tensors->get()).path();
  if (!sharers.empty()) setup.transfer_path += mpi::kInSharedMemory;
  setup.routes = tensors->table();
  setup.transfer_paths = tensors->json();
  if (profile) {
    setup.unsettled = unsettled_text(*profile, all_copies);
    std::vector<Surrounding> here = as_surrounding(surroundings, options.program);
    for (Surrounding& rank : here) rank.copies = may_share() && copies_what_was_shared();
    setup.elsewhere = measured_elsewhere(*profile, all_copies, here);
  }
  setup.precision = roughest(devices);
  const Tolerance usual = default_tolerance(setup.precision);
  setup.tolerance = {options.atol.value_or(usual.atol), options.rtol.value_or(usual.rtol)};
}

std::vector<std::string> RunJob::State::recording_refused() {
  const auto by_rank = mpi::gather(transport(), mine.backend->recording_refused());
  std::vector<std::string> refused;
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    if (!by_rank[r].empty()) refused.push_back("rank " + std::to_string(r) + ": " + by_rank[r]);
  }
  return refused;
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

void RunJob::write_packed_parameters(const std::filesystem::path& file,
                                     const std::vector<HeldOperator>& held, Existing existing) {
  State& job = *state_;
  InputSource source(job.options.seed, job.inputs.input);
  RankPlan plan = job.plan;
  plan.held = held;
  Executor executor(job.context(source), plan);
  write_packed(file, job.mine.backend->describe(), executor.parameters(), existing);
  executor.close();
}

RunResults RunJob::run() {
  State& job = *state_;
  const bool forgets =
      job.options.forget_weights && job.options.verify == Verify::kNo && !job.cold();
  InputSource source(job.options.seed, job.inputs.input, forgets);
  RunResults results;
  if (job.inferences) {
    job.run_many(source, results);
  } else {
    job.run_one_at_a_time(source, results);
  }
  results.recording_refused = job.recording_refused();
  return results;
}

RunResults run(mpi::Transport& transport, const RunInputs& inputs, const RunOptions& options,
               double timeout_s) {
  Watch watch(transport, timeout_s);
  return RunJob(watch, inputs, options).run();
}

}  // namespace hios::job
