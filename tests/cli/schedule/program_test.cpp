#include "cli/schedule/program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/networks/networks.h"
#include "hios/profile/profile_json.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "support/networks/made_up_profile.h"
#include "support/programs/temporary_folder.h"

// A program with an own scheduler has all of hios-schedule for it.

namespace hios::cli {
namespace {

using scheduler::Algorithm;
using scheduler::Registry;
using scheduler::ScheduleResult;

/// Schedules all operators on the device that an option names.
ScheduleResult schedule_on_one(const scheduler::Problem& problem, const Options& options,
                               const scheduler::Context& context) {
  const Platform& platform = problem.platform();
  const auto device = static_cast<std::size_t>(options.integer("device"));
  if (device >= platform.size()) throw InputError("on-one: there is no such device");
  return scheduler::complete(
      scheduler::on_one_device(platform, DeviceId(device), scheduler::sequential(problem.graph())),
      Outcome::kFeasible, problem, options, context);
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

struct ProgramEnd {
  int status = 0;
  std::string out, err;
};

ProgramEnd run(const Registry& registry, std::vector<const char*> words) {
  words.insert(words.begin(), "hios-schedule");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ProgramEnd ended;
  ended.status = schedule_program(static_cast<int>(words.size()), words.data(), registry);
  ended.out = testing::internal::GetCapturedStdout();
  ended.err = testing::internal::GetCapturedStderr();
  return ended;
}

constexpr const char* kNetwork = "n=20,edges=30,layers=5,seed=3";

TEST(ScheduleProgram, ListsASchedulerOfOnesOwn) {
  const ProgramEnd ended = run(with_own(), {"--list-algorithms"});
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
  const ProgramEnd ended =
      run(with_own(), {"--random", kNetwork, "--compare", "--option", "device=1", "--time-limit",
                       "0.2", "--json", json.c_str()});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json written = read_json(json);
  const auto listed = scheduler::built_in().all();
  const auto for_latency =
      std::ranges::count(listed, Objective::kLatency, &scheduler::Algorithm::objective);
  ASSERT_EQ(written["comparison"].size(), static_cast<std::size_t>(for_latency) + 1);
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
  const ProgramEnd ended =
      run(with_own(), {"--random", kNetwork, "--algorithm", "on-one", "--output", file.c_str()});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const ProgramEnd checked = run(with_own(), {"--random", kNetwork, "--check", file.c_str()});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE(checked.out.find("valid, on-one"), std::string::npos) << checked.out;
}

TEST(ScheduleProgram, RefusesBadInputInOneLine) {
  const ProgramEnd unknown =
      run(scheduler::built_in(), {"--random", kNetwork, "--algorithm", "on-one"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err.find("error: no algorithm is called on-one"), 0u) << unknown.err;
  const ProgramEnd refused =
      run(with_own(), {"--random", kNetwork, "--algorithm", "on-one", "--option", "device=7"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "error: on-one: there is no such device\n");
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns the schedule file that these words make; `out`: the program's output.
Json planned(std::vector<const char*> words, std::string* out = nullptr) {
  test::TemporaryFolder folder;
  const std::string file = (folder / "s.json").string();
  words.insert(words.end(), {"--output", file.c_str()});
  const ProgramEnd ended = run(scheduler::built_in(), words);
  EXPECT_EQ(ended.status, 0) << ended.err;
  if (out) *out = ended.out;
  return ended.status == 0 ? read_json(file) : Json();
}

TEST(ScheduleProgram, PlansWithHiosOrBestByDefault) {
  EXPECT_EQ(planned({"--random", kNetwork})["algorithm"], "hios");
  EXPECT_EQ(planned({"--random", kNetwork, "--objective", "throughput", "--option",
                     "iterations=100"})["algorithm"],
            "best");
}

TEST(ScheduleProgram, AGraphWithStageCostsHasEightStreamsByDefault) {
  std::string out;
  const Json schedule = planned({"--random", kNetwork, "--algorithm", "hios-lp"}, &out);
  for (const Json& device : schedule["devices"]) EXPECT_EQ(device["streams"], 8);
  EXPECT_FALSE(holds(out, "one stream: ")) << out;
  const Json serial =
      planned({"--random", kNetwork, "--algorithm", "hios-lp", "--streams", "1"}, &out);
  for (const Json& device : serial["devices"]) EXPECT_EQ(device["streams"], 1);
  EXPECT_TRUE(holds(out, "\ndevices have one stream: ")) << out;
  EXPECT_TRUE(
      holds(out, ": no operators run at the same time there, and hios-lp plans as inter-lp ("))
      << out;
  planned({"--random", kNetwork, "--algorithm", "inter-lp", "--streams", "1"}, &out);
  EXPECT_TRUE(holds(out, ": no operators run at the same time there ("))
      << "it never groups: " << out;
  const ProgramEnd compared =
      run(scheduler::built_in(),
          {"--random", kNetwork, "--compare", "--algorithm", "hios-mr", "--streams", "1"});
  EXPECT_TRUE(holds(compared.out, "there, and ios plans as sequential, hios-mr as inter-mr ("))
      << compared.out;
}

TEST(ScheduleProgram, AGraphFileWithoutStageCostsHasOneStreamInTheTable) {
  test::TemporaryFolder folder;
  const std::string graph = (folder / "g.json").string();
  Json written = {{"format", "hios-graph"},
                  {"version", 1},
                  {"name", "two"},
                  {"operators", {{{"name", "a"}, {"time_ms", 1}}, {{"name", "b"}, {"time_ms", 1}}}},
                  {"edges", Json::array()}};
  write_json(graph, written, Existing::kReplace);
  std::string out;
  Json schedule = planned({"--graph", graph.c_str(), "--algorithm", "ios"}, &out);
  EXPECT_EQ(schedule["devices"][0]["streams"], 1);
  EXPECT_TRUE(holds(out, "\ndevices have one stream: ")) << out;
  planned({"--graph", graph.c_str(), "--algorithm", "ios", "--devices", "1"}, &out);
  EXPECT_TRUE(holds(out, "\nthe device has one stream: ")) << out;
  written["stage_cost"] = {{"kind", "overlap"}, {"weight", 0.5}};
  write_json(graph, written, Existing::kReplace);
  schedule = planned({"--graph", graph.c_str(), "--algorithm", "ios"}, &out);
  EXPECT_EQ(schedule["devices"][0]["streams"], 8);
  EXPECT_FALSE(holds(out, "one stream: ")) << out;
}

TEST(ScheduleProgram, AProfileOfTwoRanksPlansForFour) {
  test::TemporaryFolder folder;
  const std::string profile = (folder / "p.json").string();
  const CoarseGraph coarse = coarsen(models::find("squeezenet")->build(1, 48, 48));
  write_json(profile, to_json(test::made_up_profile(coarse.graph, 2)), Existing::kReplace);
  const std::vector<const char*> words = {"--model",     "squeezenet",    "--height",  "48",
                                          "--profile",   profile.c_str(), "--devices", "4",
                                          "--algorithm", "hios-lp"};
  const ProgramEnd refused = run(scheduler::built_in(), words);
  EXPECT_EQ(refused.status, 2);
  for (const char* part : {"no configuration for cpu0", "hios-profile", "--extrapolate-ranks"}) {
    EXPECT_TRUE(holds(refused.err, part)) << part << " in " << refused.err;
  }
  std::vector<const char*> asked = words;
  asked.push_back("--extrapolate-ranks");
  std::string out;
  const Json schedule = planned(asked, &out);
  EXPECT_EQ(schedule["devices"].size(), 4u);
  EXPECT_EQ(schedule["predicted"]["measured_ranks"], 2);
  EXPECT_EQ(schedule["extra"]["seed"], 0);
  EXPECT_TRUE(holds(out, "\ncosts were measured with 2 ranks")) << out;
  const std::string file = (folder / "four.json").string();
  write_json(file, schedule, Existing::kReplace);
  const ProgramEnd checked =
      run(scheduler::built_in(), {"--model", "squeezenet", "--height", "48", "--profile",
                                  profile.c_str(), "--extrapolate-ranks", "--check", file.c_str()});
  EXPECT_EQ(checked.status, 0) << checked.err;
  for (const char* note : {"\ncosts were measured with 2 ranks and stand in for those of 4",
                           "\ndevices have one stream: ", "hios-lp plans as inter-lp"}) {
    EXPECT_TRUE(holds(checked.out, note)) << note << " in " << checked.out;
  }
  asked[7] = "2";  // as many as measured: no remark
  EXPECT_FALSE(planned(asked, &out)["predicted"].contains("measured_ranks"));
  EXPECT_FALSE(holds(out, "stand in")) << out;
  const ProgramEnd alone = run(scheduler::built_in(), {"--random", kNetwork, "--algorithm",
                                                       "hios-lp", "--extrapolate-ranks"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_TRUE(holds(alone.err, "--profile")) << alone.err;
}

}  // namespace
}  // namespace hios::cli
