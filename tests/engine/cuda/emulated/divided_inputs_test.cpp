// Operators that run some of the inputs at a time on an emulated GPU: their ranges of tensors begin
// at addresses that neither the libraries nor our kernels accept.
#include <gtest/gtest.h>

#include "engine/job/divided_job.h"
#include "engine/job/verification.h"
#include "support/emulated_cuda/runtime/settings.h"

namespace hios::job {
namespace {

TEST(EmulatedDividedInputs, GiveTheReferencesValuesWhereverTheirRangesBegin) {
  const cuda_emulation::Settings before = cuda_emulation::settings();
  const SizedNetworks networks = all_sizes();
  const auto expected =
      outputs_of(inputs_for(networks.whole(), Names(1, "cpu"), 1), options_with({"reference"}), 1);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    cuda_emulation::settings().seed = seed;  // which chooses other algorithms
    Random random(seed, "batches");
    RunOptions options = options_with({"cuda"});
    options.ranks.recordings = seed % 2 == 0;
    const auto values = outputs_of(
        inputs_for(networks.divide(test::random_batches(networks.graphs(), random)), {"gpu"}, seed),
        options, 1);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Comparison comparison = compare(values[i], expected[i], {});
      EXPECT_EQ(comparison.outside, 0u) << "output " << i << " by " << comparison.max_abs;
    }
  }
  cuda_emulation::settings() = before;
}

}  // namespace
}  // namespace hios::job
