// A profile of cold starts, with the programs that make it, plan by it and run the plan.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/corpus.h"
#include "support/programs/programs.h"
#include "support/refused.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class ColdProfilePrograms : public testing::Test {
 protected:
  Words model() const { return {"--model", (corpus() / "model_ok.json").string()}; }
  std::string file(const std::string& name) const { return folder_.file(name); }
  Words cold_plan(const Words& flags) const {
    return model() +
           Words{"--profile", file("p.json"), "--devices", "1", "--objective", "cold-start"} +
           flags;
  }
  void measure(const Words& flags) {
    const auto done = hios_profile(1, model() + flags +
                                          Words{"--output", file("p.json"), "--iterations", "3",
                                                "--warmup", "1", "--settle", "0"});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    shown_ = done.out;
  }

  TestFolder folder_;
  std::string shown_;
};

#ifdef HIOS_HAVE_CPU
TEST_F(ColdProfilePrograms, ProfilesArePlannedByAndRun) {
  measure({"--objective", "cold-start", "--force"});
  const auto packed = hios_run(1, model() + Words{"--profile", file("p.json"), "--write-weights",
                                                  file("w"), "--packed", "--seed", "7"});
  ASSERT_EQ(packed.exit_status, 0) << packed.err;
  measure({"--objective", "cold-start", "--weights", file("w"), "--update"});
  EXPECT_NE(shown_.find("loads from memory start after"), std::string::npos) << shown_;
  const Json profile = read(file("p.json"));
  expect_meets_schema(profile);
  const Json& loads = profile["configurations"][0]["loads"];
  ASSERT_TRUE(loads.contains("memory")) << profile;
  for (const std::string store : {"memory", "disk"}) {
    if (!loads.contains(store)) continue;  // the folder is no disk
    const auto planned = hios_schedule(
        cold_plan({"--store", store, "--algorithm", "pipelined", "--output", file(store + ".json"),
                   "--export-platform", file("platform-" + store + ".json")}));
    ASSERT_EQ(planned.exit_status, 0) << planned.err;
    const Json platform = read(file("platform-" + store + ".json"));
    expect_meets_schema(platform);
    EXPECT_EQ(platform["stores"][0]["kind"], store);
    EXPECT_EQ(platform["routes"][0]["gb_per_s"], loads[store]["gb_per_s"]);
    const Words weights = store == "disk" ? Words{"--weights", file("w")} : Words{};
    const auto done =
        hios_run(1, model() + weights +
                        Words{"--profile", file("p.json"), "--schedule", file(store + ".json"),
                              "--iterations", "2", "--warmup", "0", "--verify"});
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
  }
  // Plans from memory know what reading in place costs, where it costs more than the route's
  // latency.
  Json slow = profile;
  for (auto& [signature, each] : slow["configurations"][0]["in_place"].items()) each["ms"] = 50;
  folder_.write("slow.json", slow.dump());
  const auto exported = hios_schedule(model() + Words{"--profile", file("slow.json"), "--devices",
                                                      "1", "--objective", "cold-start", "--store",
                                                      "memory", "--export-graph", file("g.json")});
  ASSERT_EQ(exported.exit_status, 0) << exported.err;
  const Json graph = read(file("g.json"));
  std::size_t in_place = 0;
  for (const Json& op : graph["operators"]) in_place += op.contains("in_place_ms");
  EXPECT_EQ(in_place, 2u);
  const auto best = hios_schedule(cold_plan({"--store", "memory", "--algorithm", "best", "--option",
                                             "iterations=50", "--output", file("best.json")}));
  ASSERT_EQ(best.exit_status, 0) << best.err;
  const auto done =
      hios_run(1, model() + Words{"--profile", file("p.json"), "--schedule", file("best.json"),
                                  "--iterations", "2", "--warmup", "0", "--verify"});
  EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
  // Loads of another network price a plan, which a line says.
  Json other = profile;
  for (auto& [store, each] : other["configurations"][0]["loads"].items()) each["network"] = "other";
  folder_.write("other.json", other.dump());
  const auto warned =
      hios_schedule(model() + Words{"--profile", file("other.json"), "--devices", "1",
                                    "--objective", "cold-start", "--algorithm", "pipelined"});
  EXPECT_EQ(warned.exit_status, 0) << warned.err;
  EXPECT_NE(warned.err.find("the loads from memory are those of \"other\""), std::string::npos)
      << warned.err;
}

TEST_F(ColdProfilePrograms, ProfilesThatLackLoadsSayWhatToMeasure) {
  measure({"--force"});
  expect_refused(hios_schedule(cold_plan({"--algorithm", "pipelined"})),
                 "no loads from memory were measured");
  const auto disk = hios_schedule(cold_plan({"--algorithm", "pipelined", "--store", "disk"}));
  EXPECT_NE(disk.err.find("--objective cold-start --weights FILE"), std::string::npos) << disk.err;
}
#endif

}  // namespace
}  // namespace hios::test
