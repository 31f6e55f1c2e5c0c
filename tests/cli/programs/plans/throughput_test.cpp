// hios-schedule --objective throughput: what it writes, and what it compares with.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class Throughput : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  const Json& row(const Json& rows, const std::string& algorithm) const {
    for (const Json& each : rows) {
      if (each["algorithm"] == algorithm) return each;
    }
    static const Json none;
    ADD_FAILURE() << "no row of " << algorithm;
    return none;
  }

  const Words problem_ = {"--random",    "n=40,seed=2", "--devices",    "3",
                          "--objective", "throughput",  "--time-limit", "2"};
  TestFolder folder_;
};

TEST_F(Throughput, PlansBlocksThatAreWrittenAndChecked) {
  const auto planned =
      hios_schedule(problem_ + Words{"--algorithm", "slice-graph", "--output", file("s.json"),
                                     "--export-graph", file("g.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const Json schedule = read(file("s.json"));
  EXPECT_EQ(schedule["version"], 1);
  EXPECT_EQ(schedule["objective"], "throughput");
  const Json& predicted = schedule["predicted"];
  EXPECT_NEAR(predicted["per_second"].get<double>() * predicted["period_ms"].get<double>(), 1000,
              1e-6);
  EXPECT_LE(predicted["lower_bound_ms"], predicted["period_ms"]);
  EXPECT_GE(predicted["in_flight"], 1);
  EXPECT_EQ(predicted["bottleneck"].get<std::string>().substr(0, 3), "cpu");
  const auto checked = hios_schedule(
      {"--graph", file("g.json"), "--check", file("s.json"), "--json", file("c.json")});
  EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
  EXPECT_EQ(read(file("c.json"))["period_ms"], predicted["period_ms"]);
  const std::size_t period = checked.out.find("ms from one inference to the next");
  ASSERT_NE(period, std::string::npos);
  EXPECT_NE(checked.out.find(", its file says ", period), std::string::npos) << checked.out;
  Json cyclic = schedule;  // the first block's last operator after all others
  auto& first = cyclic["devices"][0]["stages"];
  auto& last = cyclic["devices"][2]["stages"];
  ASSERT_GT(first.size(), 1u);
  std::swap(first.back(), last.back());
  folder_.write("cyclic.json", cyclic.dump());
  const auto refused = hios_schedule({"--graph", file("g.json"), "--check", file("cyclic.json")});
  EXPECT_EQ(refused.exit_status, 2) << refused.out;
}

/// Many inferences in flight copy what one inference at a time leaves in memory that ranks share.
TEST_F(Throughput, IsPlannedAndCheckedByTheTimesOfCopies) {
  const auto listed =
      hios_schedule({"--model", "squeezenet", "--list-operators", "--json", file("o.json")});
  ASSERT_EQ(listed.exit_status, 0) << listed.err;
  const Json network = read(file("o.json"));
  Json operators = Json::object();
  for (const Json& op : network["operators"]) {
    operators[op["signature"].get<std::string>()] = {{"ms", 1}, {"min", 1}, {"samples", 1}};
  }
  const Json copied = Json::array({Json::array({1, 3})}),
             shared = Json::array({Json::array({1, 2})});
  Json transfers = Json::array();
  for (const int from : {0, 1}) {
    transfers.push_back({{"from", from}, {"to", 1 - from}, {"points", copied}, {"shared", shared}});
  }
  const Json configuration = {{"backend", "cpu"},       {"kind", "cpu"}, {"threads", 1},
                              {"math", "fp32"},         {"ranks", 2},    {"operators", operators},
                              {"transfers", transfers}, {"seconds", 1}};
  folder_.write("p.json", Json{{"format", "hios-profile"},
                               {"version", 1},
                               {"configurations", Json::array({configuration})}}
                              .dump());
  const Words from_profile = {"--model", "squeezenet", "--profile", file("p.json")};
  const auto latency_of = [&](const std::string& objective) {
    const std::string schedule = file(objective + ".json");
    const auto planned = hios_schedule(
        from_profile + Words{"--devices", "2", "--objective", objective, "--time-limit", "1",
                             "--algorithm", objective == "latency" ? "heft" : "slice-graph",
                             "--output", schedule});
    EXPECT_EQ(planned.exit_status, 0) << planned.err;
    const auto checked = hios_schedule(
        from_profile + Words{"--check", schedule, "--json", file("c.json"), "--force"});
    EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
    EXPECT_NEAR(read(file("c.json"))["latency_ms"].get<double>(),
                read(schedule)["predicted"]["latency_ms"].get<double>(), 1e-9)
        << objective;
    return read(schedule)["predicted"]["latency_ms"].get<double>();
  };
  latency_of("latency");
  // One block after the other, with the one tensor between them copied.
  const double sum_ms = static_cast<double>(network["operators"].size());
  EXPECT_NEAR(latency_of("throughput"), sum_ms + 3, 1e-9);
}

TEST_F(Throughput, ComparesPeriodsWithCopies) {
  const auto compared =
      hios_schedule(problem_ + Words{"--compare", "--algorithm", "hios-lp,slice-graph", "--json",
                                     file("c.json"), "--csv", file("c.csv")});
  ASSERT_EQ(compared.exit_status, 0) << compared.err;
  const Json results = read(file("c.json"));
  const Json& rows = results["comparison"];
  ASSERT_EQ(rows.size(), 5u);  // sequential, ios, hios-lp, slice-graph, copies
  EXPECT_EQ(results["schedules"].size(), 4u) << "copies are no schedule";
  const double one_ms = row(rows, "sequential")["period_ms"];
  EXPECT_NEAR(one_ms, row(rows, "sequential")["latency_ms"].get<double>(), 1e-9);
  EXPECT_NEAR(row(rows, "copies")["period_ms"].get<double>(), one_ms / 3, 1e-9);
  EXPECT_LT(row(rows, "slice-graph")["period_ms"], one_ms);
  EXPECT_GE(row(rows, "slice-graph")["period_ms"], row(rows, "copies")["period_ms"]);
  EXPECT_EQ(results["schedules"][2]["objective"], "latency") << "what hios-lp plans for";
  EXPECT_NE(compared.out.find("period ms"), std::string::npos);
}

TEST_F(Throughput, AScheduleForLatencyIsWrittenAsOne) {
  const auto planned =
      hios_schedule(problem_ + Words{"--algorithm", "hios-lp", "--output", file("s.json"),
                                     "--export-graph", file("g.json"), "--json", file("c.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  EXPECT_EQ(read(file("s.json"))["objective"], "latency");
  EXPECT_FALSE(read(file("s.json"))["predicted"].contains("period_ms"));
  EXPECT_GT(read(file("c.json"))["comparison"][0]["period_ms"], 0);
  const auto checked = hios_schedule({"--graph", file("g.json"), "--check", file("s.json")});
  EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
}

TEST_F(Throughput, ProvesWhatFewDownSetsAllow) {
  const auto planned = hios_schedule({"--random", "n=12,seed=4", "--devices", "3", "--streams", "1",
                                      "--objective", "throughput", "--algorithm", "best",
                                      "--output", file("s.json"), "--json", file("c.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const Json schedule = read(file("s.json"));
  EXPECT_EQ(schedule["outcome"], "optimal");
  EXPECT_EQ(schedule["predicted"]["lower_bound_ms"], schedule["predicted"]["period_ms"]);
  EXPECT_EQ(read(file("c.json"))["comparison"][0]["gap"], 0);
}

TEST_F(Throughput, ShowsTheClosestBoundNextToAllBlocks) {
  const auto compared =
      hios_schedule({"--random", "n=12,seed=5", "--devices", "3", "--streams", "1", "--objective",
                     "throughput", "--algorithm", "slice-graph,hios-lp", "--option", "order=given",
                     "--bounds", "all", "--json", file("c.json")});
  ASSERT_EQ(compared.exit_status, 0) << compared.err;
  const Json results = read(file("c.json"));
  double closest = 0;
  ASSERT_EQ(results["bounds"].size(), 5u);
  for (const Json& row : results["bounds"]) {
    if (row.contains("lower_bound_ms"))
      closest = std::max(closest, row["lower_bound_ms"].get<double>());
    EXPECT_EQ(row["largest_lower_bound_ms"], closest) << row["bound"];
  }
  const Json& sliced = row(results["comparison"], "slice-graph");
  EXPECT_EQ(sliced["lower_bound_ms"], closest);
  EXPECT_GE(sliced["period_ms"], closest);
  EXPECT_EQ(results["schedules"][0]["predicted"]["lower_bound_ms"], closest);
  EXPECT_EQ(results["bounds"][1]["bound"], "downsets");
  EXPECT_NE(compared.out.find("downsets"), std::string::npos);
  EXPECT_NE(compared.out.find("largest so far ms"), std::string::npos);
}

TEST_F(Throughput, RefusesUnknownValues) {
  folder_.write("p.json", R"({"format": "hios-platform", "version": 1, "contention": "port",
      "default_link": {"latency_ms": 0.1, "gb_per_s": 1},
      "devices": [{"name": "a", "kind": "gpu"}, {"name": "b", "kind": "gpu"}]})");
  const auto contended = hios_schedule({"--random", "n=9,memory=4", "--platform", file("p.json"),
                                        "--objective", "throughput", "--algorithm", "slice-graph"});
  EXPECT_EQ(contended.exit_status, 2);
  EXPECT_NE(contended.err.find("knows no contention yet"), std::string::npos) << contended.err;
}

#ifdef HIOS_MPIEXEC
TEST_F(Throughput, PlansAndRunsByWhatAProfileMeasuredForIt) {
  const Words model = {"--model", "squeezenet", "--height", "64"};
  const auto profile = [&](const Words& more) {
    return hios_profile(2,
                        model +
                            Words{"--output", file("p.json"), "--warmup", "1", "--iterations", "3",
                                  "--largest-message", "65536"} +
                            more,
                        {.limit_s = 300});
  };
  ASSERT_EQ(profile({}).exit_status, 0);
  Json first = read(file("p.json"));
  EXPECT_FALSE(first["configurations"][0].contains("warm"));
  // Noise may refuse the charge that is measured quickly, and older profiles have none.
  first["configurations"][0].erase("io_charge");
  folder_.write("p.json", first.dump());
  const auto plan = [&](const Words& more) {
    return hios_schedule(model +
                         Words{"--profile", file("p.json"), "--devices", "2", "--objective",
                               "throughput", "--algorithm", "slice-graph", "--option",
                               "order=given", "--output", file("s.json"), "--force"} +
                         more);
  };
  const auto unknown = plan({});
  ASSERT_EQ(unknown.exit_status, 0) << unknown.err;
  EXPECT_NE(unknown.err.find("(not measured)"), std::string::npos) << unknown.err;
  EXPECT_FALSE(read(file("s.json"))["devices"][0].contains("io_charge"));

  const auto grown = profile({"--objective", "throughput", "--update"});
  ASSERT_EQ(grown.exit_status, 0) << grown.out << grown.err;
  EXPECT_NE(grown.out.find("of their time between waiting ranks (measured)"), std::string::npos)
      << grown.out;
  EXPECT_NE(grown.out.find("ms in blocks of it"), std::string::npos) << grown.out;
  const Json measured = read(file("p.json"));
  expect_meets_schema(measured);
  const Json& known = measured["configurations"][0];
  EXPECT_EQ(known["warm"].size(), known["operators"].size());
  EXPECT_FALSE(known["protocol"]["charges"].empty());
  const auto again = profile({"--objective", "throughput", "--update"});
  ASSERT_EQ(again.exit_status, 0) << again.out << again.err;
  EXPECT_EQ(read(file("p.json"))["configurations"][0]["io_charge"], known["io_charge"]);

  const auto planned = plan({});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  EXPECT_NE(planned.err.find("of their time between waiting ranks (measured)"), std::string::npos)
      << planned.err;
  const Json device = read(file("s.json"))["devices"][0];
  EXPECT_EQ(device["io_charge"]["send"], known["io_charge"]["send"]);
  EXPECT_EQ(device["io_charge"]["receive"], known["io_charge"]["receive"]);
  const auto run = hios_run(2,
                            model + Words{"--schedule", file("s.json"), "--profile", file("p.json"),
                                          "--inferences", "20", "--json", file("r.json")},
                            {.limit_s = 300});
  ASSERT_EQ(run.exit_status, 0) << run.out << run.err;
  // The run's has the buffers that were planned, with which waiting adds a hundredth at most.
  const double blocks_ms = read(file("s.json"))["predicted"]["period_ms"];
  const double buffers_ms = read(file("r.json"))["throughput"]["predicted_period_ms"];
  EXPECT_GE(buffers_ms, blocks_ms - 1e-9);
  EXPECT_LE(buffers_ms, blocks_ms * 1.01 + 1e-9);
}
#endif

}  // namespace
}  // namespace hios::test
