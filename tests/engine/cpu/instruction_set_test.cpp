#include "engine/cpu/instruction_set.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/cpu/backend.h"
#include "engine/cpu/kernels/kernels.h"
#include "support/expect_error.h"

namespace hios::cpu {
namespace {

TEST(InstructionSet, OneThatIsNotKnownListsThoseThatAre) {
  EXPECT_EQ(instruction_cap("avx2").kind, "cpu-avx2");
  for (const char* name : {"", "AVX2", "avx3", "all", "avx2 ", "\033[31mred"}) {
    test::expect_error([&] { instruction_cap(name); },
                       {"no instruction set", "known are sse41, avx, avx2, avx512_core"});
  }
}

TEST(InstructionSet, SetsThatTheProcessorLacksAreRefused) {
  const InstructionCap &sse41 = instruction_cap("sse41"), &avx2 = instruction_cap("avx2"),
                       &avx512 = instruction_cap("avx512_core");
  require_instructions(sse41, &avx2);
  require_instructions(avx2, &avx2);
  require_instructions(avx2, &avx512);
  test::expect_error([&] { require_instructions(avx512, &avx2); },
                     {"this processor has avx2, not avx512_core"});
  test::expect_error([&] { require_instructions(sse41, nullptr); },
                     {"this processor has none of them, not sse41"});
}

TEST(InstructionSet, OurKernelsNameTheProcessorsSet) {
  const InstructionCap* const best = best_instructions();
  const bool has_avx2 = best != nullptr && best >= &instruction_cap("avx2");
  EXPECT_EQ(std::string(kernels().name) != "baseline", has_avx2);
}

/// A cap belongs to the whole process, so a rank that is a thread of it cannot have another.
TEST(InstructionSet, AProcessHasOne) {
  const auto backend = make_backend({});
  EXPECT_EQ(backend->kind(), "cpu");
  settle_instructions("");
  for (const char* cap : {"sse41", "avx2"}) {
    test::expect_error([&] { make_backend({.cores = {}, .instructions = cap}); },
                       {"this process computes with all instructions", "up to " + std::string(cap),
                        "a process of their own"});
  }
  test::expect_error([&] { make_backend({.cores = {}, .instructions = "avx3"}); },
                     {"no instruction set 'avx3'"});
  EXPECT_EQ(make_backend({})->kind(), "cpu");
}

/// kernels_test.cpp tests the kernels of every cap; this test, that a process of its own uses them.
TEST(InstructionSetDeathTest, AProcessOfItsOwnKeepsToItsCap) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const InstructionCap* const best = best_instructions();
  if (best == nullptr) GTEST_SKIP() << "no x86";
  for (const InstructionCap& cap : kInstructionCaps) {
    if (&cap > best) break;
    const auto as_it_says = [&] {
      const auto backend = make_backend({.cores = {}, .instructions = cap.name});
      const Json facts = backend->describe();
      const bool ours =
          std::string(kernels().name) != "baseline" || &cap < &instruction_cap("avx2");
      const bool same = facts.at("isa") == cap.name && backend->kind() == cap.kind;
      std::exit(same && ours && facts.at("kernels") == kernels().name ? 7 : 1);
    };
    EXPECT_EXIT(as_it_says(), testing::ExitedWithCode(7), "") << cap.name;
  }
}

}  // namespace
}  // namespace hios::cpu
