#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/job/small_job.h"
#include "hios/graph/sized_networks.h"
#include "support/graphs/random_batches.h"

/// Small jobs whose operators run some of the inputs at a time.
namespace hios::job {

inline constexpr std::int64_t kInputs = 6;

/// Like small_model(), with so many inputs; an input's size is no multiple of the alignment.
inline Network small_network(std::int64_t inputs) {
  ModelBuilder b("small", {inputs, 3, 5, 7});
  const TensorId stem = b.relu("stem_relu", b.conv("stem", b.input(), {9, {3, 3}, {1, 1}, {1, 1}}));
  const TensorId left = b.conv("left", stem, {9, {1, 1}, {1, 1}, {0, 0}});
  const TensorId right = b.pool("right", stem, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  const TensorId other = b.conv("other", b.input(), {9, {1, 1}, {1, 1}, {0, 0}});
  const TensorId sum = b.sum("sum", {left, right, other});
  b.global_average_pool("mean", b.concat("concat", {sum, left}));
  b.relu("second_output", right);
  return Network(std::move(b).build());
}

inline SizedNetworks all_sizes() {
  return SizedNetworks(batch_sizes(kInputs, kInputs), small_network);
}

/// The model's outputs, by their index, row-major.
inline std::vector<std::vector<float>> outputs_of(const RunInputs& inputs, RunOptions options,
                                                  std::size_t ranks) {
  options.gather_outputs = true;
  std::vector<std::vector<float>> outputs;
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    RunResults results = run(transport, inputs, options, 0);
    if (options.verify != Verify::kNo) {
      ASSERT_TRUE(results.verified);
      EXPECT_TRUE(results.verified->bitwise()) << results.verified->first_unequal;
      EXPECT_TRUE(results.verified->passed());
      EXPECT_EQ(results.verified->operators, inputs.network.coarse.graph.size());
    }
    if (transport.rank() == Rank(0)) outputs = std::move(results.model_outputs);
  });
  return outputs;
}

}  // namespace hios::job
