// A job of a device and cores, end to end with fakes: profiled with the stages that schedulers ask
// for, scheduled on a platform of both kinds, and run.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/profile/wanted_stages.h"
#include "engine/job/profile_job.h"
#include "engine/job/run_job.h"
#include "hios/evaluate/validate.h"
#include "hios/profile/profile_json.h"
#include "scheduler/registry.h"
#include "support/networks/random_network.h"
#include "support/transports/fake_job.h"

namespace hios::cli {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kRanks = 3;
const Names kMixed = {"fake-device", "fake", "fake-device"};

Network fake_network(std::size_t operators, std::uint64_t seed) {
  test::RandomNetwork random = test::random_network(operators, seed);
  return {std::move(random.model), std::move(random.coarse)};
}

void set_ranks(job::RankOptions& ranks) {
  ranks.backends = kMixed;
  ranks.table = test::fake_backends();
  ranks.share_cores = true;
}

/// The same on every rank, by text.
Profile profile_of(const Network& network, const std::vector<std::string>& algorithms) {
  std::mutex mutex;
  std::set<std::string> texts;
  test::run_fake_job({.backends = kMixed}, [&](mpi::Transport& transport) {
    job::ProfileOptions options;
    set_ranks(options.ranks);
    options.protocol = {.warmup = 1, .iterations = 4};
    options.streams = 2;
    options.largest_message = Bytes{1} << 16;  // larger ones only take time
    job::Watch watch(transport, 0);
    job::ProfileJob job(watch, network, {}, options);
    const job::Ended ended =
        job.measure([&](const Platform& platform, const Profile& profile, double limit_s) {
          return wanted_stages(network.coarse.graph, platform, profile, scheduler::built_in(),
                               algorithms, limit_s);
        });
    EXPECT_EQ(ended, job::Ended::kComplete);
    const std::lock_guard lock(mutex);
    texts.insert(to_json(job.profile()).dump());
  });
  EXPECT_EQ(texts.size(), 1u) << "ranks hold different profiles";
  const Json json = parse_json(*texts.begin(), "p.json");
  return profile_from_json(JsonView(json, "p.json"));
}

Platform both_kinds() {
  std::vector<Device> devices(kRanks);
  const char* const names[] = {"gpu0", "cpu0", "gpu1"};
  for (std::size_t i = 0; i < kRanks; ++i) {
    devices[i].name = names[i];
    devices[i].kind = std::string(names[i]).substr(0, 3);
    devices[i].threads = devices[i].kind == "cpu" ? 1 : 0;
    devices[i].streams = 2;
  }
  return Platform(std::move(devices));
}

Schedule schedule_by(const char* name, const CostModel& costs) {
  const scheduler::Algorithm& algorithm = scheduler::built_in().find(name);
  return algorithm.run(scheduler::Problem(costs), Options(algorithm.options), {}).schedule;
}

TEST(MixedProfile, HasTheStagesThatSchedulersNeed) {
  const Network network = fake_network(40, 11);
  const std::vector<std::string> algorithms = {"ios", "hios-lp", "hios-mr"};
  const Profile profile = profile_of(network, algorithms);
  ASSERT_EQ(profile.configurations.size(), 2u);
  for (const Configuration& each : profile.configurations) EXPECT_FALSE(each.stages.empty());
  const Platform platform = both_kinds();
  EXPECT_TRUE(
      wanted_stages(network.coarse.graph, platform, profile, scheduler::built_in(), algorithms, 60)
          .empty());
  const CostModel costs = CostModel::from_profile(network.coarse.graph, platform, profile);
  const Schedule schedule = schedule_by("hios-lp", costs);
  EXPECT_TRUE(wanted_stages(network.coarse.graph, platform, profile, schedule).empty());
}

TEST(MixedProfile, IsScheduledAndRun) {
  Network network = fake_network(20, 7);
  const Profile profile = profile_of(network, {"hios-lp"});
  const Graph& graph = network.coarse.graph;
  const Platform platform = both_kinds();
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  ScheduleFile file;
  file.devices.assign(platform.devices().begin(), platform.devices().end());
  file.schedule = schedule_by("hios-lp", costs);
  ASSERT_TRUE(validate(graph, platform, file.schedule).empty());

  test::FakeBackend oracle;
  SeededSource source(0);
  const auto expected = test::evaluate_alone(network.coarse, network.model, oracle, source);
  const job::RunInputs inputs{.network = network, .schedule = file, .profile = profile};
  std::mutex mutex;
  std::map<OpId, std::vector<float>> outputs;
  test::run_fake_job({.backends = kMixed}, [&](mpi::Transport& transport) {
    job::RunOptions options;
    set_ranks(options.ranks);
    options.protocol = {.warmup = 0, .iterations = 1};
    const job::RunResults results = job::run(transport, inputs, options, 0);
    ASSERT_TRUE(results.predicted);
    const std::lock_guard lock(mutex);
    for (const auto& [op, values] : results.outputs) outputs[op] = values;
  });
  ASSERT_FALSE(outputs.empty());
  for (const auto& [op, values] : outputs)
    EXPECT_EQ(values, test::as_floats(expected[op.index()], Precision::kFp32));
}

}  // namespace
}  // namespace hios::cli
