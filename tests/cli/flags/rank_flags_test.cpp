#include "cli/flags/rank_flags.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "support/message.h"

namespace hios::cli {
namespace {

using test::expect_message;
using test::message_of;

Flags parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "hios-test");
  Flags flags({.program = "hios-test", .purpose = "a test"});
  flags.add(rank_flags()).add(device_flags());
  flags.parse(static_cast<int>(words.size()), words.data());
  return flags;
}

TEST(RankFlags, DeviceFlagsMeanNothingWithoutAGpu) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"--transport", "ipc"},
                                                {"--cuda-graphs", "off"},
                                                {"--devices-per-node", "1"},
                                                {"--without-algorithms", "cudnn"},
                                                {"--allow-nondeterministic"}}) {
    std::vector<const char*> all = words;
    all.insert(all.end(), {"--backend", "reference,reference"});
    expect_message(message_of([&] { read_rank_options(parsed(all), 2); }),
                   std::string(words.front()) + " is about GPUs");
  }
  EXPECT_TRUE(read_rank_options(parsed({"--backend", "reference"}), 2).recordings);
}

TEST(RankFlags, OneBackendForAllOrOneARank) {
  EXPECT_EQ(read_rank_options(parsed({"--backend", "reference"}), 3).backends.size(), 1u);
  EXPECT_EQ(read_rank_options(parsed({"--backend", "reference,auto"}), 2).backends.size(), 2u);
  expect_message(message_of([] {
                   read_rank_options(parsed({"--backend", "auto,reference"}), 3);
                 }),
                 "2 backends are named for 3 ranks");
}

TEST(RankFlags, ArithmeticIsKnownByName) {
  EXPECT_EQ(read_math(parsed({"--math", "tf32"})), Precision::kTf32);
  EXPECT_EQ(read_math(parsed({})), std::nullopt);
  expect_message(message_of([] {
                   read_math(parsed({"--math", "fp8"}));
                 }),
                 "there are fp32, tf32, fp16");
}

TEST(RankFlags, AreReadIntoTheJobsOptions) {
  EXPECT_TRUE(read_rank_options(parsed({"--oversubscribe"}), 1).share_cores);
  EXPECT_FALSE(read_rank_options(parsed({}), 1).share_cores);
  const Protocol protocol =
      read_protocol(parsed({"--warmup", "2", "--iterations", "7", "--duration", "1.5"}), false);
  EXPECT_EQ(protocol.warmup, 2);
  EXPECT_EQ(protocol.warmup_s, 0);
  EXPECT_EQ(read_protocol(parsed({}), true).warmup_s, 0.5) << "clocks of GPUs rise for a while";
  EXPECT_EQ(read_protocol(parsed({"--warmup-seconds", "0.1"}), true).warmup_s, 0.1);
  EXPECT_EQ(protocol.iterations, 7);
  EXPECT_EQ(protocol.duration_s, 1.5);
  EXPECT_EQ(read_timeout(parsed({"--timeout", "9"})), 9);
  EXPECT_EQ(read_route(parsed({"--transport", "staged"})), mpi::parse_route("staged"));
  EXPECT_EQ(read_route(parsed({"--transport", "auto"})), nullptr);
}

}  // namespace
}  // namespace hios::cli
