#include "cli/schedule/inputs/memory_need.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "engine/host/available_memory.h"
#include "hios/graph/random/random_dag.h"
#include "support/message.h"

namespace hios::cli {
namespace {

using test::expect_message;
using test::message_of;

TEST(MemoryNeed, RefusesNeedsThatNoMachineMeets) {
  const Bytes exabyte = Bytes{1} << 60;
  const std::string message =
      message_of([&] { require_memory(exabyte, "a graph of 5 operators", "take fewer"); });
  expect_message(message, "a graph of 5 operators takes about 1152921504.6 GB of memory");
  expect_message(message, "left: take fewer");
}

TEST(MemoryNeed, AcceptsNeedsThatEveryMachineMeets) {
  EXPECT_NO_THROW(require_memory(1000, "a", "b"));
}

TEST(MemoryNeed, CountsTimesByDeviceAndSizesByPairOfClasses) {
  constexpr Bytes kPair = 64;
  const Graph timed = random_dag({.operators = 50, .edges = 100, .layers = 5});
  EXPECT_EQ(cost_model_bytes(timed, Platform::homogeneous(10, "gpu", 0, 1), false),
            50u * 10 * 8 + kPair);
  // Two sizes of message whose times follow from the links, one edge with its own time.
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
  }
  const Graph sized("sized", std::move(operators),
                    {{OpId(0), OpId(1), 100, {}},
                     {OpId(0), OpId(2), 100, {}},
                     {OpId(1), OpId(3), 200, {}},
                     {OpId(2), OpId(3), 300, 0.5}});
  const Platform alike = Platform::homogeneous(10, "gpu", 0, 1);
  EXPECT_EQ(cost_model_bytes(sized, alike, false), 4u * 10 * 8 + 2 * 8 + kPair);
  EXPECT_EQ(cost_model_bytes(sized, alike, true), 4u * 10 * 8 + (2 * 8 + kPair) * 100);
  EXPECT_EQ(cost_model_bytes(sized, Platform::homogeneous(1, "gpu", 0, 1), false), 4u * 8);
  // Ten thousand devices alike: a table of all pairs would take 1.6 GB.
  EXPECT_LT(cost_model_bytes(sized, Platform::homogeneous(10'000, "gpu", 0, 1), false), 1'000'000u);
}

struct MeasuredPeak {
  ProblemSize size;
  Work work;
  double peak_mib;  ///< peak of the process
};

// Measured peaks of hios-schedule (ru_maxrss), 13.6 MiB of which it holds when it starts.
const std::vector<MeasuredPeak>& measured() {
  static const std::vector<MeasuredPeak> peaks = {
      {{10'000, 20'000, 4}, {.islands = 4}, 24.5},
      {{10'000, 20'000, 4}, {.islands = 64}, 137.0},
      {{50'000, 100'000, 4}, {.islands = 64}, 661.4},
      {{30'000, 60'000, 1}, {.islands = 4}, 46.6},
      {{30'000, 60'000, 16}, {.islands = 4}, 64.3},
      {{30'000, 60'000, 64}, {.islands = 4}, 86.3},
      {{50'000, 500'000, 16}, {.islands = 16}, 287.8},
      {{100'000, 200'000, 4}, {}, 87.4},
      {{1'000'000, 2'000'000, 4}, {}, 782.0},
      {{100'000, 1'000'000, 4}, {}, 189.8},
      {{30'000, 60'000, 16}, {}, 35.3},
      {{30'000, 60'000, 64}, {}, 69.3},
      {{100'000, 200'000, 4}, {.json_schedules = 1}, 101.7},
      {{50'000, 100'000, 4}, {.json_schedules = 5}, 152.6},
      {{100'000, 200'000, 4}, {.drawn = Drawn::kOneDevice}, 143.7},
      {{50'000, 100'000, 4}, {.drawn = Drawn::kAllDevices}, 150.3},
      {{50'000, 500'000, 4}, {.drawn = Drawn::kAllDevices}, 309.9},
      {{100'000, 200'000, 2}, {.exports_graph = true}, 233.7},
      {{100'000, 1'000'000, 2}, {.exports_graph = true}, 654.7},
      {{1'000'000, 2'000'000, 2}, {.exports_graph = true}, 2476.5},
      {{10'000, 20'000, 64, 640'000}, {}, 76.2},
      {{20'000, 20'000, 1000, 20'000'000}, {}, 1703.9},
      {{10'000, 20'000, 8, 80'000}, {.exports_graph = true}, 59.3},
      {{10'000, 20'000, 64, 640'000}, {.exports_graph = true}, 218.7},
      {{10'000, 20'000, 64, 320'000}, {.exports_graph = true}, 102.1},
  };
  return peaks;
}

TEST(MemoryNeed, IsWithinHalfOfTheMeasuredNeed) {
  for (const auto& [size, work, peak_mib] : measured()) {
    const double expected = (peak_mib - 13.6) * 1024 * 1024;
    const double estimate = static_cast<double>(working_bytes(size, work));
    EXPECT_LT(estimate, 1.5 * expected) << peak_mib << " MiB";
    EXPECT_GT(estimate, expected / 1.5) << peak_mib << " MiB";
  }
}

TEST(MemoryNeed, RefusesALargeProblemWithTheRemedy) {
  const ProblemSize huge{std::size_t{1} << 50, std::size_t{1} << 51, 4};
  const auto message = [&](const Work& work) {
    return message_of([&] { require_memory(huge, work, 0); });
  };
  expect_message(message({}), "planning 1125899906842624 operators and 2251799813685248 edges");
  expect_message(message({}),
                 "take a smaller graph or fewer devices, or give the program more memory");
  expect_message(message({.islands = 64}), "with 64 islands takes about ");
  expect_message(message({.islands = 64}), "take fewer islands (--option islands=1)");
}

TEST(MemoryNeed, ExcludesMemoryThatIsAlreadyHeld) {
  const ProblemSize huge{std::size_t{1} << 50, std::size_t{1} << 51, 4};
  EXPECT_NO_THROW(require_memory(huge, {}, graph_bytes(huge)));
}

/// Sanitizers map terabytes, so the limit counts from the memory in use.
TEST(MemoryNeed, KeepsToTheLimitOfTheProcess) {
  std::ifstream statm("/proc/self/statm");
  Bytes pages = 0;
  ASSERT_TRUE(statm >> pages);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  constexpr Bytes kRoom = 300'000'000;
  rlimit limited = before;
  limited.rlim_cur = pages * static_cast<Bytes>(sysconf(_SC_PAGESIZE)) + kRoom;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const auto left = available_memory();
  const ProblemSize large{1'000'000, 2'000'000, 4};
  const std::string message = message_of([&] { require_memory(large, {}, 0); });
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_TRUE(left.has_value());
  EXPECT_LE(*left, kRoom);
  EXPECT_GT(*left, kRoom / 2);
  expect_message(message, " MB are left: ");
}

}  // namespace
}  // namespace hios::cli
