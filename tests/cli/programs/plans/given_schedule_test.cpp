// A schedule from elsewhere as a row of the comparison: --check FILE --compare.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class GivenRow : public testing::Test {
 protected:
  GivenRow() {
    const auto done = hios_schedule(
        kProblem + Words{"--devices", "3", "--algorithm", "hios-lp", "--output", file("own.json")});
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }
  ProcessResult compare(const Words& more) const {
    return hios_schedule(kProblem +
                         Words{"--check", file("own.json"), "--compare", "--algorithm", "hios-lp",
                               "--json", file("c.json"), "--force"} +
                         more);
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  const Words kProblem = {"--random", "n=40,edges=60,layers=5,seed=2", "--time-limit", "1"};
  TestFolder folder_;
};

TEST_F(GivenRow, StandsNextToTheOthersAndIsMarked) {
  const auto done = compare({"--csv", file("c.csv")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json results = read(file("c.json"));
  expect_meets_schema(results);
  const Json& rows = results["comparison"];
  ASSERT_EQ(rows.size(), 4u) << "sequential, ios, hios-lp and the given one";
  const Json &ours = rows[2], &given = rows[3];
  EXPECT_EQ(given["given"], file("own.json"));
  EXPECT_EQ(given["algorithm"], "hios-lp");
  EXPECT_FALSE(ours.contains("given"));
  for (const char* same : {"latency_ms", "lower_bound_ms", "gap", "devices", "devices_used",
                           "waiting_share", "speedup_over_ios"}) {
    EXPECT_EQ(given[same], ours[same]) << same;
  }
  EXPECT_EQ(given["devices"], 3) << "those of its file";
  EXPECT_EQ(results["schedules"][3]["devices"], read(file("own.json"))["devices"]);
  EXPECT_FALSE(lines_with(done.out, "hios-lp (given)").empty()) << done.out;
  EXPECT_EQ(lines_with(content_of(file("c.csv")), "," + file("own.json") + ",").size(), 1u);
}

TEST_F(GivenRow, HasTheNameOfItsFileWithoutAnAlgorithm) {
  Json own = read(file("own.json"));
  for (const char* key : {"algorithm", "options", "outcome", "seconds", "predicted", "objective"})
    own.erase(key);
  folder_.write("own.json", own.dump());
  ASSERT_EQ(compare({}).exit_status, 0);
  EXPECT_EQ(read(file("c.json"))["comparison"][3]["algorithm"], file("own.json"));
}

TEST_F(GivenRow, IsNoBaselineOfSpeedups) {
  ASSERT_EQ(hios_schedule(kProblem + Words{"--devices", "3", "--algorithm", "hios-mr", "--output",
                                           file("own.json"), "--force"})
                .exit_status,
            0);
  Json own = read(file("own.json"));
  own["algorithm"] = "sequential";
  folder_.write("own.json", own.dump());
  ASSERT_EQ(compare({}).exit_status, 0);
  const Json rows = read(file("c.json"))["comparison"];
  EXPECT_EQ(rows[0]["speedup_over_sequential"], 1.0);
  EXPECT_GT(rows[3]["speedup_over_sequential"], 1.0);
}

TEST_F(GivenRow, IsCheckedBeforeAnythingIsPlanned) {
  Json own = read(file("own.json"));
  auto& first = own["devices"][0]["stages"];
  ASSERT_GT(first.size(), 1u);
  std::swap(first.front(), first.back());
  folder_.write("own.json", own.dump());
  const auto done = compare({});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_FALSE(lines_with(done.out, file("own.json") + ": ").empty()) << done.out;
  EXPECT_EQ(folder_.files(), Words{"own.json"});
  EXPECT_TRUE(lines_with(done.out, "sequential").empty()) << done.out;
}

TEST_F(GivenRow, BelongsToItsNumberOfDevices) {
  const auto done = compare({"--devices", "2,3"});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json rows = read(file("c.json"))["comparison"];
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[6]["devices"], 3);
  EXPECT_TRUE(rows[6].contains("given"));
  const auto none = compare({"--devices", "2,4"});
  EXPECT_EQ(none.exit_status, 2);
  EXPECT_EQ(
      lines_with(none.err, "the schedule has 3 devices, and --devices lists other numbers").size(),
      1u)
      << none.err;
  const auto other = compare({"--devices", "2"});
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_EQ(lines_with(other.err, "the schedule has 3 devices").size(), 1u) << other.err;
}

TEST_F(GivenRow, IsComparedByItsPeriod) {
  const auto done = compare({"--objective", "throughput"});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json results = read(file("c.json"));
  expect_meets_schema(results);
  const Json* given = nullptr;
  for (const Json& row : results["comparison"]) {
    if (row.contains("given")) given = &row;
  }
  ASSERT_NE(given, nullptr);
  EXPECT_GT((*given)["period_ms"].get<double>(), 0);
  EXPECT_LE((*given)["lower_bound_ms"], (*given)["period_ms"]);
}

}  // namespace
}  // namespace hios::test
