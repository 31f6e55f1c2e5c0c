#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "engine/backends.h"
#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/platform/cpu_kinds.h"

namespace hios {
namespace {

std::string message(std::string_view name) {
  try {
    find_backend(name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Backends, EveryRowMakesItsBackendOrNamesTheReason) {
  for (const BackendEntry& entry : backends()) {
    SCOPED_TRACE(std::string(entry.name));
    EXPECT_FALSE(entry.description.empty());
    if (entry.make == nullptr) {
      EXPECT_FALSE(entry.missing.empty());
      EXPECT_THAT(message(entry.name), testing::HasSubstr(std::string(entry.missing)));
      continue;
    }
    EXPECT_EQ(&find_backend(entry.name), &entry);
    // tests/engine/cuda makes the device's backend, and tests/cli the capped ones, in a process
    // each.
    if (entry.kind != "cpu") continue;
    const auto backend = entry.make({.threads = 1, .cores = {}});
    EXPECT_EQ(backend->name(), entry.name);
    EXPECT_EQ(backend->kind(), entry.kind);
    EXPECT_EQ(backend->threads(), 1);
    EXPECT_TRUE(backend->describe().is_object());
  }
}

TEST(Backends, EveryCapOfInstructionsIsARow) {
  for (const InstructionCap& cap : kInstructionCaps) {
    const auto row =
        std::ranges::find(backends(), "cpu:" + std::string(cap.name), &BackendEntry::name);
    ASSERT_NE(row, backends().end()) << cap.name;
    EXPECT_EQ(row->kind, cap.kind);
    EXPECT_EQ(row->instructions, cap.name);
    EXPECT_EQ(row->make, std::ranges::find(backends(), "cpu", &BackendEntry::name)->make);
  }
}

TEST(Backends, ReferenceIsAlwaysThere) { EXPECT_NE(find_backend("reference").make, nullptr); }

TEST(Backends, AutoIsTheFirstThatThisBuildHas) {
  const BackendEntry& chosen = find_backend("auto");
  ASSERT_NE(chosen.make, nullptr);
  for (const BackendEntry& entry : backends()) {
    if (&entry == &chosen) break;
    EXPECT_EQ(entry.make, nullptr) << entry.name;
  }
}

TEST(Backends, AnUnknownNameListsTheKnownOnes) {
  const std::string text = message("tpu");
  EXPECT_THAT(text, testing::HasSubstr("'tpu'"));
  for (const BackendEntry& entry : backends()) {
    EXPECT_THAT(text, testing::HasSubstr(std::string(entry.name)));
  }
  EXPECT_THAT(message(""), testing::HasSubstr("known are"));
}

TEST(Backends, CudaIsListedAndPointsToTheCpu) {
  const auto cuda = std::ranges::find(backends(), "cuda", &BackendEntry::name);
  ASSERT_NE(cuda, backends().end());
  EXPECT_EQ(cuda->instead, "cpu");
  if (cuda->make != nullptr) return;
  try {
    find_backend("cuda");
    FAIL() << "it was found";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "backend 'cuda' is not in this build: CUDA was left out (HIOS_CUDA=OFF)");
    EXPECT_EQ(error.need(), Need(need::BackendInBuild{"cuda", "cpu"}));
  }
}

}  // namespace
}  // namespace hios
