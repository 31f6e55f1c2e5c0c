// Schedules of cold starts, with the programs that read schedules.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/refused.h"

namespace hios::test {
namespace {

class ColdStart : public testing::Test {
 protected:
  /// Writes a schedule of the corpus with the weights of its first operator.
  void write_schedule(const std::string& corpus_file, const Json& weights) {
    Json json = read_json(corpus() / corpus_file);
    json["objective"] = "cold-start";
    json["stores"] = Json::parse(R"([{"name": "dram", "kind": "memory"}])");
    json["weights"] = weights;
    folder_.write("s.json", json.dump());
  }
  Words run_flags() const {
    return {"--model", (corpus() / "model_ok.json").string(), "--schedule", folder_.file("s.json")};
  }

  TestFolder folder_;
};

TEST_F(ColdStart, NoRunTakesASchedulesWeights) {
  write_schedule("run_one_device.json", Json::parse(R"({"in_place": {"conv_1": "dram"}})"));
  expect_refused(hios_run(1, run_flags()),
                 "s.json: $.weights: no engine runs cold starts yet; simulate it with "
                 "hios-schedule --check, or remove stores, weights and objective");
  EXPECT_EQ(folder_.files(), Words{"s.json"});

  // The remedy: the same stages without them run.
  Json json = read(folder_.file("s.json"));
  for (const char* key : {"stores", "weights", "objective"}) json.erase(key);
  folder_.write("s.json", json.dump());
  const auto done = hios_run(1, run_flags() + Words{"--iterations", "2", "--warmup", "0"});
  EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
}

TEST_F(ColdStart, AMistakeInWeightsComesFirst) {
  write_schedule("run_one_device.json", Json::parse(R"({"in_place": {"conv_1": "disk"}})"));
  expect_refused(hios_run(1, run_flags()),
                 "$.weights.in_place.conv_1: no store is named \"disk\"; name one of $.stores");
}

TEST_F(ColdStart, ACheckNeedsThePlatformWithItsRoutes) {
  write_schedule("schedule_ok.json", Json::parse(R"({"in_place": {"a": "dram"}})"));
  const Words check{"--graph", (corpus() / "graph_ok.json").string(), "--check",
                    folder_.file("s.json")};
  expect_refused(hios_schedule(check),
                 "s.json: $.weights: a cold start takes the routes of a platform; give --platform "
                 "FILE, the one that the schedule was made for");
}

}  // namespace
}  // namespace hios::test
