// Operators of every kind that are cut, on an emulated GPU: at every row and block of channels,
// shards have the bits of the whole by our own kernel.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/backend.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/networks/cut_everywhere.h"

namespace hios {
namespace {

/// Returns the GPU with one algorithm alone, so that whole and shards have the same: sums that are
/// split have other bits than those that are not.
std::vector<std::unique_ptr<Backend>> by_our_kernel() {
  BackendOptions options;
  options.without_algorithms = {"own 0", "own 1", "own 2", "own 3", "cudnn", "lt", "graph"};
  for (int split = 2; split <= 64; split *= 2) {
    options.without_algorithms.push_back("own 4 " + std::to_string(split));
  }
  std::vector<std::unique_ptr<Backend>> made;
  made.push_back(cuda::make_backend(options));
  return made;
}

class EmulatedCuts : public testing::Test {
 protected:
  ~EmulatedCuts() override { cuda_emulation::settings() = before; }

  const cuda_emulation::Settings before = cuda_emulation::settings();
  const Model model = test::kinds_that_are_cut();
};

TEST_F(EmulatedCuts, EveryKindAtEveryRow) {
  const auto tried = cut_everywhere(test::WholeValues(model, by_our_kernel()), Axis::kH, 1);
  EXPECT_GT(tried.cuts, 70u);
  EXPECT_EQ(tried.inexact, 0u);
}

TEST_F(EmulatedCuts, EveryKindAtEveryBlockOfChannels) {
  const auto tried = cut_everywhere(test::WholeValues(model, by_our_kernel()), Axis::kC, 8);
  EXPECT_GT(tried.cuts, 40u);
  EXPECT_EQ(tried.inexact, 0u);
}

}  // namespace
}  // namespace hios
