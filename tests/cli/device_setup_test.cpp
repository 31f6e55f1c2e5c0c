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
  EXPECT_EQ(options_of({"--math", "tf32"}, {"reference"}).precision, Precision::kTf32);
  expect_complaint(complaint_of([] {
                     options_of({"--math", "fp8"}, {"reference"});
                   }),
                   "there are fp32, tf32, fp16");
  EXPECT_EQ(parse_precision("fp32"), Precision::kFp32);
  EXPECT_EQ(parse_precision("tf32"), Precision::kTf32);
  EXPECT_EQ(to_string(Precision::kTf32), "tf32");
}

TEST(RequirePrecision, SaysWhatTheBackendHasAndWhichHasTheOther) {
  for (const Precision precision : kPrecisions)
    require_precision(find_backend("reference"), precision);
  constexpr std::array kTwo = {Precision::kFp32, Precision::kTf32};
  BackendEntry narrow{};
  narrow.name = "narrow";
  narrow.precisions = kTwo;
  require_precision(narrow, Precision::kTf32);
  expect_complaint(complaint_of([&] { require_precision(narrow, Precision::kFp16); }),
                   "the narrow backend computes in fp32, tf32, not in fp16: choose --math fp32, "
                   "tf32 or --backend reference");
}

}  // namespace
}  // namespace hios::cli
