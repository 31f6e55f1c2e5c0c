// Ranks that share one GPU, under mpirun: every network through each route between them gives the
// bits of one rank. The bodies are in tests/support/networks/rank_networks.h; they also run without
// a GPU.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/cuda/backend.h"
#include "engine/reference/backend.h"
#include "support/networks/rank_networks.h"
#include "support/programs/mpi_main.h"

namespace hios::test {
namespace {

using mpi::Route;

/// All ranks use the first GPU.
RankJob gpu_job(const Route* route) {
  return {.transport = job(),
          .make_backend =
              [](bool graphs, const Json& algorithms) {
                BackendOptions options;
                options.graphs = graphs;
                options.algorithms = algorithms;
                return cuda::make_backend(options);
              },
          .make_reference = [] { return reference::make_backend({}); },
          .route = route};
}

/// Skipped is not passed: if all tests of a run were skipped, it ends with the status that CTest
/// shows as skipped (support/programs/mpi_main.h). A route that the machine should have and lacks
/// is a failure.
class GpuRanks : public testing::TestWithParam<const Route*> {
 protected:
  void SetUp() override {
    ASSERT_GE(job().size(), 2u) << "start this program with mpirun -np 2";
    if (GetParam() == mpi::parse_route("cuda-aware") && !job().claims_device_memory()) {
      GTEST_SKIP() << "NOT RUN: this MPI does not call itself CUDA-aware";
    }
  }
};

TEST_P(GpuRanks, InceptionGivesWhatOneRankGives) {
  expect_as_one_rank(gpu_job(GetParam()), {"inception_v3", 139});
}

TEST_P(GpuRanks, NasnetGivesWhatOneRankGives) {
  expect_as_one_rank(gpu_job(GetParam()), {"nasnet_large", 64});
}

TEST_P(GpuRanks, SqueezenetGivesWhatOneRankGives) {
  expect_as_one_rank(gpu_job(GetParam()), {"squeezenet", 97});
}

TEST_P(GpuRanks, RandwireGivesWhatOneRankGives) {
  expect_as_one_rank(gpu_job(GetParam()), {"randwire_large", 64});
}

TEST_P(GpuRanks, MemoryDoesNotGrowInAThousandIterations) {
  expect_no_growth(gpu_job(GetParam()), {"squeezenet", 97}, 1000);
}

INSTANTIATE_TEST_SUITE_P(Ipc, GpuRanks, testing::Values(mpi::parse_route("ipc")));
INSTANTIATE_TEST_SUITE_P(CudaAware, GpuRanks, testing::Values(mpi::parse_route("cuda-aware")));
INSTANTIATE_TEST_SUITE_P(Staged, GpuRanks, testing::Values(mpi::parse_route("staged")));

}  // namespace
}  // namespace hios::test
