// hios-schedule on a schedule from elsewhere: --check computes its latency on its devices, lists
// every finding, and prints nothing under -q.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"

namespace hios::test {
namespace {

class Check : public testing::Test {
 protected:
  Check() {
    folder_.write("graph.json", R"({"format": "hios-graph", "version": 1, "name": "pair",
      "operators": [{"name": "a", "time_ms": {"gpu": 1, "cpu": 10}},
                    {"name": "b", "time_ms": {"gpu": 2, "cpu": 20}}],
      "edges": [{"from": "a", "to": "b", "bytes": 4, "transfer_ms": 0.5}]})");
    const auto done = hios_schedule(Words{"--graph", graph(), "--devices", "2", "--kind", "gpu",
                                          "--algorithm", "sequential", "--output", schedule()});
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }

  ProcessResult check(const Words& more = {}) {
    return hios_schedule(Words{"--graph", graph(), "--check", schedule()} + more);
  }
  std::string graph() const { return folder_.file("graph.json"); }
  std::string schedule() const { return folder_.file("schedule.json"); }

  TestFolder folder_;
};

TEST_F(Check, SimulatesAScheduleOnItsOwnDevices) {
  const std::string result = folder_.file("result.json");
  const auto done = check({"--json", result});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(read(result)["latency_ms"], 3) << "the flags' default kind is cpu: 30";
  EXPECT_EQ(read(result)["valid"], true);
}

TEST_F(Check, SimulatesOverDevicesWithTheTransfer) {
  Json file = read(schedule());
  file["devices"][0]["stages"] = Json::parse(R"([[["a"]]])");
  file["devices"][1]["stages"] = Json::parse(R"([[["b"]]])");
  folder_.write("schedule.json", file.dump());
  const std::string result = folder_.file("result.json");
  EXPECT_EQ(check({"--json", result}).exit_status, 0);
  EXPECT_EQ(read(result)["latency_ms"], 3.5);
}

TEST_F(Check, BoundsTheGapToTheOptimum) {
  const std::string result = folder_.file("result.json"), table = folder_.file("result.csv");
  Json file = read(schedule());
  file["devices"][0]["stages"] = Json::parse(R"([[["a"]]])");
  file["devices"][1]["stages"] = Json::parse(R"([[["b"]]])");
  folder_.write("schedule.json", file.dump());
  const auto done = check({"--json", result, "--csv", table});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json priced = read(result);
  EXPECT_EQ(priced["lower_bound_ms"], 3) << "a, then b, where no transfer is";
  EXPECT_EQ(priced["bound"], "critical_path");
  EXPECT_DOUBLE_EQ(priced["gap"].get<double>(), 0.5 / 3);
  EXPECT_NE(done.out.find("lower bound 3.000 ms (critical_path), gap +16.7 %"), std::string::npos)
      << done.out;
  EXPECT_NE(content_of(table).find("latency_ms,lower_bound_ms,bound,gap"), std::string::npos);
  EXPECT_NE(content_of(table).find(",true,3.5,3,critical_path,0.1666"), std::string::npos)
      << content_of(table);
}

TEST_F(Check, ListsEveryFindingOfAnInvalidSchedule) {
  Json file = read(schedule());
  file["devices"][0]["stages"] = Json::parse(R"([[["b"], ["a"]]])");
  folder_.write("schedule.json", file.dump());
  const std::string result = folder_.file("result.json");
  const auto done = check({"--json", result, "--csv", folder_.file("result.csv")});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_NE(content_of(folder_.file("result.csv")).find(",false,,,,,"), std::string::npos);
  EXPECT_EQ(read(result)["valid"], false);
  EXPECT_EQ(read(result)["findings"].size(), lines_with(done.out, schedule()).size()) << done.out;
  EXPECT_FALSE(lines_with(done.out, "stage 0").empty()) << done.out;
}

TEST_F(Check, EscapesInvisibleCharactersOfNames) {
  folder_.write("graph.json", R"({"format": "hios-graph", "version": 1, "name": "pair",
    "operators": [{"name": "a\u202e1", "time_ms": 1}, {"name": "größe", "time_ms": 1}],
    "edges": [{"from": "a\u202e1", "to": "größe", "bytes": 4, "transfer_ms": 0.5}]})");
  const auto made = hios_schedule(Words{"--graph", graph(), "--devices", "2", "--algorithm",
                                        "sequential", "--output", schedule(), "--force"});
  ASSERT_EQ(made.exit_status, 0) << made.err;
  Json file = read(schedule());
  file["devices"][0]["stages"] = Json::parse(R"([[["größe"], ["a\u202e1"]]])");
  folder_.write("schedule.json", file.dump());
  const auto done = check();
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_NE(done.out.find(R"(a\u202e1)"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("\u202e"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("größe"), std::string::npos) << done.out;
}

TEST_F(Check, KnowsLinksThatCarryOneTensorAtATime) {
  folder_.write("graph.json", R"({"format": "hios-graph", "version": 1, "name": "four",
    "operators": [{"name": "a", "time_ms": 1}, {"name": "b", "time_ms": 0.5},
                  {"name": "c", "time_ms": 0.5}, {"name": "d", "time_ms": 1}],
    "edges": [{"from": "a", "to": "b", "transfer_ms": 1}, {"from": "b", "to": "c", "transfer_ms": 0.5},
              {"from": "c", "to": "d", "transfer_ms": 1}, {"from": "a", "to": "d", "transfer_ms": 4}]})");
  folder_.write("platform.json", R"({"format": "hios-platform", "version": 1, "contention": "port",
    "devices": [{"name": "gpu0", "kind": "gpu"}, {"name": "gpu1", "kind": "gpu"}]})");
  const auto made =
      hios_schedule(Words{"--graph", graph(), "--devices", "2", "--kind", "gpu", "--algorithm",
                          "sequential", "--output", schedule(), "--force"});
  ASSERT_EQ(made.exit_status, 0) << made.err;
  Json file = read(schedule());
  file["devices"][0]["stages"] = Json::parse(R"([[["a"]], [["c"]]])");
  file["devices"][1]["stages"] = Json::parse(R"([[["b"]], [["d"]]])");
  folder_.write("schedule.json", file.dump());
  const std::string result = folder_.file("result.json");
  const auto latency = [&](const Words& more) {
    const auto done = check(Words{"--json", result, "--force"} + more);
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
    return read(result)["latency_ms"].get<double>();
  };
  const Words shared{"--platform", folder_.file("platform.json")};
  EXPECT_EQ(latency({}), 6) << "d waits for a's tensor until 5";
  EXPECT_EQ(latency(shared), 7) << "and for c's, which is ready at 3.5 and follows it";

  file["transfers"] = Json::parse(R"([{"operator": "c", "to": "gpu1"},
    {"operator": "b", "to": "gpu0"}, {"operator": "a", "to": "gpu1"}])");
  folder_.write("schedule.json", file.dump());
  EXPECT_EQ(latency({}), 6) << "no contention, no waiting";
  const auto stuck = check(shared);
  EXPECT_EQ(stuck.exit_status, 2);
  EXPECT_NE(stuck.out.find("$.transfers[2]: cyclic wait: the transfer of a to gpu1 comes after the "
                           "transfer of c to gpu1"),
            std::string::npos)
      << stuck.out;
  file["transfers"].erase(0);
  folder_.write("schedule.json", file.dump());
  const auto missing = check({});
  EXPECT_EQ(missing.exit_status, 2);
  EXPECT_NE(missing.out.find("$.transfers: the transfer of c to gpu1 is not listed"),
            std::string::npos)
      << missing.out;
}

TEST_F(Check, RefusesAPlatformOfAnotherSize) {
  folder_.write("platform.json", R"({"format": "hios-platform", "version": 1,
    "devices": [{"name": "gpu0", "kind": "gpu"}]})");
  const auto done = check({"--platform", folder_.file("platform.json")});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_NE(done.err.find("the schedule has 2 devices, and 1 are given; give as many"),
            std::string::npos)
      << done.err;
}

TEST_F(Check, RefusesOtherNumbersOfDevices) {
  for (const char* numbers : {"3", "2,4"}) {
    const auto done = check({"--devices", numbers});
    EXPECT_EQ(done.exit_status, 2);
    EXPECT_NE(done.err.find(std::string("the schedule has 2 devices, and --devices says ") +
                            numbers + ": leave it out, or give --compare"),
              std::string::npos)
        << done.err;
  }
  EXPECT_EQ(check({"--devices", "2"}).exit_status, 0);
}

TEST_F(Check, IsQuietWithTheFlag) {
  const auto done = check({"-q"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.out + done.err, "");
}

TEST_F(Check, AnExportedGraphHasTheSameSchedule) {
  const std::string again = folder_.file("again.json");
  const auto exported =
      hios_schedule(Words{"--random", "n=30,edges=60,layers=5,seed=4", "--export-graph", again});
  ASSERT_EQ(exported.exit_status, 0) << exported.err;
  Json latencies = Json::array();
  for (const Words& source :
       {Words{"--random", "n=30,edges=60,layers=5,seed=4"}, Words{"--graph", again}}) {
    const std::string result = folder_.file("result.json");
    const auto done = hios_schedule(
        source + Words{"--devices", "3", "--algorithm", "hios-lp", "--json", result, "--force"});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    latencies.push_back(read(result)["schedules"][0]["predicted"]["latency_ms"]);
  }
  EXPECT_EQ(latencies[0], latencies[1]);
}

}  // namespace
}  // namespace hios::test
