#include "engine/job/ranks/device_agreement.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/reference/backend.h"
#include "hios/base/need.h"
#include "mpi/messages/serial.h"
#include "support/fakes/fake_async_backend.h"
#include "support/message.h"
#include "support/networks/random_network.h"
#include "support/transports/fake_job.h"

namespace hios::job {
namespace {

const std::string kH200 = "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0";
const std::string kOlder = "NVIDIA H200, CUDA 12.6, cuDNN 9.5.0";
const std::string kA100 = "NVIDIA A100, CUDA 13.0, cuDNN 9.19.0";

using Identities = std::vector<DeviceIdentity>;

Platform gpus_named(const Identities& names) {
  return Platform::homogeneous(names.size(), "gpu", 0, 1).with_identities(names);
}

/// Returns the message of the refusal; empty where ranks may run the schedule.
InputError refusal_with_need(const Identities& gpus, const Identities& named) {
  try {
    require_identities(gpus, gpus_named(named), "s.json");
  } catch (const InputError& error) {
    return error;
  }
  return InputError("");
}

std::string refusal(const Identities& gpus, const Identities& named) {
  return refusal_with_need(gpus, named).what();
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(GpuRule, AcceptsRanksThatAreAlikeOrAsScheduled) {
  EXPECT_EQ(refusal({kH200, kH200}, {"", ""}), "");
  EXPECT_EQ(refusal({kH200, kH200}, {kH200, ""}), "");
  EXPECT_EQ(refusal({kH200, ""}, {"", ""}), "") << "cores and a GPU";
  EXPECT_EQ(refusal({kH200, kA100}, {kH200, kA100}), "");
  EXPECT_EQ(refusal({kH200, kOlder}, {"NVIDIA H200", "NVIDIA H200"}), "");
  EXPECT_EQ(refusal({"", ""}, {"", ""}), "");
}

TEST(GpuRule, RefusesADifferenceThatTheScheduleDoesNotName) {
  expect_words(refusal({kH200, kA100}, {"", ""}), {"s.json: $.devices[0]", "rank 0 has " + kH200,
                                                   "rank 1 has " + kA100, "does not say so"});
  expect_words(refusal({kH200, kOlder}, {"", ""}), {"CUDA 13.0", "CUDA 12.6"});
  expect_words(refusal({kH200, "", kA100}, {kH200, "", ""}), {"$.devices[2]", "rank 0 has"});
}

TEST(GpuRule, RefusesAnotherGpuThanTheNamedOne) {
  expect_words(refusal({kH200, kA100}, {kH200, kH200}),
               {"$.devices[1]: made for " + kH200, "rank 1 has " + kA100});
  EXPECT_EQ(refusal_with_need({kH200, kA100}, {kH200, kH200}).need(), Need(need::SameGpu{}));
  expect_words(refusal({kOlder}, {kH200}), {"made for " + kH200, kOlder});
  expect_words(refusal({""}, {kH200}), {"rank 0 has no GPU"});
}

TEST(GpuRule, KnowsWhetherGpusAreTheSame) {
  EXPECT_TRUE(same_gpus({}));
  EXPECT_TRUE(same_gpus({kH200, "", kH200}));
  EXPECT_FALSE(same_gpus({"", kH200, kA100}));
}

TEST(GpuRule, ARankOnCoresHasNone) {
  const auto transport = mpi::make_serial_transport();
  EXPECT_EQ(gather_identities(*transport, *reference::make_backend({})), Identities{""});
}

TEST(SameDevice, RanksAreFoundByTheirDevicesIdentity) {
  test::run_fake_job({.backends = {"fake-device", "fake", "fake-device"}},
                     [](mpi::Transport& transport) {
                       const std::size_t rank = transport.rank().index();
                       const auto backend = test::fake_backends()[rank == 1 ? 0 : 1].make({});
                       const DeviceSharers sharers = gather_sharers(transport, *backend);
                       ASSERT_EQ(sharers.size(), 2u);
                       EXPECT_EQ(sharers.at("FAKE-0"), std::vector<std::size_t>{0});
                       EXPECT_EQ(sharers.at("FAKE-2"), std::vector<std::size_t>{2});
                     });
  EXPECT_EQ(listed({0, 2, 3}), "0, 2, 3");
}

/// One rank's device has less than its plan needs.
TEST(AgreeOnMemory, ANetworkTooLargeForOneRankIsRefusedByAll) {
  test::RandomNetwork random = test::random_network(12, 4);
  const Network network(std::move(random.model), std::move(random.coarse));
  const Schedule schedule = test::random_schedule(network.coarse.graph, 2, 2, 3);
  const auto messages = [&](Bytes free_on_1) {
    return test::messages_of_ranks(
        {.backends = {"fake-device", "fake-device"},
         .on_make =
             [&](Rank rank, test::FakeBackend& backend) {
               auto& device = dynamic_cast<test::FakeAsyncBackend&>(backend);
               device.free_bytes = rank == Rank(0) ? Bytes{1} << 30 : free_on_1;
             }},
        [&](mpi::Transport& transport) {
          const auto backend = test::fake_backends()[1].make({});
          const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
          agree_on_memory(transport, *backend, network, plan);
        });
  };
  for (const std::string& text : messages(Bytes{1} << 30)) EXPECT_EQ(text, "");
  for (const std::string& text : messages(64)) test::expect_message(text, "rank 1");
}

/// Returns the messages for ranks whose backends report these libraries.
std::vector<std::string> messages_about(const std::vector<std::string>& names,
                                        const std::vector<std::string>& libraries) {
  class Named final : public test::FakeBackend {
   public:
    Named(std::string name, std::string library)
        : name_(std::move(name)), library_(std::move(library)) {}
    std::string_view name() const override { return name_; }
    Json describe() const override { return {{"library", library_}}; }

   private:
    std::string name_, library_;
  };
  return test::messages_of_ranks(
      {.backends = std::vector<std::string>(names.size(), "fake")}, [&](mpi::Transport& transport) {
        const std::size_t rank = transport.rank().index();
        require_one_library(transport, Named(names[rank], libraries[rank]));
      });
}

TEST(OneLibrary, AnotherVersionOnSomeRankIsRefusedByAll) {
  for (const std::string& text :
       messages_about({"cpu", "cpu", "cpu"}, {"oneDNN 2.6.3", "oneDNN 2.6.3", "oneDNN 3.2.0"})) {
    expect_words(text, {"rank 0 computes with oneDNN 2.6.3", "rank 2 with oneDNN 3.2.0"});
  }
  const std::vector<std::string> none(2);
  EXPECT_EQ(messages_about({"cpu", "cpu"}, {"oneDNN 2.6.3", "oneDNN 2.6.3"}), none);
  EXPECT_EQ(messages_about({"cpu", "reference"}, {"oneDNN 2.6.3", "none"}), none);
}

Platform two_devices(Bytes first, Bytes second) {
  return Platform({{"cpu0", "cpu", 1, 1, first, ""}, {"slow", "cpu-avx2", 1, 1, second, ""}});
}

TEST(AgreeOnLimits, ARankAboveItsDevicesMemoryIsNamedByAll) {
  const auto messages = [](Bytes first, Bytes second) {
    return test::messages_of_ranks({.backends = {"fake", "fake"}}, [&](mpi::Transport& transport) {
      const Bytes one = transport.rank() == Rank(0) ? 1000 : 2000;
      const MemoryEstimate mine{.tensors = one, .input = 100, .parameters = 10 * one, .scratch = 7};
      const auto all = agree_on_limits(transport, mine, two_devices(first, second), "s.json");
      ASSERT_EQ(all.size(), 2u);
      EXPECT_EQ(all[1].total(), 22107u);
    });
  };
  const std::vector<std::string> none(2);
  EXPECT_EQ(messages(0, 0), none) << "no limit";
  EXPECT_EQ(messages(11107, 22107), none);
  for (const std::string& text : messages(11107, 22106)) {
    expect_words(text, {"s.json: $.devices[1].memory_bytes: rank 1 would hold 22107 bytes",
                        "20000 of weights, 2000 of tensors, 100 of the input, 7 of scratch",
                        "slow has 22106"});
  }
  for (const std::string& text : messages(11106, 0)) expect_words(text, {"rank 0", "11106"});
}

}  // namespace
}  // namespace hios::job
