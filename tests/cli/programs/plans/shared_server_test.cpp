// Several models that share a server, with the programs: --models and --label-parameters.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/corpus.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/refused.h"
#include "support/schema.h"

namespace hios::test {
namespace {

/// Returns a chain of three operators of 1 ms, with 4, 2 and 2 MB of parameters.
Json graph_of_server(const std::string& name) {
  Json graph = Json::parse(R"({"format": "hios-graph", "version": 1, "operators": [
    {"name": "v0", "time_ms": 1, "parameter_bytes": 4000000, "parameters": "base"},
    {"name": "v1", "time_ms": 1, "parameter_bytes": 2000000},
    {"name": "v2", "time_ms": 1, "parameter_bytes": 2000000}],
    "edges": [{"from": "v0", "to": "v1", "bytes": 0, "transfer_ms": 0},
              {"from": "v1", "to": "v2", "bytes": 0, "transfer_ms": 0}]})");
  graph["name"] = name;
  return graph;
}

class SharedServer : public testing::Test {
 protected:
  SharedServer() {
    folder_.write("a.json", graph_of_server("a").dump());
    folder_.write("b.json", graph_of_server("b").dump());
    folder_.write("p.json", R"({"format": "hios-platform", "version": 1,
      "devices": [{"name": "gpu0", "kind": "gpu", "threads": 0, "streams": 1}],
      "stores": [{"name": "dram", "kind": "memory"}], "buses": [{"name": "pcie", "gb_per_s": 1}],
      "routes": [{"from": "dram", "to": "gpu0", "over": ["pcie"], "latency_ms": 0,
                   "gb_per_s": 9}]})");
  }
  std::string models() const { return folder_.file("a.json") + "," + folder_.file("b.json"); }
  Words server(const Words& more) const {
    return Words{"--platform", folder_.file("p.json"), "--objective", "cold-start"} + more;
  }
  Words two(const Words& more) const {
    return server(Words{"--models", models(), "--shares", "3,1", "--keep", "0.008", "--option",
                        "iterations=20", "--option", "islands=1", "--option", "exchanges=20"} +
                  more);
  }

  TestFolder folder_;
};

TEST_F(SharedServer, WritesWhatIsKeptAndASchedulePerModel) {
  const auto done =
      hios_schedule(two({"--json", folder_.file("keeping.json"), "--csv", folder_.file("k.csv"),
                         "--output", folder_.file("plan-{model}.json")}));
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  EXPECT_NE(done.err.find("--shares sum to 4"), std::string::npos) << done.err;
  EXPECT_NE(done.out.find("lower bound of every keeping: "), std::string::npos) << done.out;
  const Json keeping = read(folder_.file("keeping.json"));
  expect_meets_schema(keeping);
  EXPECT_EQ(keeping["models"][0]["share"], 0.75);
  EXPECT_EQ(keeping["keep_bytes"], 8000000);
  EXPECT_LE(keeping["lower_bound_ms"].get<double>(), keeping["expected_ms"].get<double>());
  // The 4 MB of both are kept once, and each v1's: v2's are loaded while v0 and v1 run.
  EXPECT_NEAR(keeping["expected_ms"].get<double>(), 3, 1e-6);
  double expected_ms = 0;
  for (const auto& [name, share] : {std::pair("a", 0.75), std::pair("b", 0.25)}) {
    const std::string file = folder_.file(std::string("plan-") + name + ".json");
    const Json schedule = read(file);
    expect_meets_schema(schedule);
    EXPECT_FALSE(schedule["weights"]["resident"].empty());
    const auto checked = hios_schedule(server({"--graph", folder_.file(std::string(name) + ".json"),
                                               "--check", file, "--json", "-", "-q"}));
    ASSERT_EQ(checked.exit_status, 0) << checked.err;
    expected_ms += share * Json::parse(checked.out)["latency_ms"].get<double>();
  }
  EXPECT_NEAR(expected_ms, keeping["expected_ms"], 1e-9);
}

TEST_F(SharedServer, BadOnesAreRefused) {
  const std::string a = folder_.file("a.json"), both = models();
  const std::vector<std::pair<Words, const char*>> cases = {
      {{"--models", both}, "--models shares a server: give --shares, too"},
      {{"--models", both, "--shares", "1,1"}, "give --keep, too"},
      {{"--models", both, "--shares", "1", "--keep", "1"},
       "--shares has 1 numbers, and --models 2"},
      {{"--models", both, "--shares", "1,-1", "--keep", "1"}, "--shares"},
      {{"--models", both, "--shares", "1,nan", "--keep", "1"}, "--shares"},
      {{"--models", both, "--shares", "0,0", "--keep", "1"}, "--shares are all 0"},
      {{"--models", both, "--shares", "1,0", "--keep", "1"},
       "the share of 'b' is no number above 0"},
      {{"--models", both, "--shares", "1,1", "--keep", "-1"}, "--keep"},
      {{"--models", a + "," + a, "--shares", "1,1", "--keep", "1"}, "have the name"},
      {{"--models", a + ",", "--shares", "1,1", "--keep", "1"}, "--models has an empty entry"},
      {{"--models", both, "--shares", "1,1", "--keep", "1", "--output", folder_.file("s.json")},
       "put {model} into its name"},
      {{"--models", both, "--shares", "1,1", "--keep", "1", "--output",
        folder_.file("{model}.json"), "--force"},
       "a.json"},
      {{"--models", both, "--shares", "1,1", "--keep", "1", "--json", a, "--force"}, "a.json"},
      {{"--models", both, "--shares", "1,1", "--keep", "1", "--compare"}, "leave out --compare"},
      {{"--models", both, "--shares", "1,1", "--keep", "1", "--option", "window=3"}, "window"},
      {{"--graph", a, "--keep", "1", "--algorithm", "best"}, "--keep goes with --models"},
      {{"--graph", a, "--label-parameters", "own", "--algorithm", "best"},
       "--label-parameters labels those of a --model"},
  };
  const std::vector<std::string> before = folder_.files();
  for (const auto& [flags, part] : cases) {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_refused(hios_schedule(server(flags)), part);
  }
  expect_refused(hios_schedule({"--models", both, "--shares", "1,1", "--keep", "1", "--platform",
                                folder_.file("p.json")}),
                 "give --objective cold-start");
  EXPECT_EQ(folder_.files(), before) << "no file is left";
}

/// Returns the labels of a graph's parameters, in the order of its operators.
std::vector<std::string> labels_in(const Json& graph) {
  std::vector<std::string> labels;
  for (const Json& op : graph["operators"]) {
    if (op.contains("parameters")) labels.push_back(op["parameters"]);
  }
  return labels;
}

class ParameterLabels : public testing::Test {
 protected:
  std::vector<std::string> labels(const Words& more) {
    const std::string file = folder_.file("g" + std::to_string(++graphs_) + ".json");
    const auto done = hios_schedule(
        Words{"--model", (corpus() / "model_ok.json").string(), "--export-graph", file} + more);
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return labels_in(read(file));
  }

  TestFolder folder_;
  int graphs_ = 0;
};

TEST_F(ParameterLabels, AreEqualWhereValuesAre) {
  const std::vector<std::string> own = labels({"--label-parameters", "own", "--seed", "5"});
  ASSERT_GT(own.size(), 1u);
  EXPECT_TRUE(labels({}).empty());
  const std::string weights = folder_.file("w.safetensors");
  const auto written = hios_run(1, {"--model", (corpus() / "model_ok.json").string(), "--seed", "5",
                                    "--write-weights", weights});
  ASSERT_EQ(written.exit_status, 0) << written.err;
  EXPECT_EQ(labels({"--label-parameters", weights}), own);
  {  // The last value of the last layer.
    std::fstream file(weights, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4, std::ios::end);
    file.write("\0\0\x80?", 4);
  }
  const std::vector<std::string> tuned = labels({"--label-parameters", weights});
  ASSERT_EQ(tuned.size(), own.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < own.size(); ++i) different += tuned[i] != own[i];
  EXPECT_EQ(different, 1u);
  for (const std::string& label : labels({"--label-parameters", "own", "--seed", "6"})) {
    EXPECT_EQ(std::count(own.begin(), own.end(), label), 0);
  }
  expect_refused(hios_schedule({"--model", (corpus() / "model_ok.json").string(), "--export-graph",
                                folder_.file("no.json"), "--label-parameters",
                                folder_.file("none.safetensors")}),
                 "none.safetensors");
}

}  // namespace
}  // namespace hios::test
