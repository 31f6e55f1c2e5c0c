#include "engine/job/profile_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/backend/core_shares.h"
#include "engine/cold/packed_parameters.h"
#include "engine/host/available_memory.h"
#include "engine/host/clock.h"
#include "engine/host/machine.h"
#include "engine/job/ranks/algorithm_agreement.h"
#include "engine/job/ranks/device_agreement.h"
#include "engine/job/ranks/host_memory.h"
#include "engine/job/ranks/profile_teams.h"
#include "engine/job/ranks/tensor_transport.h"
#include "engine/measure/loads/load_run.h"
#include "engine/measure/loads/loads.h"
#include "engine/measure/operators.h"
#include "engine/measure/transfers/shared_share.h"
#include "engine/run/plan/host_need.h"
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/graph/cuts/cut_operators.h"
#include "hios/platform/platform.h"
#include "hios/profile/settling.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"
#include "mpi/shared/shared_arena.h"

namespace hios::job {

std::vector<RankDevice> devices_of_ranks(const ProfileOptions& options, std::size_t ranks) {
  const Precision plain = Precision::kFp32, asked = options.precision;
  std::vector<RankDevice> devices;
  bool any_asked = false;
  for (const BackendEntry* const backend : backends_of_ranks(options.ranks, ranks)) {
    const bool has = backend->has(asked);
    if (element_bytes(asked) != element_bytes(plain))
      require_precision(*backend, asked, options.ranks.table);
    any_asked = any_asked || has;
    const bool on_cores = backend->kind != kGpuKind;
    devices.push_back({backend, on_cores ? options.threads : 1, has ? asked : plain});
  }
  if (!any_asked) require_precision(*devices.front().backend, asked, options.ranks.table);
  return devices;
}

/// The state of a ProfileJob on one rank.
struct ProfileJob::State {
  State(Watch& the_watch, const Network& the_network, Profile known,
        const ProfileOptions& the_options)
      : watch(the_watch),
        network(the_network),
        options(the_options),
        profile(std::move(known)),
        source(the_options.seed) {}

  mpi::Transport& transport() const { return watch.transport(); }

  RankContext context() {
    return {network.coarse, network.model, *mine.backend, tensors->get(), source};
  }

  void agree();
  void set_up();
  void require_host_memory();
  bool lacks_shared_curves() const;
  void open_packed();
  LoadOptions loads() const;
  Ended measure_cold_start();
  std::vector<std::vector<Stage>> wanted(const AskStages& ask, double time_limit_s) const;
  Ended measure_all(const AskStages& ask);
  Ended measure_stages(const AskStages& ask);
  bool stopped() const;
  void forget_other_algorithms();
  void add_provenance();

  Watch& watch;
  const Network& network;
  const ProfileOptions options;
  Profile profile;
  SeededSource source;
  ProfileSetup setup;
  RankBackend mine;
  std::unique_ptr<TensorTransport> tensors;
  std::vector<std::size_t> sharers;  ///< see memory_sharers()
  Teams teams;
  std::vector<Configuration*> into;  ///< in `profile`, by team
  std::unique_ptr<Profiler> profiler;
  std::unique_ptr<PackedParameters> packed;  ///< null: no disk is measured
  Json algorithms;
  std::vector<std::string> uncertified;  ///< operators, by this rank's backend
};

void ProfileJob::State::agree() {
  mpi::agreed(transport(), [&] { setup.devices = devices_of_ranks(options, transport().size()); });
  mpi::agree_on_facts(
      transport(), {{"the model", network.digest()}, {"the profile to update", profile.digest()}});
}

/// Throws InputError where the hosts have too little memory for the network on every rank, unless
/// all its operators have been measured.
void ProfileJob::State::require_host_memory() {
  const CoarseGraph& coarse = network.coarse;
  const auto lacks_any = [&](const Configuration* each) {
    return lacks_operators(coarse.graph, *each);
  };
  const auto lacks_loads = [&](const Configuration* each) {
    return lacks_cold_start(coarse.graph, *each, !options.packed_weights.empty());
  };
  const bool cold = options.cold_start && std::ranges::any_of(into, lacks_loads);
  const bool shared = lacks_shared_curves();
  if (!cold && !shared && std::ranges::none_of(into, lacks_any)) return;
  RankPlan plan = plan_of_all(coarse, transport().rank());
  plan.arena_bytes = 0;  // all plans are there at the same time
  for (const RankPlan& each : plans_of_shards(coarse, network.model, transport().rank())) {
    plan.arena_bytes += each.arena_bytes;
  }
  if (shared) plan.arena_bytes += plan_of_two(coarse, sharers, transport().rank()).tensor_bytes();
  if (cold) {  // what a store keeps, and what loads bring, which is as much as is read in place
    const Bytes arenas = plan.arena_bytes;
    plan = plan_in_place(coarse, transport().rank());
    plan.arena_bytes = std::max(plan.arena_bytes, arenas);
    plan.lanes.push_back(loads_of_all(coarse.graph, StoreId(0)));
  }
  const HostNeed need =
      host_need(coarse, network.model, plan, *mine.backend, {.keeps_outputs = false});
  agree_on_host_memory(transport(), network.model.name(), need, read_available_memory(), false);
}

/// Returns true if a curve of ranks that share memory is missing.
bool ProfileJob::State::lacks_shared_curves() const {
  const auto is_known = [&](std::size_t from, std::size_t to) {
    return std::ranges::any_of(into, [&](const Configuration* each) {
      return std::ranges::any_of(each->transfers, [&](const TransferCurve& curve) {
        return curve.from == from && curve.to == to && !curve.shared.empty();
      });
    });
  };
  for (std::size_t a = 0; a < sharers.size(); ++a) {
    for (std::size_t b = 0; b < sharers.size(); ++b) {
      if (a != b && sharers[a] == sharers[b] && !is_known(a, b)) return true;
    }
  }
  return false;
}

/// Opens the packed parameters where loads from a disk are measured.
void ProfileJob::State::open_packed() {
  if (!options.cold_start) return;
  require_shown_parameters(*mine.backend);
  if (mine.backend->accelerator()) {
    throw InputError("loads are measured on CPUs: the " + std::string(mine.backend->name()) +
                         " backend's own queues carry them out",
                     need::OtherBackend{});
  }
  const Graph& graph = network.coarse.graph;
  if (loads_of_all(graph, StoreId(0)).empty()) {
    throw InputError("the model has no parameters, so a cold start has nothing to load");
  }
  if (options.packed_weights.empty()) return;
  ReadLimits limits;
  limits.max_bytes = limits.max_weights_bytes;
  packed = std::make_unique<PackedParameters>(options.packed_weights, mine.backend->describe(),
                                              kMostPartsOfOperator * graph.size(), limits);
}

LoadOptions ProfileJob::State::loads() const {
  return {.cores = mine.cores, .packed = packed.get(), .disks = {StoreId(0)}};
}

void ProfileJob::State::set_up() {
  const CoarseGraph& coarse = network.coarse;
  mine = make_rank_backend(transport(), options.ranks, setup.devices);
  require_one_library(transport(), *mine.backend);
  teams =
      gather_teams(transport(), *mine.backend, setup.devices[transport().rank().index()].precision);
  tensors = std::make_unique<TensorTransport>(transport(), *mine.backend, options.route);
  sharers = memory_sharers(transport(), *mine.backend, options.route);
  setup.transfer_path = tensors->get().path();
  if (!sharers.empty()) setup.transfer_path += mpi::kInSharedMemory;
  setup.routes = tensors->table();
  setup.warnings = host_warnings(gather_surroundings(tensors->get(), mine));
  mpi::agreed(transport(), [&] {
    into = configurations_of(teams, profile, processor_name(), tensors->get().path());
  });
  mpi::agreed(transport(), [&] {
    profiler = std::make_unique<Profiler>(context(), options.protocol, teams.ranks);
    open_packed();
  });
  require_host_memory();
  const AgreedAlgorithms agreed = agree_on_algorithms(
      transport(), *mine.backend, coarse, network.model,
      {profile.algorithms(*into[teams.mine]), profile.file}, Choosing::kByTiming, options.streams);
  algorithms = *agreed.algorithms;
  uncertified = agreed.uncertified;
  forget_other_algorithms();
  mpi::agreed(transport(), [&] {
    if (!options.lists_uncertified) require_certified(agreed, *mine.backend, network.cuts);
    if (packed) require_packed(context(), *packed);
  });
}

/// Removes times that were measured with other algorithms than those chosen now.
void ProfileJob::State::forget_other_algorithms() {
  const std::vector<Json> chosen = mpi::gather(transport(), algorithms);
  for (std::size_t team = 0; team < into.size(); ++team) {
    const Json known = profile.algorithms(*into[team]);
    for (const auto& [signature, name] : chosen[teams.ranks[team].front().index()].items()) {
      if (known.contains(signature) && known.at(signature) != name)
        into[team]->operators.erase(signature);
    }
  }
}

/// Returns the wanted stages by team; rank 0 asks for all.
std::vector<std::vector<Stage>> ProfileJob::State::wanted(const AskStages& ask,
                                                          double time_limit_s) const {
  std::vector<std::vector<std::vector<Group>>> by_team;
  if (transport().rank() == Rank(0)) {
    const WantedStages all = ask(platform_of(teams, options.streams), profile, time_limit_s);
    for (const Configuration* const lacks : into) {
      auto& stages = by_team.emplace_back();
      const auto found = all.find(lacks);
      if (found == all.end()) continue;
      for (const Stage& stage : found->second) stages.push_back(stage.groups);
    }
  }
  std::vector<std::vector<Stage>> result;
  for (auto& stages : mpi::broadcast(transport(), by_team)) {
    auto& of_team = result.emplace_back();
    for (auto& groups : stages) of_team.push_back(Stage{std::move(groups)});
  }
  return result;
}

/// Returns true if some rank was asked to stop; called between two measurements.
bool ProfileJob::State::stopped() const {
  double stopped = options.protocol.stop && options.protocol.stop() ? 1 : 0;
  transport().all_reduce_max({&stopped, 1});
  return stopped > 0;
}

/// Asks on rank 0, broadcasts the answer, and measures on all, until no stage is wanted or the time
/// is over.
Ended ProfileJob::State::measure_stages(const AskStages& ask) {
  const Stopwatch stopwatch;
  for (;;) {
    double left_s = options.stages_limit_s - stopwatch.seconds();
    transport().all_reduce_max({&left_s, 1});
    const auto stages = wanted(ask, std::max(left_s, 1.0));
    if (stopped()) return Ended::kStopped;
    if (std::all_of(stages.begin(), stages.end(), [](const auto& of) { return of.empty(); }))
      return Ended::kComplete;
    if (left_s <= 0) return Ended::kOutOfTime;
    std::size_t measured = 0;
    for (std::size_t team = 0; team < into.size(); ++team) {
      // Each team may use an equal share of the time that is left.
      const double share = left_s / static_cast<double>(into.size());
      const Measured of_team = profiler->measure_stages(stages[team], *into[team], share, team);
      if (of_team.stopped) return Ended::kStopped;
      measured += of_team.done;
    }
    if (measured == 0) return Ended::kOutOfTime;
  }
}

Ended ProfileJob::State::measure_cold_start() {
  if (profiler->measure_loads(into, loads()).stopped) return Ended::kStopped;
  if (profiler->measure_in_place(into).stopped) return Ended::kStopped;
  return Ended::kComplete;
}

Ended ProfileJob::State::measure_all(const AskStages& ask) {
  if (profiler->measure_operators(into).stopped) return Ended::kStopped;
  if (transport().size() > 1) {
    if (profiler->measure_transfers(into, options.largest_message, sharers).stopped)
      return Ended::kStopped;
  }
  if (options.throughput && profiler->measure_warm(into).stopped) return Ended::kStopped;
  const bool one_host = transport().local_size() == transport().size();
  if (options.throughput || one_host) {
    const auto effort = options.throughput ? ChargeEffort::kWhole : ChargeEffort::kQuick;
    if (profiler->measure_charges(into, effort).stopped) return Ended::kStopped;
  }
  if (options.cold_start && measure_cold_start() == Ended::kStopped) return Ended::kStopped;
  if (!ask) return Ended::kComplete;
  // Rank 0 may need the whole time limit to answer, while the others wait.
  watch.phase("measuring stages", options.stages_limit_s);
  return measure_stages(ask);
}

namespace {

/// Lists the signatures of these operators' shards in a machine, and takes those of the network's
/// other shards out. Those of other networks stay.
void note_uncertified(const std::vector<std::string>& names, const Network& network,
                      Json& machine) {
  std::set<std::string> listed;
  if (machine.is_object() && machine.contains("uncertified"))
    listed = machine.at("uncertified").get<std::set<std::string>>();
  const std::vector<CutOperator> cuts = cut_operators(network.coarse, network.model);
  for (const bool differs : {false, true}) {
    for (const CutOperator& cut : cuts) {
      if ((std::ranges::count(names, cut.name) > 0) != differs) continue;
      for (const ShardOperator& shard : cut.shards) {
        const std::string& signature = network.coarse.graph.op(shard.op).signature;
        if (differs) {
          listed.insert(signature);
        } else {
          listed.erase(signature);
        }
      }
    }
  }
  if (machine.is_object()) machine.erase("uncertified");
  if (!listed.empty()) machine["uncertified"] = listed;
}

}  // namespace

/// Adds the chosen algorithms, which runs use again, with the results of their trials, the shards
/// that are not certified, and the routes of tensors.
void ProfileJob::State::add_provenance() {
  const std::vector<Json> chosen = mpi::gather(transport(), algorithms);
  const std::vector<std::vector<std::string>> differ = mpi::gather(transport(), uncertified);
  const std::vector<Json> trials = mpi::gather(transport(), mine.backend->trials());
  const auto routes = tensors->json();
  for (std::size_t team = 0; team < into.size(); ++team) {
    for (const auto& [key, value] : options.provenance->items()) {
      Json& known = into[team]->machine[key];
      if (key == "cuts" && known.is_object()) {  // the profile keeps those of other models
        known.update(value);
      } else {
        known = value;
      }
    }
    const Json& of_team = chosen[teams.ranks[team].front().index()];
    // The profile keeps the algorithms of other models.
    if (!of_team.empty()) into[team]->machine["algorithms"].update(of_team);
    const Json& tried = trials[teams.ranks[team].front().index()];
    if (!tried.empty()) into[team]->machine["trials"].update(tried);
    note_uncertified(differ[teams.ranks[team].front().index()], network, *into[team]->machine);
    if (!network.cuts.empty()) {
      into[team]->machine["certified_cores"][network.model.name()] =
          cores_of_groups(into[team]->threads, options.streams);
    }
    if (routes) into[team]->machine["transfer_paths"] = *routes;
  }
}

ProfileJob::ProfileJob(Watch& watch, const Network& network, Profile known,
                       const ProfileOptions& options)
    : state_(std::make_unique<State>(watch, network, std::move(known), options)) {
  watch.phase("measuring");
  state_->agree();
  state_->set_up();
}

ProfileJob::~ProfileJob() = default;

const ProfileSetup& ProfileJob::setup() const { return state_->setup; }

Ended ProfileJob::measure(const AskStages& ask) {
  State& job = *state_;
  const Ended ended = job.measure_all(ask);
  for (Configuration* const each : job.into) mark_incomplete(*each, ended == Ended::kStopped);
  job.add_provenance();
  return ended;
}

const Profile& ProfileJob::profile() const { return state_->profile; }

const std::vector<Configuration*>& ProfileJob::configurations() const { return state_->into; }

}  // namespace hios::job
