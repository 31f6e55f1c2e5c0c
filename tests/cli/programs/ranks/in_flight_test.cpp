// hios-run with many inferences in flight: its measurements, files and refusals, and its end when a
// rank hangs or is killed.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/model/networks/networks.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class InFlight : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  /// A schedule with transfers in both directions.
  void schedule_on(std::size_t devices, std::uint64_t seed = 3) const {
    folder_.write("s.json", random_schedule_text(models::squeezenet(1, 64, 64), devices, seed));
  }

  ProcessResult run(std::size_t ranks, const Words& flags) const {
    return hios_run(ranks, model_ + flags, {.limit_s = 300});
  }

  const Words model_ = {"--model", "squeezenet", "--height", "64"};
  TestFolder folder_;
};

#ifdef HIOS_MPIEXEC
TEST_F(InFlight, EveryInputGivesTheBitsOfOneRank) {
  schedule_on(3);
  for (const std::string places : {"1", "3"}) {
    SCOPED_TRACE(places);
    const auto done = run(3, {"--schedule", file("s.json"), "--inferences", "50", "--in-flight",
                              places, "--verify", "--json", file("r.json"), "--csv", file("r.csv"),
                              "--trace", file("t.json"), "--outputs", file("outputs"), "--force"});
    ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
    const Json report = read(file("r.json"));
    expect_meets_schema(report);
    EXPECT_TRUE(report["verified"]["passed"]);
    EXPECT_TRUE(report["verified"]["bitwise"]);
    const Json& many = report["throughput"];
    EXPECT_EQ(std::to_string(many["in_flight"].get<int>()), places);
    EXPECT_EQ(many["distinct_inputs"], many["in_flight"].get<int>() + 1);
    EXPECT_EQ(report["verified"]["operators"], many["distinct_inputs"]) << "one output each";
    EXPECT_GE(many["inferences"], 50);
    EXPECT_EQ(many["unlike"], 0);
    EXPECT_NEAR(many["per_second"].get<double>() * many["period_ms"]["mean"].get<double>(), 1000,
                1e-6);
    ASSERT_EQ(many["ranks"].size(), 3u);
    for (const Json& rank : many["ranks"]) EXPECT_GT(rank["computing_ms"], 0);
    EXPECT_EQ(many["predicted_period_ms"], nullptr);
    std::size_t slices = 0;
    const Json trace = read(file("t.json"));
    for (const Json& event : trace["traceEvents"]) slices += event["ph"] == "X" ? 1 : 0;
    EXPECT_GT(slices, 6u);
  }
}

TEST_F(InFlight, CopiesTakeInferencesByTurns) {
  schedule_on(2);
  const auto two_of_two =
      run(4, {"--schedule", file("s.json"), "--copies", "2", "--verify", "--json", file("r.json")});
  ASSERT_EQ(two_of_two.exit_status, 0) << two_of_two.out << two_of_two.err;
  const Json report = read(file("r.json"));
  expect_meets_schema(report);
  EXPECT_EQ(report["throughput"]["copies"], 2);
  EXPECT_EQ(report["throughput"]["ranks"].size(), 4u);
  EXPECT_TRUE(report["verified"]["bitwise"]);
  EXPECT_EQ(report["verified"]["operators"].get<std::size_t>(),
            2 * report["throughput"]["distinct_inputs"].get<std::size_t>())
      << "every copy meets every input";
  const auto alone = run(2, {"--copies", "2", "--inferences", "20", "--verify"});
  EXPECT_EQ(alone.exit_status, 0) << alone.out << alone.err;
}

TEST_F(InFlight, ReportsThePredictedPeriodNextToTheMeasuredOne) {
  const auto measured = hios_profile(
      2, model_ + Words{"--output", file("p.json"), "--warmup", "1", "--iterations", "2"});
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const auto planned =
      hios_schedule(model_ + Words{"--profile", file("p.json"), "--devices", "2", "--objective",
                                   "throughput", "--algorithm", "slice-graph", "--time-limit", "1",
                                   "--output", file("s.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const auto with_profile = run(2, {"--schedule", file("s.json"), "--profile", file("p.json"),
                                    "--inferences", "30", "--json", file("r.json")});
  ASSERT_EQ(with_profile.exit_status, 0) << with_profile.out << with_profile.err;
  const Json report = read(file("r.json"));
  const Json schedule = read(file("s.json"));
  const double planned_ms = schedule["predicted"]["period_ms"];
  EXPECT_NEAR(report["throughput"]["predicted_period_ms"].get<double>(), planned_ms,
              0.011 * planned_ms);
  EXPECT_EQ(report["throughput"]["in_flight"], schedule["predicted"]["in_flight"]);
  const auto without =
      run(2, {"--schedule", file("s.json"), "--inferences", "30", "--json", file("r2.json")});
  ASSERT_EQ(without.exit_status, 0) << without.out << without.err;
  EXPECT_EQ(read(file("r2.json"))["throughput"]["predicted_period_ms"],
            schedule["predicted"]["period_ms"]);
  const auto one = run(2, {"--schedule", file("s.json"), "--iterations", "3"});
  EXPECT_EQ(one.exit_status, 0) << one.err;
  EXPECT_NE(one.err.find("--inferences keeps many in flight"), std::string::npos) << one.err;
}

TEST_F(InFlight, SchedulesThatDoNotFitTheRanksAreRefused) {
  schedule_on(2);
  const auto three = run(3, {"--schedule", file("s.json"), "--copies", "2"});
  EXPECT_EQ(three.exit_status, 2);
  EXPECT_NE(three.err.find("the schedule, of 2 copies, has 2 devices and the job 3 ranks"),
            std::string::npos)
      << three.err;
  const auto no_schedule = run(2, {"--copies", "3"});
  EXPECT_EQ(no_schedule.exit_status, 2);
  EXPECT_NE(no_schedule.err.find("--schedule FILE is needed"), std::string::npos)
      << no_schedule.err;
}

TEST_F(InFlight, BuffersBeyondADevicesMemoryAreRefused) {
  Json schedule = Json::parse(random_schedule_text(models::squeezenet(1, 64, 64), 2, 3));
  for (Json& device : schedule["devices"]) device["memory_bytes"] = 40'000'000;
  folder_.write("s.json", schedule.dump());
  EXPECT_EQ(run(2, {"--schedule", file("s.json"), "--inferences", "10"}).exit_status, 0);
  const auto many = run(2, {"--schedule", file("s.json"), "--in-flight", "500"});
  EXPECT_EQ(many.exit_status, 2) << many.out;
  EXPECT_NE(many.err.find("memory_bytes"), std::string::npos) << many.err;
}

/// Runs the network on two ranks; rank 1 gets the signal some seconds after the start of measuring,
/// when it has a thread for requests to stop.
struct Struck {
  std::string signal;
  int delay_s;
  std::string timeout_s;

  ProcessResult run(const Words& flags) const {
    const std::string script =
        std::string("if [ ") + kRankInShell +
        " = 1 ]; then (while kill -0 $$ && ! grep -qs '^stop-request$' /proc/$$/task/*/comm; do "
        "sleep 0.1; done; sleep " +
        std::to_string(delay_s) + "; kill -" + signal + " $$) >/dev/null 2>&1 &\nfi; exec \"$@\"";
    return run_mpi(
        2,
        Words{"/bin/sh", "-c", script, "sh", HIOS_BIN_DIR "/hios-run"} + flags +
            Words{"--inferences", "100000000", "--timeout", timeout_s, "--oversubscribe"},
        {.limit_s = 300});
  }
};

/// On a busy machine a rank may still be setting up, or MPI starting.
constexpr std::pair<int, const char*> kDelaysAndTimeouts[] = {{2, "6"}, {8, "20"}, {30, "60"}};

TEST_F(InFlight, AStoppedRankIsNamedByAllThatWaitForIt) {
  schedule_on(2);
  bool says = false;
  ProcessResult done;
  for (const auto& [delay_s, timeout_s] : kDelaysAndTimeouts) {
    done = Struck{"STOP", delay_s, timeout_s}.run(model_ + Words{"--schedule", file("s.json")});
    EXPECT_FALSE(done.timed_out) << done.err;
    EXPECT_NE(done.exit_status, 0);
    says = !lines_with(done.err, "rank 0 on ").empty() &&
           (done.err.find("inference ") != std::string::npos ||
            done.err.find("between two iterations") != std::string::npos);
    if (says) break;
  }
  EXPECT_TRUE(says) << done.err;
}

TEST_F(InFlight, AKilledRankIsNamedWithItsIteration) {
  schedule_on(2);
  bool says = false;
  ProcessResult done;
  for (const auto& [delay_s, timeout_s] : kDelaysAndTimeouts) {
    done = Struck{"KILL", delay_s, "60"}.run(model_ + Words{"--schedule", file("s.json")});
    EXPECT_FALSE(done.timed_out) << done.err;
    EXPECT_NE(done.exit_status, 0);
    const auto lines = lines_with(done.err, "error: rank 1 on ");  // the launcher names it, too
    ASSERT_FALSE(lines.empty()) << done.err;
    says = lines.front().find("iteration") != std::string::npos;
    if (says) break;
  }
  EXPECT_TRUE(says) << done.err;
}
#endif

TEST_F(InFlight, OneRankRunsManyToo) {
  const auto done = run(1, {"--inferences", "20", "--verify", "--json", file("r.json")});
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  const Json report = read(file("r.json"));
  expect_meets_schema(report);
  EXPECT_EQ(report["throughput"]["in_flight"], 2);
  EXPECT_EQ(report["stages"][0]["measured_start_ms"], nullptr);
}

TEST_F(InFlight, MoreThanAMachineHoldsIsRefusedBeforeItIsMade) {
  const auto refused = hios_run(1, {"--model", "squeezenet", "--batch", "16", "--inferences", "2",
                                    "--distinct-inputs", "65536"});
  EXPECT_EQ(refused.exit_status, 2) << refused.out << refused.err;
  for (const char* part : {"the largest tensors are 65537 inputs 588.0 GiB (16x3x224x224)",
                           "fewer --in-flight, --distinct-inputs or --copies"}) {
    EXPECT_NE(refused.err.find(part), std::string::npos) << refused.err;
  }
}

TEST_F(InFlight, FlagsOfOneInferenceAtATimeAreRefused) {
  for (const Words& more :
       {Words{"--iterations", "5"}, Words{"--layers"}, Words{"--verify=operators"}}) {
    const auto refused = run(1, Words{"--inferences", "20"} + more);
    EXPECT_EQ(refused.exit_status, 2) << more.front();
    EXPECT_NE(refused.err.find("one inference at a time"), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace hios::test
