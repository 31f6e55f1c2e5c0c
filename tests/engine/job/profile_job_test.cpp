// Whole profiles on ranks as threads: a configuration for each kind of rank, transfers between
// them, and the stages that a test asks for.
#include "engine/job/profile_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "hios/evaluate/cost_model.h"
#include "hios/profile/profile_json.h"
#include "hios/profile/settling.h"
#include "support/expect_error.h"
#include "support/message.h"
#include "support/networks/random_network.h"
#include "support/schema.h"
#include "support/transports/fake_job.h"

namespace hios::job {
namespace {

using test::FakeBackend;
using test::FakeJob;
using test::run_fake_job;
using Names = std::vector<std::string>;

constexpr std::size_t kRanks = 3;
const Names kMixed = {"fake-device", "fake", "fake-device"};

Network network_of(std::size_t operators, std::uint64_t seed) {
  test::RandomNetwork random = test::random_network(operators, seed);
  return {std::move(random.model), std::move(random.coarse)};
}

ProfileOptions profile_options(const Names& backends,
                               std::span<const BackendEntry> table = test::fake_backends()) {
  ProfileOptions options;
  options.ranks.backends = backends;
  options.ranks.table = table;
  options.ranks.share_cores = true;
  options.protocol = {.warmup = 1, .iterations = 4};
  options.streams = 2;
  options.largest_message = Bytes{1} << 16;  // larger ones would only take time
  return options;
}

/// The stages of several groups of a schedule that the profile lacks.
AskStages stages_of(const Network& network, const Schedule& schedule) {
  return [&](const Platform& platform, const Profile& profile, double) {
    WantedStages wanted;
    std::set<std::pair<const Configuration*, StageKey>> known;
    for (std::size_t d = 0; d < platform.size(); ++d) {
      const Configuration* const lacks = profile.find(platform, DeviceId(d));
      for (const Stage& stage : schedule.devices[d]) {
        const StageKey key = stage_key(network.coarse.graph, stage);
        if (stage.groups.size() < 2 || lacks->stages.contains(key)) continue;
        if (known.emplace(lacks, key).second) wanted[lacks].push_back(stage);
      }
    }
    return wanted;
  };
}

/// The profile, the same on every rank by its text, read back as by a program.
Profile profile_of(const Network& network, const Names& names, const Schedule* schedule) {
  std::mutex mutex;
  std::set<std::string> texts;
  run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    ProfileJob job(watch, network, {}, profile_options(names));
    EXPECT_EQ(job.measure(schedule ? stages_of(network, *schedule) : AskStages{}),
              Ended::kComplete);
    const std::lock_guard lock(mutex);
    texts.insert(to_json(job.profile()).dump());
  });
  EXPECT_EQ(texts.size(), 1u) << "ranks hold different profiles";
  const Json json = parse_json(*texts.begin(), "p.json");
  test::expect_meets_schema(json);
  return profile_from_json(JsonView(json, "p.json"));
}

Platform both_kinds(int threads_of_cores = 1) {
  std::vector<Device> devices(kRanks);
  const char* const names[] = {"gpu0", "cpu0", "gpu1"};
  for (std::size_t i = 0; i < kRanks; ++i) {
    devices[i].name = names[i];
    devices[i].kind = std::string(names[i]).substr(0, 3);
    devices[i].threads = devices[i].kind == "cpu" ? threads_of_cores : 0;
    devices[i].streams = 2;
  }
  return Platform(std::move(devices));
}

TEST(ProfileJob, HasAConfigurationForEachKindAndTransfersBetweenThem) {
  const Network network = network_of(14, 11);
  const Schedule schedule = test::random_schedule(network.coarse.graph, kRanks, 2, 5);
  const Profile profile = profile_of(network, kMixed, &schedule);
  ASSERT_EQ(profile.configurations.size(), 2u);
  const Configuration& gpu = profile.configurations[0];
  const Configuration& cpu = profile.configurations[1];
  EXPECT_EQ(gpu.kind, "gpu");
  EXPECT_EQ(gpu.backend, "fake-device");
  EXPECT_EQ(gpu.threads, 0);
  EXPECT_EQ(cpu.kind, "cpu");
  EXPECT_EQ(cpu.backend, "fake");
  EXPECT_EQ(cpu.threads, 1);
  for (const Configuration* each : {&gpu, &cpu}) {
    EXPECT_EQ(each->devices, (Names{"gpu", "cpu", "gpu"}));
    EXPECT_EQ(each->ranks, kRanks);
    for (const Operator& op : network.coarse.graph.operators()) {
      EXPECT_TRUE(each->operators.contains(op.signature)) << op.name;
    }
  }
  // By the fake device's clock an operator takes 1 ms; by the cores' real clock much less.
  for (const auto& [signature, measurement] : gpu.operators) EXPECT_EQ(measurement.ms, 1);
  for (const auto& [signature, measurement] : cpu.operators) EXPECT_LT(measurement.min_ms, 1);
  for (const auto& [key, measurement] : gpu.stages) EXPECT_GE(measurement.ms, 2);
  const auto samples = [](const Configuration& of, std::size_t ranks) {
    return std::ranges::all_of(of.operators, [&](const auto& entry) {
      return entry.second.samples % static_cast<std::int64_t>(ranks) == 0;
    });
  };
  EXPECT_TRUE(samples(gpu, 2)) << "two ranks";
  EXPECT_TRUE(samples(cpu, 1));
  ASSERT_EQ(gpu.transfers.size(), 4u) << "0 to 1 and 2, 2 to 0 and 1";
  ASSERT_EQ(cpu.transfers.size(), 2u);
  EXPECT_EQ(cpu.transfers[0].from, 1u);
  EXPECT_EQ(cpu.transfers[0].to, 0u);
  for (std::size_t d = 0; d < kRanks; ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      if (stage.groups.size() < 2) continue;
      EXPECT_TRUE((d == 1 ? cpu : gpu).stages.contains(stage_key(network.coarse.graph, stage)));
    }
  }
}

TEST(ProfileJob, OneToThreeReferenceRanksFillOneConfiguration) {
  ModelBuilder b("small", {1, 3, 6, 6});
  const TensorId stem = b.relu("relu", b.conv("stem", b.input(), {4, {3, 3}, {1, 1}, {1, 1}}));
  b.concat("concat", {b.conv("left", stem, {4, {1, 1}, {1, 1}, {0, 0}}), stem});
  const Network network(std::move(b).build());
  for (std::size_t ranks = 1; ranks <= 3; ++ranks) {
    std::mutex mutex;
    std::set<std::string> texts;
    test::run_ranks(ranks, [&](mpi::Transport& transport) {
      Watch watch(transport, 0);
      ProfileJob job(watch, network, {}, profile_options({"reference"}, backends()));
      EXPECT_EQ(job.measure(), Ended::kComplete);
      ASSERT_EQ(job.configurations().size(), 1u);
      const Configuration& only = *job.configurations().front();
      EXPECT_EQ(only.operators.size(), network.coarse.graph.size());
      EXPECT_EQ(only.transfers.size(), ranks * (ranks - 1));
      EXPECT_EQ(only.ranks, ranks);
      EXPECT_EQ(job.setup().devices.size(), ranks);
      const std::lock_guard lock(mutex);
      texts.insert(to_json(job.profile()).dump());
    });
    EXPECT_EQ(texts.size(), 1u);
  }
}

TEST(ProfileJob, MeasuresNothingTwice) {
  const Network network = network_of(8, 3);
  const Schedule schedule = test::random_schedule(network.coarse.graph, kRanks, 2, 5);
  run_fake_job({.backends = kMixed}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    ProfileJob first(watch, network, {}, profile_options(kMixed));
    EXPECT_EQ(first.measure(stages_of(network, schedule)), Ended::kComplete);
    const auto without_seconds = [](Profile profile) {
      for (Configuration& each : profile.configurations) each.seconds = 0;
      return to_json(profile).dump();
    };
    ProfileJob again(watch, network, first.profile(), profile_options(kMixed));
    EXPECT_EQ(again.measure(stages_of(network, schedule)), Ended::kComplete);
    EXPECT_EQ(without_seconds(again.profile()), without_seconds(first.profile()));
  });
}

TEST(ProfileJob, ServesAPlatformOfBothKindsAndNoOther) {
  const Network network = network_of(10, 5);
  const Profile profile = profile_of(network, kMixed, nullptr);
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
  test::expect_error<InputError>([&] { CostModel::from_profile(graph, both_kinds(2), profile); },
                                 {"no configuration for cpu0 (cpu, 2 threads"});
}

TEST(ProfileJob, StopsMeasuringWhenTheTimeIsUp) {
  const Network network = network_of(8, 3);
  const Schedule schedule = test::random_schedule(network.coarse.graph, 2, 2, 4);
  const Names names = {"fake", "fake"};
  run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    ProfileOptions options = profile_options(names);
    options.stages_limit_s = 0;
    ProfileJob job(watch, network, {}, options);
    std::size_t asked = 0;
    const Ended ended = job.measure([&](const Platform&, const Profile& profile, double) {
      ++asked;
      const Stage both{{{OpId(0)}, {OpId(1)}}};
      return WantedStages{{&profile.configurations.front(), {both}}};
    });
    EXPECT_EQ(ended, Ended::kOutOfTime);
    EXPECT_EQ(asked, transport.rank() == Rank(0) ? 1u : 0u) << "rank 0 is asked for all";
  });
}

TEST(ProfileJob, StoppedAnywhereItKeepsWhatItMeasuredAndGoesOnFromThere) {
  const Network network = network_of(14, 11);
  const Schedule schedule = test::random_schedule(network.coarse.graph, 2, 2, 5);
  const Names names = {"fake", "fake"};
  bool nothing = false, operators_only = false, without_stages = false, whole = false;
  for (int stop_at = 1; !whole; ++stop_at) {
    SCOPED_TRACE(stop_at);
    ASSERT_LT(stop_at, 200);
    run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
      Watch watch(transport, 0);
      ProfileOptions options = profile_options(names);
      options.largest_message = 4096;
      int asked = 0;
      options.protocol.stop = [&] { return transport.rank() == Rank(1) && ++asked >= stop_at; };
      ProfileJob job(watch, network, {}, options);
      const Ended ended = job.measure(stages_of(network, schedule));
      const Configuration& known = *job.configurations().front();
      EXPECT_EQ(known.protocol->contains("incomplete"), ended == Ended::kStopped);
      EXPECT_EQ(unsettled_text(known).find("stopped before its end") != std::string::npos,
                ended == Ended::kStopped);
      if (transport.rank() == Rank(0)) {
        nothing = nothing || known.operators.empty();
        operators_only = operators_only || (!known.operators.empty() && known.transfers.empty());
        without_stages = without_stages || (!known.transfers.empty() && known.stages.empty());
        whole = ended == Ended::kComplete;
      }
      if (known.operators.empty()) return;
      const Json json = to_json(job.profile());
      test::expect_meets_schema(json);

      options.protocol.stop = {};
      ProfileJob again(watch, network, profile_from_json(JsonView(json, "p.json")), options);
      EXPECT_EQ(again.measure(stages_of(network, schedule)), Ended::kComplete);
      const Configuration& all = *again.configurations().front();
      EXPECT_TRUE(unfinished_operators(all).empty());
      EXPECT_FALSE(all.protocol->contains("incomplete"));
      EXPECT_EQ(all.transfers.size(), 2u);
      EXPECT_FALSE(all.stages.empty());
    });
  }
  EXPECT_TRUE(nothing && operators_only && without_stages);
}

// ---------------------------------------------------------- bad input, on whichever rank

TEST(ProfileJob, OperatorsThatOneRankCannotMeasureAreRefusedByAll) {
  const Network network = network_of(8, 3);
  const std::string name = network.coarse.graph.op(OpId(2)).name;
  const FakeJob ranks{.backends = {"fake", "fake"},
                      .on_make = [&](Rank rank, FakeBackend& backend) {
                        if (rank == Rank(1)) backend.refused = name;
                      }};
  test::expect_refused_by_all(test::messages_of_ranks(ranks,
                                                      [&](mpi::Transport& transport) {
                                                        Watch watch(transport, 0);
                                                        ProfileJob(watch, network, {},
                                                                   profile_options({"fake"}));
                                                      }),
                              name);
}

TEST(ProfileJob, RanksThatHoldDifferentInputsAreRefused) {
  const FakeJob ranks{.backends = {"fake", "fake"}};
  test::expect_refused_by_all(
      test::messages_of_ranks(ranks,
                              [&](mpi::Transport& transport) {
                                const Network network = network_of(8, transport.rank().index());
                                Watch watch(transport, 0);
                                ProfileJob(watch, network, {}, profile_options({"fake"}));
                              }),
      "the model differs");
  const Network network = network_of(8, 3);
  test::expect_refused_by_all(test::messages_of_ranks(ranks,
                                                      [&](mpi::Transport& transport) {
                                                        Profile known;
                                                        if (transport.rank() == Rank(1))
                                                          known.configurations.emplace_back();
                                                        Watch watch(transport, 0);
                                                        ProfileJob(watch, network, known,
                                                                   profile_options({"fake"}));
                                                      }),
                              "the profile to update differs");
}

/// A backend with fp32 alone.
constexpr std::array kOnlyFp32 = {Precision::kFp32};

TEST(ProfileJob, ARankWithoutTheArithmeticMeasuresInFp32) {
  std::vector<BackendEntry> table(test::fake_backends().begin(), test::fake_backends().end());
  table[0].precisions = kOnlyFp32;
  ProfileOptions options = profile_options({"fake-device", "fake"}, table);
  options.precision = Precision::kTf32;
  options.threads = 3;
  const std::vector<RankDevice> devices = devices_of_ranks(options, 2);
  EXPECT_EQ(devices[0].precision, Precision::kTf32);
  EXPECT_EQ(devices[0].cores, 1) << "a device computes on none";
  EXPECT_EQ(devices[1].precision, Precision::kFp32);
  EXPECT_EQ(devices[1].cores, 3);
  options.precision = Precision::kFp16;  // tensors of two sizes
  test::expect_message(test::message_of([&] { devices_of_ranks(options, 2); }), "not in fp16");
  options.precision = Precision::kTf32;
  options.ranks.backends = {"fake"};  // no backend has it
  test::expect_message(test::message_of([&] { devices_of_ranks(options, 2); }), "not in tf32");
}

TEST(ProfileJob, MeasuresForThroughputWhereAllRanksComputeOnCores) {
  const Network network = network_of(12, 4);
  for (const Names& names : {Names{"fake", "fake"}, Names{"fake-device", "fake"}}) {
    run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
      Watch watch(transport, 0);
      ProfileOptions options = profile_options(names);
      options.throughput = true;
      ProfileJob job(watch, network, {}, options);
      EXPECT_EQ(job.measure(), Ended::kComplete);
      for (const Configuration* const each : job.configurations())
        EXPECT_EQ(each->io_charge.has_value(), names.front() == "fake");
    });
  }
}

}  // namespace
}  // namespace hios::job
