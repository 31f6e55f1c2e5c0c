// A job of a device and cores, end to end with fakes: profiled with a configuration for each kind,
// transfers between the kinds, scheduled on a platform of both, and run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "cli/profile/wanted_stages.h"
#include "cli/remedies.h"
#include "engine/job/profile_teams.h"
#include "engine/measure/profiler.h"
#include "engine/run/executor.h"
#include "hios/evaluate/validate.h"
#include "scheduler/registry.h"
#include "support/device_ranks.h"
#include "support/expect_error.h"
#include "support/fake_async_backend.h"
#include "support/random_network.h"
#include "support/schema.h"

namespace hios::cli {
namespace {

using test::FakeAccelerator;
using test::FakeAsyncBackend;
using test::FakeBackend;
using test::FakeSource;
using test::random_network;
using test::RandomNetwork;
using test::run_device_ranks;

constexpr Protocol kShort{.warmup = 1, .iterations = 4};
constexpr std::size_t kRanks = 3;

/// Ranks 0 and 2 have a device, rank 1 has cores.
const test::DeviceRanks kMixed{{"Mixed", std::nullopt}};

std::unique_ptr<Backend> backend_on(FakeAccelerator* device) {
  if (device) return std::make_unique<FakeAsyncBackend>(*device);
  return std::make_unique<FakeBackend>(1);
}

/// Everything that hios-profile measures, into `profile`; what rank 0 would write.
void measure(const RandomNetwork& network, mpi::Transport& transport, Backend& backend,
             Profile& profile, const std::vector<std::string>& algorithms) {
  FakeSource source;
  const Teams teams = gather_teams(transport, backend, Precision::kFp32);
  const auto into = configurations_of(teams, profile, "a processor", "threads");
  Profiler profiler(network.coarse, network.model, backend, transport, source, kShort, teams.ranks);
  profiler.measure_operators(into);
  profiler.measure_transfers(into);
  const Platform platform = platform_of(teams, 2);
  for (int round = 0; round < 4; ++round) {
    WantedStages wanted = wanted_stages(network.coarse.graph, platform, profile,
                                        scheduler::built_in(), algorithms, 60);
    for (std::size_t team = 0; team < into.size(); ++team) {
      profiler.measure_stages(wanted[into[team]], *into[team], 60, team);
    }
  }
}

/// The same on every rank, by text.
Profile profile_of(const RandomNetwork& network, const std::vector<std::string>& algorithms) {
  std::mutex mutex;
  std::set<std::string> texts;
  run_device_ranks(kRanks, kMixed, [&](mpi::Transport& transport, FakeAccelerator* device) {
    const auto backend = backend_on(device);
    Profile profile;
    measure(network, transport, *backend, profile, algorithms);
    const std::lock_guard lock(mutex);
    texts.insert(to_json(profile).dump());
  });
  EXPECT_EQ(texts.size(), 1u) << "ranks hold different profiles";
  const Json json = parse_json(*texts.begin(), "p.json");
  test::expect_meets_schema(json);
  return profile_from_json(JsonView(json, "p.json"));
}

Platform both_kinds(const std::string& threads_of_cores = "1") {
  std::vector<Device> devices(kRanks);
  const char* const names[] = {"gpu0", "cpu0", "gpu1"};
  for (std::size_t i = 0; i < kRanks; ++i) {
    devices[i].name = names[i];
    devices[i].kind = std::string(names[i]).substr(0, 3);
    devices[i].threads = devices[i].kind == "cpu" ? std::stoi(threads_of_cores) : 0;
    devices[i].streams = 2;
  }
  return Platform(std::move(devices));
}

TEST(MixedProfile, HasAConfigurationForEachKindAndTransfersBetweenThem) {
  const RandomNetwork network = random_network(14, 11);
  const Profile profile = profile_of(network, {"ios", "hios-lp", "hios-mr"});
  ASSERT_EQ(profile.configurations.size(), 2u);
  const Configuration& gpu = profile.configurations[0];
  const Configuration& cpu = profile.configurations[1];
  const std::vector<std::string> devices = {"gpu", "cpu", "gpu"};
  EXPECT_EQ(gpu.kind, "gpu");
  EXPECT_EQ(gpu.backend, "fake-device");
  EXPECT_EQ(gpu.threads, 0);
  EXPECT_EQ(cpu.kind, "cpu");
  EXPECT_EQ(cpu.backend, "fake");
  EXPECT_EQ(cpu.threads, 1);
  for (const Configuration* each : {&gpu, &cpu}) {
    EXPECT_EQ(each->devices, devices);
    EXPECT_EQ(each->ranks, kRanks);
    for (const Operator& op : network.coarse.graph.operators()) {
      EXPECT_TRUE(each->operators.contains(op.signature)) << op.name;
    }
    EXPECT_FALSE(each->stages.empty());
  }
  // By the fake device's clock an operator takes 1 ms; the cores' is real, and much less.
  for (const auto& [signature, measurement] : gpu.operators) EXPECT_EQ(measurement.ms, 1);
  for (const auto& [signature, measurement] : cpu.operators) EXPECT_LT(measurement.min_ms, 1);
  for (const auto& [key, measurement] : gpu.stages) EXPECT_GE(measurement.ms, 2);
  const auto samples = [](const Configuration& of, std::size_t ranks) {
    return std::ranges::all_of(of.operators, [&](const auto& entry) {
      return entry.second.samples % static_cast<std::int64_t>(4 * ranks) == 0;
    });
  };
  EXPECT_TRUE(samples(gpu, 2)) << "two ranks";
  EXPECT_TRUE(samples(cpu, 1));
  ASSERT_EQ(gpu.transfers.size(), 4u) << "0 to 1 and 2, 2 to 0 and 1";
  ASSERT_EQ(cpu.transfers.size(), 2u);
  EXPECT_EQ(cpu.transfers[0].from, 1u);
  EXPECT_EQ(cpu.transfers[0].to, 0u);
}

TEST(MixedProfile, IsNotMeasuredTwice) {
  const RandomNetwork network = random_network(8, 3);
  run_device_ranks(kRanks, kMixed, [&](mpi::Transport& transport, FakeAccelerator* device) {
    const auto backend = backend_on(device);
    Profile profile;
    measure(network, transport, *backend, profile, {"ios"});
    const std::string first = to_json(profile).dump();
    FakeSource source;
    const Teams teams = gather_teams(transport, *backend, Precision::kFp32);
    for (Configuration& known : profile.configurations) {
      known.machine["processor"] = "a processor";
      known.machine["transport"] = "threads";
    }
    const auto into = configurations_of(teams, profile, "a processor", "threads");
    EXPECT_EQ(profile.configurations.size(), 2u);
    Profiler profiler(network.coarse, network.model, *backend, transport, source, kShort,
                      teams.ranks);
    EXPECT_EQ(profiler.measure_operators(into).missing, 0u);
    EXPECT_EQ(profiler.measure_transfers(into).missing, 0u);
  });
}

TEST(MixedProfile, PricesAPlatformOfBothKindsAndNoOther) {
  const RandomNetwork network = random_network(10, 5);
  const Profile profile = profile_of(network, {});
  const Graph& graph = network.coarse.graph;
  const Platform platform = both_kinds();
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  for (std::size_t e = 0; e < graph.edge_count(); ++e) {
    for (const auto& [from, to, team] : {std::tuple{0, 1, 0}, {1, 0, 1}, {2, 1, 0}, {0, 2, 0}}) {
      const auto& curves = profile.configurations[static_cast<std::size_t>(team)].transfers;
      const auto curve = std::ranges::find_if(curves, [&](const TransferCurve& each) {
        return each.from == static_cast<std::size_t>(from) &&
               each.to == static_cast<std::size_t>(to);
      });
      ASSERT_NE(curve, curves.end());
      EXPECT_EQ(costs.transfer_ms(EdgeId(e), DeviceId(static_cast<std::size_t>(from)),
                                  DeviceId(static_cast<std::size_t>(to))),
                curve->transfer_ms(graph.edge(EdgeId(e)).size_bytes));
    }
  }
  // Neither three GPUs nor the kinds in another order were measured.
  test::expect_error<InputError>(
      [&] { CostModel::from_profile(graph, Platform::homogeneous(3, "gpu", 0, 2), profile); },
      {"no configuration for gpu0", "among gpu + cpu + gpu"});
  test::expect_error<InputError>(
      [&] {
        with_remedies("", [&] { return CostModel::from_profile(graph, both_kinds("2"), profile); });
      },
      {"no configuration for cpu0 (cpu, 2 threads", "--backend cuda,cpu,cuda --threads 2"});
}

TEST(MixedProfile, IsScheduledAndRun) {
  const RandomNetwork network = random_network(20, 7);
  const Profile profile = profile_of(network, {"hios-lp"});
  const Platform platform = both_kinds();
  const CostModel costs = CostModel::from_profile(network.coarse.graph, platform, profile);
  const scheduler::Algorithm& algorithm = scheduler::built_in().find("hios-lp");
  const Schedule schedule =
      algorithm.run(network.coarse.graph, costs, platform, Options(algorithm.options), {}).schedule;
  ASSERT_TRUE(validate(network.coarse.graph, platform, schedule).empty());
  FakeBackend oracle;
  FakeSource oracle_source;
  const auto expected = test::evaluate_alone(network.coarse, network.model, oracle, oracle_source);
  run_device_ranks(kRanks, kMixed, [&](mpi::Transport& transport, FakeAccelerator* device) {
    const auto backend = backend_on(device);
    FakeSource source;
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    Executor executor(network.coarse, network.model, plan, *backend, transport, source);
    transport.barrier();
    executor.run_once();
    for (const OpId op : plan.outputs) {
      const std::vector<float> values = executor.output(op);
      EXPECT_EQ(
          std::memcmp(values.data(), expected[op.index()].data(), values.size() * sizeof(float)),
          0);
    }
    executor.close();
  });
}

TEST(Teams, OfOneKindAreOne) {
  test::run_ranks(3, [](mpi::Transport& transport) {
    FakeBackend backend(2);
    const Teams teams = gather_teams(transport, backend, Precision::kFp32);
    ASSERT_EQ(teams.ranks.size(), 1u);
    EXPECT_EQ(teams.ranks[0], (Team{Rank(0), Rank(1), Rank(2)}));
    EXPECT_TRUE(teams.like[0].devices.empty());
    const Platform platform = platform_of(teams, 2);
    EXPECT_EQ(platform.device(DeviceId(2)).name, "cpu2");
    EXPECT_EQ(platform.device(DeviceId(2)).threads, 2);
  });
}

/// A fake that says which GPU it is.
class Named final : public FakeBackend {
 public:
  Named(std::string name, std::string kind, std::string gpu)
      : name_(std::move(name)), kind_(std::move(kind)), gpu_(std::move(gpu)) {}
  std::string_view name() const override { return name_; }
  std::string_view kind() const override { return kind_; }
  Json describe() const override { return gpu_.empty() ? Json::object() : Json{{"gpu", gpu_}}; }

 private:
  std::string name_, kind_, gpu_;
};

TEST(Teams, ArePartedByGpu) {
  test::run_ranks(3, [](mpi::Transport& transport) {
    Named backend("cuda", "gpu", transport.rank() == Rank(1) ? "NVIDIA A100" : "NVIDIA H200");
    const Teams teams = gather_teams(transport, backend, Precision::kFp32);
    ASSERT_EQ(teams.ranks.size(), 2u);
    EXPECT_EQ(teams.ranks[0], (Team{Rank(0), Rank(2)}));
    EXPECT_EQ(teams.like[1].devices,
              (std::vector<std::string>{"NVIDIA H200", "NVIDIA A100", "NVIDIA H200"}));
    const Platform platform = platform_of(teams, 1);
    EXPECT_EQ(platform.device(DeviceId(1)).identity, "NVIDIA A100");
    Profile profile{teams.like};
    EXPECT_EQ(profile.find(platform, DeviceId(1)), &profile.configurations[1]);
    EXPECT_EQ(profile.find(platform, DeviceId(2)), &profile.configurations[0]);
    EXPECT_EQ(profile.find(Platform::homogeneous(3, "gpu", 1, 1), DeviceId(0)), nullptr);
  });
}

TEST(Teams, OfTwoBackendsForOneKindAreRefused) {
  test::run_ranks(2, [](mpi::Transport& transport) {
    Named backend(transport.rank() == Rank(0) ? "reference" : "cpu", "cpu", "");
    const Precision rougher = transport.rank() == Rank(0) ? Precision::kTf32 : Precision::kFp32;
    for (const Precision precision : {Precision::kFp32, rougher}) {
      test::expect_error<InputError>([&] { gather_teams(transport, backend, precision); },
                                     {"reference and cpu", "kind cpu", "one at a time"});
    }
  });
}

TEST(Teams, DoNotMixTimesOfTwoMachines) {
  test::run_ranks(2, [](mpi::Transport& transport) {
    FakeBackend backend(1);
    const Teams teams = gather_teams(transport, backend, Precision::kFp32);
    Profile profile{teams.like};
    profile.file = "p.json";
    profile.configurations[0].machine["processor"] = "another";
    test::expect_error<InputError>(
        [&] { configurations_of(teams, profile, "this one", "threads"); },
        {"p.json", "another processor", "here this one"});
    profile.configurations[0].backend = "reference";
    test::expect_error<InputError>(
        [&] { configurations_of(teams, profile, "this one", "threads"); }, {"reference backend"});
  });
}

}  // namespace
}  // namespace hios::cli
