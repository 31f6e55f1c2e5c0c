// Ranks with an emulated GPU each, under mpirun: small networks through each route between them
// give the bits of one rank.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/cuda/backend.h"
#include "engine/reference/backend.h"
#include "support/networks/rank_networks.h"
#include "support/programs/mpi_main.h"

namespace hios::test {
namespace {

using mpi::Route;

RankJob emulated_job(const Route* route) {
  return {.transport = job(),
          .make_backend =
              [](bool graphs, const Json& algorithms) {
                BackendOptions options;
                options.device_index = static_cast<int>(job().rank().index() % 2);
                options.graphs = graphs;
                options.algorithms = algorithms;
                return cuda::make_backend(options);
              },
          .make_reference = [] { return reference::make_backend({}); },
          .route = route};
}

class EmulatedRanks : public testing::TestWithParam<const char*> {
 protected:
  const Route* const route = mpi::parse_route(GetParam());
};

TEST_P(EmulatedRanks, SqueezenetGivesWhatOneRankGives) {
  expect_as_one_rank(emulated_job(route), {"squeezenet", 33});
}

INSTANTIATE_TEST_SUITE_P(By, EmulatedRanks, testing::Values("ipc", "nccl", "staged"),
                         [](const auto& by) { return std::string(by.param); });

}  // namespace
}  // namespace hios::test
