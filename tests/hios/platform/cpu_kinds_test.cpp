#include "hios/platform/cpu_kinds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hios {
namespace {

TEST(CpuKinds, ACapIsAKindOfItsOwn) {
  std::set<std::string_view> kinds = {kCpuKind};
  for (const InstructionCap& cap : kInstructionCaps) {
    EXPECT_EQ(cap.kind, "cpu-" + std::string(cap.name));
    EXPECT_EQ(cap_of_kind(cap.kind), &cap);
    EXPECT_TRUE(computes_on_cores(cap.kind));
    EXPECT_TRUE(kinds.insert(cap.kind).second) << cap.kind;
  }
}

TEST(CpuKinds, AnUncappedCpuHasCores) {
  EXPECT_TRUE(computes_on_cores("cpu"));
  EXPECT_EQ(cap_of_kind("cpu"), nullptr);
  for (const char* kind : {"gpu", "npu", "", "cpu-", "cpu-avx3", "CPU-avx2", "cpu:avx2"}) {
    EXPECT_FALSE(computes_on_cores(kind)) << kind;
    EXPECT_EQ(cap_of_kind(kind), nullptr) << kind;
  }
}

}  // namespace
}  // namespace hios
