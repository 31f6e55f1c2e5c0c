// Ranks with an emulated GPU each, under mpirun: small networks through each route between them
// give the bits of one rank.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/memory.h"
#include "engine/cuda/device/nccl.h"
#include "engine/cuda/emulated/emulated_job.h"
#include "mpi/exchange.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

constexpr SmallNetwork kNetworks[] = {
    {"squeezenet", 33}, {"inception_v3", 75}, {"randwire_large", 32}, {"nasnet_large", 32}};

class EmulatedRanks : public testing::TestWithParam<std::tuple<SmallNetwork, const char*>> {};

TEST_P(EmulatedRanks, GiveWhatOneRankGives) {
  const auto& [network, route] = GetParam();
  expect_as_one_rank(emulated_job(mpi::parse_route(route)), network);
}

/// Runs with another emulated machine on one rank.
template <class Value>
void expect_as_one_rank_where_one(std::size_t differs, Value cuda_emulation::Settings::*setting,
                                  Value value, const mpi::Route* route) {
  Value& mine = cuda_emulation::settings().*setting;
  const Value before = mine;
  if (job().rank().index() == differs) mine = value;
  expect_as_one_rank(emulated_job(route), {"squeezenet", 33});
  mine = before;
}

/// One rank has no IPC, so all of its messages go by NCCL, and some of the others'.
TEST(EmulatedRecording, IsTheSameOnAllRanksWhereOneHasOneRouteOnly) {
  expect_as_one_rank_where_one(2, &cuda_emulation::Settings::ipc, false, nullptr);
}

TEST(EmulatedRecording, IsTheSameOnAllRanksWhereOneRefuses) {
  expect_as_one_rank_where_one(1, &cuda_emulation::Settings::nccl_records, false,
                               mpi::parse_route("nccl"));
}

/// Calls that go on for some microseconds cost no pause: a rank alone needs no patience.
TEST(EmulatedNccl, AsksOftenBeforeItPauses) {
  constexpr Bytes kBytes = 1024;
  const std::vector<float> sent(kBytes / sizeof(float), 7.0f);
  std::vector<float> received(sent.size());
  cuda::open_gpu(static_cast<int>(job().rank().index()));
  cuda::Streams streams;
  const mpi::Queue in = streams.in_queue(job().rank());
  cuda::DeviceBlock from(kBytes, "a test"), to(kBytes, "a test");
  const auto group =
      cuda::join_nccl_group(cuda::name_nccl_group(), 0, 1, streams, std::chrono::milliseconds(0));
  streams.copy(from.data(), sent.data(), kBytes);
  for (int message = 0; message < 8; ++message) {
    group->send(from.data(), kBytes, 0, mpi::Queue::kOut);
    group->receive(to.data(), kBytes, 0, in);
  }
  streams.synchronize();
  streams.copy(received.data(), to.data(), kBytes);
  EXPECT_EQ(received, sent);
}

/// A member that never comes costs the others their patience; a new group works then.
TEST(EmulatedNccl, GivesUpAMemberThatNeverComes) {
  const std::size_t self = job().rank().index();
  cuda::open_gpu(static_cast<int>(self % 2));
  const cuda::Streams streams;
  const auto named = [&] {
    return mpi::broadcast(job(), self == 0 ? cuda::name_nccl_group() : std::string(), Rank(0));
  };
  const std::string missed = named();
  if (self == 0) {
    expect_error<RunError>(
        [&] {
          cuda::join_nccl_group(missed, 0, job().size(), streams, std::chrono::milliseconds(20));
        },
        {"NCCL, joining the GPUs: it waits for another rank too long"});
  }
  job().barrier();
  const auto group = cuda::join_nccl_group(named(), self, job().size(), streams);
  EXPECT_NO_THROW(group->check());
}

INSTANTIATE_TEST_SUITE_P(By, EmulatedRanks,
                         testing::Combine(testing::ValuesIn(kNetworks),
                                          testing::ValuesIn(kEmulatedRoutes)),
                         [](const auto& by) {
                           return std::string(std::get<0>(by.param).name) + "_by_" +
                                  word_of_route(std::get<1>(by.param));
                         });

}  // namespace
}  // namespace hios::test
