#include "cli/schedule/program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json_io.h"
#include "scheduler/algorithms/sequential.h"
#include "support/temporary_folder.h"

// A program with a scheduler of its own has all of hios-schedule for it.

namespace hios::cli {
namespace {

using scheduler::Algorithm;
using scheduler::Registry;
using scheduler::ScheduleResult;

/// All operators on the device that an option names.
ScheduleResult schedule_on_one(const Graph& graph, const CostModel& costs, const Platform& platform,
                               const Options& options, const scheduler::Context& context) {
  const auto device = static_cast<std::size_t>(options.integer("device"));
  if (device >= platform.size()) throw InputError("on-one: there is no such device");
  return scheduler::complete(
      scheduler::on_one_device(platform, DeviceId(device), scheduler::sequential(graph)),
      Outcome::kFeasible, graph, costs, options, context);
}

Registry with_own() {
  Registry registry = scheduler::built_in();
  registry.add({.name = "on-one",
                .description = "everything on the device of one's choice",
                .options = {{"device", std::int64_t{0}, 0, 99, "by its number"}},
                .run = schedule_on_one,
                .many_devices = false});
  return registry;
}

struct Ended {
  int status = 0;
  std::string out, err;
};

Ended run(const Registry& registry, std::vector<const char*> words) {
  words.insert(words.begin(), "hios-schedule");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ended ended;
  ended.status = schedule_program(static_cast<int>(words.size()), words.data(), registry);
  ended.out = testing::internal::GetCapturedStdout();
  ended.err = testing::internal::GetCapturedStderr();
  return ended;
}

constexpr const char* kNetwork = "n=20,edges=30,layers=5,seed=3";

TEST(ScheduleProgram, ListsASchedulerOfOnesOwn) {
  const Ended ended = run(with_own(), {"--list-algorithms"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* part : {"on-one", "one's choice", "device=0", "hios-lp"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << " in " << ended.out;
  }
  EXPECT_EQ(run(scheduler::built_in(), {"--list-algorithms"}).out.find("on-one"),
            std::string::npos);
}

TEST(ScheduleProgram, ComparesASchedulerOfOnesOwnWithTheOthers) {
  test::TemporaryFolder folder;
  const std::string json = (folder / "c.json").string();
  const Ended ended = run(with_own(), {"--random", kNetwork, "--compare", "--option", "device=1",
                                       "--time-limit", "0.2", "--json", json.c_str()});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json written = read_json(json);
  ASSERT_EQ(written["comparison"].size(), scheduler::built_in().all().size() + 1);
  const Json& row = written["comparison"].back();
  EXPECT_EQ(row["algorithm"], "on-one");
  EXPECT_EQ(row["speedup_over_sequential"], 1.0);
  EXPECT_EQ(row["devices_used"], 1);
  const Json& schedule = written["schedules"].back();
  EXPECT_EQ(schedule["algorithm"], "on-one");
  EXPECT_EQ(schedule["options"], (Json{{"device", 1}}));
  EXPECT_TRUE(schedule["devices"][0]["stages"].empty());
}

TEST(ScheduleProgram, WritesAScheduleOfOnesOwn) {
  test::TemporaryFolder folder;
  const std::string file = (folder / "s.json").string();
  const Ended ended =
      run(with_own(), {"--random", kNetwork, "--algorithm", "on-one", "--output", file.c_str()});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Ended checked = run(with_own(), {"--random", kNetwork, "--check", file.c_str()});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE(checked.out.find("valid, on-one"), std::string::npos) << checked.out;
}

TEST(ScheduleProgram, SaysInOneLineWhatIsWrong) {
  const Ended unknown = run(scheduler::built_in(), {"--random", kNetwork, "--algorithm", "on-one"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err.find("error: no algorithm is called on-one"), 0u) << unknown.err;
  const Ended refused =
      run(with_own(), {"--random", kNetwork, "--algorithm", "on-one", "--option", "device=7"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "error: on-one: there is no such device\n");
}

}  // namespace
}  // namespace hios::cli
