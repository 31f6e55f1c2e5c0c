#include "cli/memory_need.h"

#include <gtest/gtest.h>

#include "hios/random_dag.h"
#include "support/complaint.h"

namespace hios::cli {
namespace {

using test::complaint_of;
using test::expect_complaint;

TEST(MemoryNeed, RefusesWhatNoMachineHas) {
  const Bytes exabyte = Bytes{1} << 60;
  const std::string complaint =
      complaint_of([&] { require_memory(exabyte, "a graph of 5 operators", "take fewer"); });
  expect_complaint(complaint, "a graph of 5 operators takes about 1152921504.6 GB of memory");
  expect_complaint(complaint, "left: take fewer");
}

TEST(MemoryNeed, TakesWhatEveryMachineHas) { EXPECT_NO_THROW(require_memory(1000, "a", "b")); }

TEST(MemoryNeed, CountsTimesByDeviceAndSizesByPair) {
  const Graph timed = random_dag({.operators = 50, .edges = 100, .layers = 5});
  EXPECT_EQ(cost_model_bytes(timed, Platform::homogeneous(10, "gpu", 0, 1)), 50u * 10 * 8);
  // Two sizes of message whose times the links decide, one edge with a time of its own.
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
  }
  const Graph sized("sized", std::move(operators),
                    {{OpId(0), OpId(1), 100, {}},
                     {OpId(0), OpId(2), 100, {}},
                     {OpId(1), OpId(3), 200, {}},
                     {OpId(2), OpId(3), 300, 0.5}});
  EXPECT_EQ(cost_model_bytes(sized, Platform::homogeneous(10, "gpu", 0, 1)),
            4u * 10 * 8 + 2 * 100 * 8);
  EXPECT_EQ(cost_model_bytes(sized, Platform::homogeneous(1, "gpu", 0, 1)), 4u * 8);
}

}  // namespace
}  // namespace hios::cli
