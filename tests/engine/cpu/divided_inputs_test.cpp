#include <gtest/gtest.h>

#include "engine/job/divided_job.h"

namespace hios::job {
namespace {

TEST(DividedInputs, GiveBitForBitWhatOneRankGivesOnTheCpu) {
  const SizedNetworks networks = all_sizes();
  RunOptions options = options_with({"cpu"});
  options.verify = Verify::kOperators;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "batches");
    const std::size_t ranks = 1 + seed % 3;
    const RunInputs inputs =
        inputs_for(networks.divide(test::random_batches(networks.graphs(), random)),
                   Names(ranks, "cpu"), seed);
    EXPECT_EQ(outputs_of(inputs, options, ranks).size(), 2u);
  }
}

}  // namespace
}  // namespace hios::job
