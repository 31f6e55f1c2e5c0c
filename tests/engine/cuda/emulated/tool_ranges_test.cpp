// Ranges for NVIDIA's tools: one for each stage, with one for each operator inside.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/cuda/backend.h"
#include "support/emulated_cuda/runtime/ranges.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

TEST(EmulatedToolRanges, NameEachStageAndOperator) {
  const auto one = test::make_operation(
      "clipped", {1, 8, 6, 6}, {},
      [](ModelBuilder& b, std::span<const TensorId> x) { b.relu("relu", x[0]); });
  const auto backend = cuda::make_backend({});
  const auto input = backend->allocate(8 * 6 * 6 * sizeof(float), "a test");
  const auto output = backend->allocate(8 * 6 * 6 * sizeof(float), "a test");
  SeededSource source(1);
  const std::byte* const inputs[] = {input->data()};
  const CoreShare share{};
  const auto op = backend->bind(one.operation(), inputs, output->data(), share, source);
  const BoundGroup groups[] = {{op.get(), op.get()}};
  cuda_emulation::note_ranges();
  backend->run_stage(groups, {&share, 1}, nullptr, nullptr);
  EXPECT_EQ(cuda_emulation::noted_ranges(),
            (std::vector<std::string>{"stage", "stage/clipped", "stage/clipped"}));
  const auto recording = backend->record([&] {
    backend->run_stage(groups, {&share, 1}, nullptr, nullptr);
  });
  ASSERT_NE(recording, nullptr);
  cuda_emulation::note_ranges();
  recording->replay();
  EXPECT_EQ(cuda_emulation::noted_ranges(), std::vector<std::string>{"recorded stages"});
  backend->synchronize();
}

}  // namespace
}  // namespace hios
