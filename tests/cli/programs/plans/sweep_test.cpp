// Several numbers of devices in one command: --devices 2,4,8.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class Sweep : public testing::Test {
 protected:
  ProcessResult sweep(const Words& more) const {
    return hios_schedule(Words{"--random", "n=40,edges=60,layers=5,seed=2", "--time-limit", "1"} +
                         more);
  }
  void expect_refused(const Words& more, const std::string& message) const {
    const auto done = sweep(more);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << done.err;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  TestFolder folder_;
};

TEST_F(Sweep, OneTableHasARowForEachNumberAndAlgorithm) {
  const auto done = sweep({"--devices", "4,2", "--compare", "--algorithm", "hios-lp", "--json",
                           file("c.json"), "--csv", file("c.csv")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json results = read(file("c.json"));
  expect_meets_schema(results);
  const Json& rows = results["comparison"];
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(results["devices"].size(), 4u) << "of the most";
  EXPECT_EQ(results["schedules"].size(), 6u);
  const Words algorithms = {"sequential", "ios", "hios-lp"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["algorithm"], algorithms[i % 3]);
    EXPECT_EQ(rows[i]["devices"], i < 3 ? 4 : 2) << "in the order of the flag";
    EXPECT_EQ(results["schedules"][i]["devices"].size(), rows[i]["devices"]);
    const double sequential_ms = rows[i < 3 ? 0 : 3]["latency_ms"];
    EXPECT_EQ(rows[i]["speedup_over_sequential"],
              sequential_ms / rows[i]["latency_ms"].get<double>());
  }
  EXPECT_LT(rows[2]["latency_ms"], rows[5]["latency_ms"]) << "four devices before two";
  EXPECT_FALSE(lines_with(done.out, "algorithm   devices  latency ms").empty()) << done.out;
  EXPECT_EQ(lines_with(content_of(file("c.csv")), "hios-lp,").size(), 2u);
}

/// A row is that of the number alone.
TEST_F(Sweep, EachRowIsThatOfItsNumberAlone) {
  ASSERT_EQ(
      sweep({"--devices", "2,3", "--algorithm", "heft", "--json", file("both.json")}).exit_status,
      0);
  ASSERT_EQ(
      sweep({"--devices", "3", "--algorithm", "heft", "--json", file("one.json")}).exit_status, 0);
  EXPECT_EQ(read(file("both.json"))["comparison"][1]["latency_ms"],
            read(file("one.json"))["comparison"][0]["latency_ms"]);
}

TEST_F(Sweep, EachNumberHasAScheduleOfItsOwn) {
  const auto done = sweep({"--devices", "2,3", "--algorithm", "inter-lp", "--output",
                           file("plan-{devices}.json"), "--timeline", file("{devices}.trace")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(folder_.files(), (Words{"2.trace", "3.trace", "plan-2.json", "plan-3.json"}));
  for (const std::size_t devices : {2u, 3u}) {
    const Json plan = read(file("plan-" + std::to_string(devices) + ".json"));
    expect_meets_schema(plan);
    EXPECT_EQ(plan["devices"].size(), devices);
  }
  expect_refused(
      {"--devices", "2,3", "--algorithm", "inter-lp", "--output", file("plan-{devices}.json")},
      "plan-2.json: exists; name another file or replace it with --force");
  const auto one =
      sweep({"--devices", "4", "--algorithm", "inter-lp", "--output", file("plan-{devices}.json")});
  EXPECT_EQ(one.exit_status, 0) << one.err;
  EXPECT_EQ(read(file("plan-4.json"))["devices"].size(), 4u);
}

TEST_F(Sweep, RefusesWhatIsOfOneNumber) {
  expect_refused({"--devices", "2,3", "--algorithm", "heft", "--output", file("s.json")},
                 "put {devices} into its name (plan-{devices}.json)");
  expect_refused({"--devices", "2,3", "--algorithm", "heft", "--output", "-"},
                 "--output - is one stream, and --devices 2,3 makes several plans");
  expect_refused({"--devices", "2,3", "--export-platform", file("p.json")},
                 "--export-platform writes one problem, and --devices 2,3 makes several");
  expect_refused({"--devices", "2,2", "--algorithm", "heft"}, "--devices names 2 twice");
  expect_refused({"--devices", "2,02", "--algorithm", "heft"}, "--devices names 02 twice");
  expect_refused({"--devices", "2,x", "--algorithm", "heft"},
                 "--devices takes a whole number from 1 to 65536, not 'x'");
  expect_refused({"--devices", "2,", "--algorithm", "heft"},
                 "--devices has an empty entry in '2,'");
  expect_refused({"--devices", "2,3", "--algorithm", "heft", "--json", file("plan-3.json"),
                  "--output", file("plan-{devices}.json")},
                 "name the same file");
  EXPECT_TRUE(folder_.files().empty());
}

/// cpu2 alone can run all operators, and two devices lack it.
TEST_F(Sweep, ANumberThatAllRefuseIsARowWithTheirReasons) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "pinned",
 "operators": [{"name": "a", "time_ms": 1, "allowed": ["cpu0", "cpu2"]},
               {"name": "b", "time_ms": 2, "allowed": ["cpu1", "cpu2"]}],
 "edges": [{"from": "a", "to": "b", "transfer_ms": 0.5}]})");
  const auto done = hios_schedule({"--graph", file("g.json"), "--devices", "3,2", "--algorithm",
                                   "sequential,ios", "--json", file("c.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json rows = read(file("c.json"))["comparison"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_TRUE(rows[0].contains("latency_ms"));
  for (std::size_t i : {2u, 3u}) EXPECT_TRUE(rows[i].contains("refused")) << rows[i];
  EXPECT_EQ(lines_with(done.out, "ios on 2 devices refused: ").size(), 1u) << done.out;
  const auto none = hios_schedule(
      {"--graph", file("g.json"), "--devices", "3,1", "--algorithm", "heft,sequential"});
  EXPECT_EQ(none.exit_status, 2) << "b can run nowhere on one device";
  EXPECT_EQ(lines_with(none.err, "error: with --devices 1: operator b can run on no device").size(),
            1u)
      << none.err;
}

/// Two operators that no one device runs both of.
TEST_F(Sweep, IsRefusedWhereAllNumbersAre) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "apart",
 "operators": [{"name": "a", "time_ms": 1, "allowed": ["cpu0"]},
               {"name": "b", "time_ms": 2, "allowed": ["cpu1"]}], "edges": []})");
  const auto done = hios_schedule({"--graph", file("g.json"), "--devices", "2,3", "--algorithm",
                                   "sequential", "--json", file("c.json")});
  EXPECT_EQ(done.exit_status, 2) << done.out;
  EXPECT_EQ(lines_with(done.err, "error: with --devices 2,3: sequential needs one device").size(),
            1u)
      << done.err;
  EXPECT_EQ(folder_.files(), Words{"g.json"});
}

}  // namespace
}  // namespace hios::test
