// N ranks compute bit for bit what one rank computes: under a real mpirun, more ranks than cores,
// on computed and on random schedules, with and without CMA, on one core.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/host/cores.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/networks/networks.h"
#include "hios/schedule/schedule.h"
#include "hios/schedule/schedule_json.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

struct Case {
  const char* network;
  std::int64_t size;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.network; }

class Ranks : public testing::TestWithParam<Case> {
 protected:
  Ranks()
      : model_(models::find(GetParam().network)->build(1, GetParam().size, GetParam().size)),
        coarse_(coarsen(model_)) {}

  std::string random_schedule_file(std::size_t ranks, std::uint64_t seed) {
    ScheduleFile file;
    file.graph_name = coarse_.graph.name();
    file.graph_digest = coarse_.graph.digest();
    file.batch = 1;
    file.height = file.width = GetParam().size;
    file.algorithm = "random";
    const Platform platform = Platform::homogeneous(ranks, "cpu", 2, 3);
    file.devices.assign(platform.devices().begin(), platform.devices().end());
    file.schedule = random_schedule(coarse_.graph, ranks, 3, seed);
    const std::string name = "random-" + std::to_string(ranks) + ".json";
    folder_.write(name, to_text(to_json(file, coarse_.graph)));
    return folder_.file(name);
  }

  void expect_bitwise(std::size_t ranks, const std::string& schedule,
                      const ProcessOptions& options) {
    const std::string report = folder_.file("report.json");
    const auto done =
        hios_run(ranks,
                 {"--model", GetParam().network, "--schedule", schedule, "--verify=operators",
                  "--warmup", "0", "--iterations", "3", "--json", report, "--force"},
                 options);
    ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
    const Json verified = read(report)["verified"];
    EXPECT_TRUE(verified["bitwise"]) << verified;
    EXPECT_TRUE(verified["passed"]) << verified;
    EXPECT_EQ(verified["operators"], coarse_.graph.size());
  }

  Model model_;
  CoarseGraph coarse_;
  TestFolder folder_;
};

TEST_P(Ranks, OneTwoThreeAndFourAreEqual) {
#ifdef HIOS_MPIEXEC
  const std::size_t most = 4;
#else
  const std::size_t most = 1;
#endif
  for (std::size_t ranks = 1; ranks <= most; ++ranks) {
    // Others are RankNetworks, of threads: those that take long, and all under a sanitizer.
    const bool large = coarse_.graph.size() > 150;
    if ((kSanitized && ranks != most) || (large && ranks % 2 == 1)) continue;
    const std::uint64_t seed = 17 + ranks;
    SCOPED_TRACE("ranks " + std::to_string(ranks) + ", seed " + std::to_string(seed));
    expect_bitwise(ranks, random_schedule_file(ranks, seed), {.limit_s = 300});
  }
}

#ifdef HIOS_MPIEXEC
TEST_P(Ranks, WithoutCma) {
  ProcessOptions options{.limit_s = 300};
  options.environment = kWithoutCma;
  expect_bitwise(3, random_schedule_file(3, 5), options);
}

class RanksOfOneCore : public Ranks {};

TEST_P(RanksOfOneCore, GiveWayToEachOther) {
  ProcessOptions options{.limit_s = 300};
  options.before = {"taskset", "--cpu-list", std::to_string(allowed_cores().front())};
  expect_bitwise(3, random_schedule_file(3, 6), options);
}

INSTANTIATE_TEST_SUITE_P(Networks, RanksOfOneCore, testing::Values(Case{"squeezenet", 48}));
#endif

// Under a sanitizer two networks; RankNetworks has all four there, with ranks that are threads.
INSTANTIATE_TEST_SUITE_P(
    Networks, Ranks,
    testing::ValuesIn(kSanitized ? std::vector{Case{"inception_v3", 75}, Case{"squeezenet", 48}}
                                 : std::vector{Case{"inception_v3", 75}, Case{"nasnet_large", 33},
                                               Case{"squeezenet", 48}, Case{"randwire_large", 32}}),
    [](const auto& test) { return std::string(test.param.network); });

}  // namespace
}  // namespace hios::test
