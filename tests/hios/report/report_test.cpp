#include "hios/report/report.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/graphs/small_graph.h"
#include "support/schema.h"

namespace hios {
namespace {

Report sample_report() {
  Report report;
  report.arguments = {"hios-run", "--model", "inception_v3"};
  report.versions = Json{{"hios", "0.1.0"}};
  ReportRank rank;
  rank.host = "n1";
  rank.cores = {0, 1};
  rank.threads = 2;
  rank.backend = Json{{"library", "some"}};
  rank.arena_bytes = 100;
  rank.all_tensors_bytes = 1000;
  report.ranks = {rank, rank};
  report.transfer_path = "threads";
  report.graph_digest = std::string(32, 'a');
  report.schedule_digest = std::string(32, 'b');
  report.model = "inception_v3";
  report.batch = 1;
  report.height = report.width = 299;
  report.algorithm = "hios-lp";
  report.seed = std::numeric_limits<std::uint64_t>::max();
  report.iterations_ms = {4, 2, 3, 5};
  report.overhead_ms = 0.01;
  report.schedule = {{{test::stage({{1}})}, {test::stage({{2, 3}, {4}})}}};
  report.measured.emplace().stages = {{{0, 0, 0, 0.5}}, {{0.1, 0.6, 0.75, 1.5}}};
  report.measured->transfers = {{OpId(0), DeviceId(0), DeviceId(1), 0.5, 0.6, 1000}};
  return report;
}

const Graph& reported_graph() {
  static const Graph made = test::small_graph({1, 1, 1, 1}, {{1, 2, 1}});
  return made;
}

TEST(Report, HasNullsWithoutAProfileAndVerification) {
  const Json json = to_json(sample_report(), reported_graph());
  test::expect_meets_schema(json);
  EXPECT_TRUE(json["predicted_ms"].is_null());
  EXPECT_TRUE(json["prediction_error"].is_null());
  EXPECT_TRUE(json["verified"].is_null());
  EXPECT_FALSE(json["digests"].contains("profile"));
  EXPECT_FALSE(json["latency_ms"].contains("percentiles"));
  EXPECT_EQ(json["disturbed_iterations"].dump(), "[]");
  EXPECT_TRUE(json["stages"][0]["predicted_start_ms"].is_null());
  EXPECT_FALSE(json["stages"][0].contains("predicted_ready_ms"));
  EXPECT_EQ(json["stages"][1]["rank"], 1);
  EXPECT_EQ(json["stages"][1]["operators"].dump(), R"([["v2","v3"],["v4"]])");
  EXPECT_EQ(json["stages"][1]["measured_awaited_ms"], 0.1);
  EXPECT_EQ(json["stages"][1]["measured_ready_ms"], 0.6);
  EXPECT_TRUE(json["transfers"][0]["predicted_end_ms"].is_null());
  EXPECT_EQ(json["transfers"][0]["measured_end_ms"], 0.6);
  EXPECT_EQ(json["ranks"][1]["rank"], 1);
}

TEST(Report, HoldsAllKnownValues) {
  Report report = sample_report();
  report.profile_digest = std::string(32, 'c');
  report.percentiles = {99.9, 50};
  report.disturbed = {false, true, false, true};
  report.predicted_ms = 1;
  Timeline& predicted = report.predicted.emplace(*report.measured);
  predicted.stages[1][0] = {0, 0.8, 0.8, 1};
  predicted.transfers = {{OpId(0), DeviceId(0), DeviceId(1), 0.5, 0.8, 1000},
                         {OpId(1), DeviceId(1), DeviceId(0), 1, 2, 500}};
  ReportVerification verified;
  verified.reference = "reference";
  verified.max_abs = 1e-6;
  verified.bitwise = true;
  verified.algorithms = {.source = "the algorithms of profile.json",
                         .from_profile = 3,
                         .chosen = 0,
                         .by_default = 1,
                         .digest = std::string(32, 'd')};
  report.verified = verified;
  report.gap = 0.25;
  report.transfer_paths = parse_json(
      R"({"by_pair": [["-", "ipc"], ["staged", "-"]], "why_not": [["", ""], ["no access", ""]]})",
      "paths");
  const Json json = to_json(report, reported_graph());
  test::expect_meets_schema(json);
  EXPECT_EQ(json["latency_ms"]["best_quarter"], 3) << "the quickest was disturbed";
  EXPECT_DOUBLE_EQ(json["prediction_error"], 2.0 / 3);
  EXPECT_EQ(json["gap"], 0.25);
  EXPECT_EQ(json["latency_ms"]["disturbed"], 2);
  EXPECT_EQ(json["disturbed_iterations"].dump(), "[1,3]");
  EXPECT_EQ(json["stages"][1]["predicted_ready_ms"], 0.8);
  EXPECT_EQ(json["stages"][1]["predicted_end_ms"], 1);
  ASSERT_EQ(json["transfers"].size(), 2u) << "one for both, and one that was only planned";
  EXPECT_EQ(json["transfers"][0]["producer"], "v1");
  EXPECT_EQ(json["transfers"][0]["predicted_end_ms"], 0.8);
  EXPECT_EQ(json["transfers"][0]["measured_end_ms"], 0.6);
  EXPECT_EQ(json["transfers"][1]["size_bytes"], 500);
  EXPECT_TRUE(json["transfers"][1]["measured_start_ms"].is_null());
  EXPECT_EQ(json["latency_ms"]["percentiles"].dump(), R"({"p99.9":5.0,"p50":3.0})");
  EXPECT_EQ(json["verified"]["bitwise"], true);
  EXPECT_EQ(json["verified"]["algorithms"]["source"], "the algorithms of profile.json");
  EXPECT_EQ(json["verified"]["algorithms"]["from_profile"], 3);
  EXPECT_EQ(json["verified"]["algorithms"]["by_default"], 1);
  EXPECT_EQ(json["transfer_paths"]["by_pair"][1][0], "staged");
  EXPECT_EQ(json["digests"]["profile"], std::string(32, 'c'));
  EXPECT_EQ(parse_json(to_text(json), "r.json"), json);
}

TEST(Report, ListsEveryLoadOfAColdStart) {
  Report report = sample_report();
  EXPECT_FALSE(to_json(report, reported_graph()).contains("loads"));
  report.stores = {"disk", "dram"};
  Weights& weights = report.schedule.weights.emplace();
  weights.lanes = {{{OpId(0), StoreId(1), DeviceId(0)}, {OpId(0), DeviceId(0), DeviceId(1)}},
                   {{OpId(1), StoreId(0), DeviceId(1)}}};
  report.measured->loads = {{0, 0, 0, 0.5, 1, 64}, {0, 1, 1, 1, 2, 64}, {1, 0, 0, 0, 3, 32}};
  report.predicted.emplace(*report.measured).loads.pop_back();
  const Json json = to_json(report, reported_graph());
  test::expect_meets_schema(json);
  ASSERT_EQ(json["loads"].size(), 3U);
  EXPECT_EQ(json["loads"][0]["lane"], 0);
  EXPECT_EQ(json["loads"][0]["of"], "v1");
  EXPECT_EQ(json["loads"][0]["from"], "dram");
  EXPECT_EQ(json["loads"][0]["to"], 0);
  EXPECT_EQ(json["loads"][0]["size_bytes"], 64);
  EXPECT_EQ(json["loads"][0]["measured_start_ms"], 0.5);
  EXPECT_EQ(json["loads"][1]["from"], 0) << "a rank";
  EXPECT_EQ(json["loads"][1]["predicted_end_ms"], 2);
  EXPECT_EQ(json["loads"][2]["measured_end_ms"], 3);
  EXPECT_TRUE(json["loads"][2]["predicted_end_ms"].is_null());
}

TEST(Report, WritesNullForANumberThatIsNone) {
  Report report = sample_report();
  ReportVerification verified;
  verified.max_abs = std::numeric_limits<double>::infinity();
  verified.max_rel = std::numeric_limits<double>::quiet_NaN();
  verified.passed = false;
  report.verified = verified;
  const Json json = to_json(report, reported_graph());
  test::expect_meets_schema(json);
  EXPECT_TRUE(json["verified"]["max_abs"].is_null());
  EXPECT_TRUE(json["verified"]["bitwise"].is_null());
  EXPECT_TRUE(json["verified"]["algorithms"].is_null());
  to_text(json);
}

TEST(PredictionError, IsSigned) {
  EXPECT_DOUBLE_EQ(prediction_error(10, 9), 0.1);
  EXPECT_DOUBLE_EQ(prediction_error(10, 11), -0.1);
}

}  // namespace
}  // namespace hios
