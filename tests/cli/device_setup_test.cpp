#include "cli/device_setup.h"

#include <gtest/gtest.h>

#include <array>

#include "hios/base/error.h"
#include "support/complaint.h"

namespace hios::cli {
namespace {

using test::complaint_of;
using test::expect_complaint;
using Names = std::vector<std::string>;

DeviceOptions options_of(std::vector<const char*> words, const Names& backends) {
  words.insert(words.begin(), "hios-test");
  Flags flags("hios-test", "a test");
  flags.add(device_flags());
  flags.parse(static_cast<int>(words.size()), words.data());
  return read_device_options(flags, backends);
}

TEST(DeviceIndices, EachRankOfAHostTakesTheNextDevice) {
  const Names hosts = {"n1", "n1", "n2", "n2", "n1"};
  const std::vector<bool> all(5, true);
  EXPECT_EQ(device_indices(hosts, all, 0), (std::vector<int>{0, 1, 0, 1, 2}));
  EXPECT_EQ(device_indices(hosts, all, 2), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(device_indices(hosts, all, 1), (std::vector<int>(5, 0)));
}

TEST(DeviceIndices, RanksOnCoresTakeNone) {
  EXPECT_EQ(device_indices({"n1", "n1", "n1"}, {false, true, true}, 0),
            (std::vector<int>{0, 0, 1}));
}

TEST(DeviceOptions, MeanNothingWithoutAGpu) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"--transport", "ipc"},
                                                {"--cuda-graphs", "off"},
                                                {"--devices-per-node", "1"},
                                                {"--allow-nondeterministic"}}) {
    expect_complaint(complaint_of([&] {
                       options_of(words, {"reference", "reference"});
                     }),
                     std::string(words.front()) + " is about GPUs");
  }
  EXPECT_FALSE(options_of({}, {"reference"}).transport);
}

TEST(DeviceOptions, ArithmeticIsKnownByName) {
  EXPECT_EQ(options_of({"--math", "tf32"}, {"reference"}).math, "tf32");
  expect_complaint(complaint_of([] {
                     options_of({"--math", "fp8"}, {"reference"});
                   }),
                   "there are fp32, tf32, fp16");
  EXPECT_EQ(math_named("fp32"), Math::kFp32);
  EXPECT_EQ(math_named("tf32"), Math::kTf32);
  EXPECT_EQ(to_string(Math::kTf32), "tf32");
}

TEST(RequireMath, SaysWhatTheBackendHasAndWhichHasTheOther) {
  for (const char* math : {"fp32", "tf32", "fp16"}) require_math(find_backend("reference"), math);
  constexpr std::array kTwo = {Math::kFp32, Math::kTf32};
  BackendEntry narrow{};
  narrow.name = "narrow";
  narrow.maths = kTwo;
  require_math(narrow, "tf32");
  expect_complaint(complaint_of([&] { require_math(narrow, "fp16"); }),
                   "the narrow backend computes in fp32, tf32, not in fp16: choose --math fp32, "
                   "tf32 or --backend reference");
}

}  // namespace
}  // namespace hios::cli
