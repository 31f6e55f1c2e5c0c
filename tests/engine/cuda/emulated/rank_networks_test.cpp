// Ranks with an emulated GPU each, under mpirun: small networks through each route between them
// give the bits of one rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/nccl.h"
#include "engine/cuda/emulated/emulated_job.h"
#include "mpi/exchange.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

using mpi::Route;

class EmulatedRanks : public testing::TestWithParam<const char*> {
 protected:
  const Route* const route = mpi::parse_route(GetParam());
};

TEST_P(EmulatedRanks, SqueezenetGivesWhatOneRankGives) {
  expect_as_one_rank(emulated_job(route), {"squeezenet", 33});
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

INSTANTIATE_TEST_SUITE_P(By, EmulatedRanks, testing::Values("ipc", "cuda-aware", "nccl", "staged"),
                         [](const auto& by) {
                           std::string name = by.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hios::test
