// Loads and operators in place, measured by whole profile jobs on the CPU's backend.
#include "engine/measure/loads/loads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/cold/packed_parameters.h"
#include "engine/job/profile_job.h"
#include "engine/job/small_job.h"
#include "engine/measure/loads/load_run.h"
#include "hios/base/files/direct_file.h"
#include "hios/profile/profile_json.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

ProfileOptions cold_profile_options() {
  ProfileOptions options;
  options.ranks.backends = {"cpu"};
  options.ranks.share_cores = true;
  options.protocol = {.warmup = 1, .iterations = 3};
  options.largest_message = Bytes{1} << 12;
  options.cold_start = true;
  return options;
}

/// Writes the parameters of the small network as the CPU's backend computes with them.
void pack(const std::filesystem::path& file) {
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const Network network(small_model());
    RunInputs inputs{.network = network,
                     .schedule = schedule_in_order(
                         network, {.name = "cpu0", .kind = "cpu", .host = ""}, Merge::kNone)};
    Watch watch(transport, 0);
    const RunOptions options = options_with({"cpu"});
    RunJob(watch, inputs, options).write_packed_parameters(file, {}, Existing::kRefuse);
  });
}

/// Returns the profile of so many ranks, the same on all of them.
Profile cold_profile(std::size_t ranks, const ProfileOptions& options, const Profile& known = {}) {
  std::mutex mutex;
  std::set<std::string> texts;
  const Network network(small_model());
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    ProfileJob job(watch, network, known, options);
    EXPECT_EQ(job.measure(), Ended::kComplete);
    const std::lock_guard lock(mutex);
    texts.insert(to_json(job.profile()).dump());
  });
  EXPECT_EQ(texts.size(), 1u) << "ranks hold different profiles";
  const Json json = Json::parse(*texts.begin());
  test::expect_meets_schema(json);
  return profile_from_json(JsonView(json, "p.json"));
}

TEST(LoadsOfAll, AreInTheOrderOfUseAndOncePerSet) {
  std::vector<Operator> operators(3);
  for (std::size_t i = 0; i < 3; ++i) {
    operators[i].name = "v" + std::to_string(i);
    operators[i].parameter_bytes = 100;
  }
  operators[0].parameters = operators[2].parameters = "shared";
  const Graph graph("shared", std::move(operators), {{OpId(1), OpId(0), 0, {}}});
  const std::vector<PlannedLoad> loads = loads_of_all(graph, StoreId(3));
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].readers, std::vector<OpId>{OpId(1)});
  EXPECT_EQ(loads[1].readers, (std::vector<OpId>{OpId(0), OpId(2)}));
  EXPECT_EQ(loads[1].size_bytes, 100u);
  EXPECT_EQ(loads[1].index, 1u);
  EXPECT_EQ(loads[1].store, StoreId(3));
}

TEST(ColdProfile, HasLoadsAndOperatorsInPlace) {
  for (const std::size_t ranks : {1u, 2u}) {
    SCOPED_TRACE(ranks);
    const Profile profile = cold_profile(ranks, cold_profile_options());
    const Configuration& measured = profile.configurations.front();
    ASSERT_EQ(measured.loads.size(), 1u);
    const MeasuredLoads& loads = measured.loads.at(StoreKind::kMemory);
    EXPECT_GT(loads.gb_per_s, 0);
    EXPECT_LE(loads.together_gb_per_s, loads.gb_per_s);
    EXPECT_GE(loads.slowdown, 1);
    EXPECT_GE(loads.load_slowdown, 1);
    EXPECT_EQ(loads.samples, static_cast<std::int64_t>(3 * ranks));
    EXPECT_EQ(measured.protocol->at("loads").at("network"), "small");
    const Network network(small_model());
    for (const Operator& op : network.coarse.graph.operators()) {
      const auto found = measured.in_place.find(op.signature);
      ASSERT_EQ(found != measured.in_place.end(), op.parameter_bytes > 0) << op.name;
      if (op.parameter_bytes == 0) continue;
      EXPECT_EQ(found->second.size_bytes, op.parameter_bytes);
      EXPECT_GT(found->second.ms, 0);
    }
    EXPECT_EQ(loads.network, "small");
    const Profile again = cold_profile(ranks, cold_profile_options(), profile);
    EXPECT_EQ(again.configurations.front().loads, measured.loads) << "nothing is measured twice";
    Profile other = profile;
    other.configurations.front().loads.at(StoreKind::kMemory).network = "other";
    other.configurations.front().loads.at(StoreKind::kMemory).samples = 99;
    const Profile replaced = cold_profile(ranks, cold_profile_options(), other);
    const MeasuredLoads& own = replaced.configurations.front().loads.at(StoreKind::kMemory);
    EXPECT_EQ(own.network, "small");
    EXPECT_EQ(own.samples, loads.samples) << "another network's loads are replaced";
  }
}

// A container's folder may be memory: then there is no disk, and no claim about one.
TEST(ColdProfile, ReadsADiskIfThereIsOne) {
  const test::TemporaryFolder folder;
  ProfileOptions options = cold_profile_options();
  options.packed_weights = folder / "w.packed";
  pack(options.packed_weights);
  const DirectFile file(options.packed_weights);
  file.drop_cached();
  const bool on_disk = file.cached_bytes() == 0;
  const Profile profile = cold_profile(1, options);
  const auto& loads = profile.configurations.front().loads;
  EXPECT_EQ(loads.contains(StoreKind::kDisk), on_disk);
  EXPECT_TRUE(loads.contains(StoreKind::kMemory));
  if (on_disk) {
    EXPECT_GT(loads.at(StoreKind::kDisk).gb_per_s, 0);
  }
}

TEST(ColdProfile, MemoryIsNoDisk) {
  const std::filesystem::path memory = "/dev/shm";
  if (!std::filesystem::is_directory(memory)) GTEST_SKIP() << "no file system in memory";
  ProfileOptions options = cold_profile_options();
  const test::TemporaryFolder folder(memory);
  options.packed_weights = folder / "w.packed";
  pack(options.packed_weights);
  const Profile profile = cold_profile(1, options);
  EXPECT_FALSE(profile.configurations.front().loads.contains(StoreKind::kDisk));
  EXPECT_FALSE(profile.configurations.front().in_place.empty());
}

/// Returns what is left of a profile where measuring stops at the moment of this number.
Profile stopped_at(int moment, const Profile& known, bool& whole) {
  const Network network(small_model());
  Profile left;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    int asked = 0;
    ProfileOptions stopping = cold_profile_options();
    stopping.protocol.iterations = 1;
    stopping.protocol.stop = [&] { return ++asked >= moment; };
    Watch watch(transport, 0);
    ProfileJob job(watch, network, known, stopping);
    whole = job.measure() == Ended::kComplete;
    left.configurations.push_back(*job.configurations().front());
  });
  return left;
}

// At each moment of the measuring: what was not complete is left out.
TEST(ColdProfile, StoppedAnywhereItKeepsWhatIsComplete) {
  bool whole = false, without_loads = false;
  for (int stop_at = 1; !whole; ++stop_at) {
    ASSERT_LT(stop_at, 60);
    const Profile left = stopped_at(stop_at, {}, whole);
    const Configuration& measured = left.configurations.front();
    without_loads = without_loads || measured.loads.empty();
    EXPECT_LE(measured.in_place.size(), 3u);
    EXPECT_TRUE(measured.in_place.empty() || !measured.loads.empty());
  }
  EXPECT_TRUE(without_loads);
}

// Loads of another network stay theirs until those of this one are complete.
TEST(ColdProfile, StoppedAnywhereItSaysWhoseTheLoadsAre) {
  Profile known = cold_profile(1, cold_profile_options());
  Configuration& before = known.configurations.front();
  before.loads.at(StoreKind::kMemory).network = "other";
  before.loads.at(StoreKind::kMemory).samples = 99;
  before.protocol["loads"] = {{"network", "other"}};
  bool whole = false, kept = false;
  for (int stop_at = 1; !whole; ++stop_at) {
    ASSERT_LT(stop_at, 60);
    const Profile left = stopped_at(stop_at, known, whole);
    const Configuration& measured = left.configurations.front();
    const MeasuredLoads& loads = measured.loads.at(StoreKind::kMemory);
    EXPECT_EQ(loads.network, loads.samples == 99 ? "other" : "small");
    EXPECT_EQ(measured.protocol->at("loads").at("network"), loads.network);
    kept = kept || loads.samples == 99;
  }
  EXPECT_TRUE(kept);
}

TEST(ColdProfile, IsRefusedWhereNothingCanBeLoaded) {
  const auto refused = [](const Model& model, const char* backend, const char* text) {
    const Network network(model);
    ProfileOptions options = cold_profile_options();
    options.ranks.backends = {backend};
    test::run_ranks(1, [&](mpi::Transport& transport) {
      Watch watch(transport, 0);
      test::expect_error<InputError>([&] { ProfileJob(watch, network, {}, options); }, {text});
    });
  };
  refused(small_model(), "reference", "runs no cold starts");
  ModelBuilder b("bare", {1, 3, 9, 8});
  b.relu("relu", b.input());
  refused(std::move(b).build(), "cpu", "nothing to load");
}

}  // namespace
}  // namespace hios::job
