// One network under every kind of fusion, from profile to run: the same numbers whatever is one
// operator, and one rank's bits on two.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "hios/base/files/npy.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

class Fusion : public testing::Test {
 protected:
  Fusion() {
    folder_.write("rules.json",
                  R"({"format": "hios-fusion", "version": 1, "rules": [["Conv", "Relu", "Concat"],
                     ["Conv", "Relu", "Concat", "Sum"], ["Conv", "Relu"]]})");
  }

  std::string file(const std::string& name) const { return folder_.file(name); }
  Words model(const std::string& fusion) const {
    return {"--model", "squeezenet", "--height", "48", "--fusion", fusion};
  }

  /// Profiled, planned and run; returns the report.
  Json run(const std::string& fusion, std::size_t ranks, const std::string& outputs) {
    const std::string devices = std::to_string(ranks);
    const auto measured =
        hios_profile(ranks, model(fusion) + Words{"--output", file("p.json"), "--force", "--warmup",
                                                  "1", "--iterations", "2"});
    EXPECT_EQ(measured.exit_status, 0) << measured.err;
    const auto planned = hios_schedule(
        model(fusion) + Words{"--profile", file("p.json"), "--devices", devices, "--algorithm",
                              "inter-mr", "--output", file("s.json"), "--force"});
    EXPECT_EQ(planned.exit_status, 0) << planned.err;
    const auto done =
        hios_run(ranks, model(fusion) + Words{"--schedule", file("s.json"), "--profile",
                                              file("p.json"), "--verify=operators", "--warmup", "1",
                                              "--iterations", "2", "--outputs", file(outputs),
                                              "--json", file("r.json"), "--force"});
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
    return read(file("r.json"));
  }

  std::vector<float> values(const std::string& outputs) const {
    return read_npy(file(outputs + "/0.npy"), {}).values;
  }

  TestFolder folder_;
};

#ifdef HIOS_MPIEXEC
TEST_F(Fusion, TwoRanksGiveOneRanksBitsAndAllTheSameNumbers) {
  const std::string fusions[] = {"default", "none", file("rules.json")};
  std::vector<std::vector<float>> results;
  for (const std::string& fusion : fusions) {
    SCOPED_TRACE(fusion);
    const std::string folder = "outputs" + std::to_string(results.size());
    const Json report = run(fusion, 2, folder);
    EXPECT_TRUE(report["verified"]["passed"]);
    EXPECT_TRUE(report["verified"]["bitwise"]);
    results.push_back(values(folder));
  }
  for (const auto& other : results) {
    ASSERT_EQ(other.size(), results.front().size());
    for (std::size_t i = 0; i < other.size(); ++i) {
      EXPECT_NEAR(other[i], results.front()[i], 1e-3 + 1e-3 * std::abs(other[i]));
    }
  }
}
#endif

TEST_F(Fusion, AnotherFusionIsAnotherGraph) {
  run(file("rules.json"), 1, "o");
  for (const char* other : {"default", "none"}) {
    SCOPED_TRACE(other);
    const auto done = hios_run(1, model(other) + Words{"--schedule", file("s.json")});
    EXPECT_EQ(done.exit_status, 2);
    EXPECT_NE(done.err.find("digest"), std::string::npos) << done.err;
    EXPECT_NE(done.err.find("fusion"), std::string::npos) << done.err;
  }
  const auto missing = hios_schedule(
      model("none") + Words{"--profile", file("p.json"), "--devices", "1", "--algorithm", "ios"});
  EXPECT_EQ(missing.exit_status, 2);
  EXPECT_NE(missing.err.find("--fusion none"), std::string::npos) << missing.err;
}

TEST_F(Fusion, OperatorsAreListedAsTheRulesHaveThem) {
  const auto count = [&](const std::string& fusion) {
    const auto done = hios_schedule(model(fusion) +
                                    Words{"--list-operators", "--json", file("l.json"), "--force"});
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return read(file("l.json"))["operators"].size();
  };
  EXPECT_EQ(count("default"), 50u);
  EXPECT_GT(count("none"), count("default"));
  EXPECT_LT(count(file("rules.json")), count("default"));
}

}  // namespace
}  // namespace hios::test
