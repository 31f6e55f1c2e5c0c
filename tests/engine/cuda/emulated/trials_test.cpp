// Trials of algorithms on an emulated GPU: one that gives wrong values is never chosen, however
// fast it is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/cuda/backend.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

using cuda_emulation::settings;

/// Returns the algorithm that a fresh backend chooses.
std::string chosen_for(const test::OperationCase& one, Precision precision) {
  BackendOptions options;
  options.precision = precision;
  const Json chosen = cuda::make_backend(options)->algorithms(one.operation(), Choosing::kByTiming);
  EXPECT_EQ(chosen.size(), 1u);
  return chosen.begin().value().get<std::string>();
}

/// Returns the name of an algorithm's work on the emulated device: "cudnn 1", "graph 3", "lt 0".
std::string work_of(const std::string& algorithm) {
  const std::size_t space = algorithm.find(' ');
  std::string number = algorithm.substr(space + 1, algorithm.find(' ', space + 1) - space - 1);
  if (algorithm.starts_with("lt ")) number = number.substr(1, 1);  // of its 64 bytes, the first
  return algorithm.substr(0, space + 1) + number;
}

TEST(EmulatedTrials, NeverChooseAnAlgorithmThatGivesWrongValues) {
  const cuda_emulation::Settings before = settings();
  const auto one = test::make_operation(
      "pointwise", {1, 48, 5, 7}, {}, [](ModelBuilder& b, std::span<const TensorId> x) {
        b.relu("relu", b.conv("conv", x[0], Conv{32, {1, 1}, {1, 1}, {0, 0}}));
      });
  std::set<std::string> wrong;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    settings() = before;
    settings().seed = seed;
    const Precision precision = seed % 2 == 0 ? Precision::kFp32 : Precision::kFp16;
    const std::string fastest = chosen_for(one, precision);
    if (fastest.starts_with("own ")) continue;
    settings().wrong = work_of(fastest);
    wrong.insert(settings().wrong);
    EXPECT_NE(work_of(chosen_for(one, precision)), settings().wrong) << "seed " << seed;
  }
  settings() = before;
  EXPECT_GE(wrong.size(), 3u) << "too few algorithms were chosen at all";
}

}  // namespace
}  // namespace hios
