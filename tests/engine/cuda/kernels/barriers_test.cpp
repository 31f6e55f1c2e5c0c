// Barriers of the CUDA backend's own kernels, one after another taken away: in a random order of
// threads some value is wrong then, and in the rising or the falling one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/cuda/kernels/own_kernels.h"
#include "support/emulated_cuda/runtime/barriers.h"
#include "support/layers/layer_operations.h"

namespace hios {
namespace {

using cuda_emulation::Barrier;
using cuda_emulation::Threads;
using test::OperationCase;
using Values = std::vector<float>;

/// A case and the backend that runs it.
struct OneRun {
  const OperationCase& one;
  std::shared_ptr<Backend> backend;

  Values values(std::uint64_t seed) const { return test::run_operation(*backend, one, 1, seed); }
};

bool same_bits(const Values& one, const Values& other) {
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

class Barriers : public testing::Test {
 protected:
  Barriers() {
    watch_.on = true;
    const std::shared_ptr<Backend> any = test::with_own_kernels(Precision::kFp32);
    for (const OperationCase& one : test::operation_cases()) add({one, any});
    for (const OperationCase& one : test::layer_operation_cases()) {
      if (test::has_barriers(one)) add({one, any});
    }
    for (const Json& algorithm : test::own_algorithms(convolution_, Precision::kFp32)) {
      add({convolution_, test::with_own_kernels(Precision::kFp32, algorithm)});
    }
  }
  ~Barriers() override {
    watch_ = {};
    cuda_emulation::settings() = before_;
  }

  /// Notes the barriers that the run reaches.
  void add(const OneRun& run) {
    watch_.reached.clear();
    run.values(kSeed);
    for (const Barrier& barrier : watch_.reached) runs_[barrier].push_back(run);
  }

  /// Returns true if a run without the barrier gives other values. Before it, memory that threads
  /// share gets those of other inputs.
  bool is_missed(const Barrier& barrier, Threads order) {
    cuda_emulation::settings().threads = order;
    const auto differs = [&](const OneRun& run) {
      const Values right = run.values(kSeed);
      run.values(kOtherSeed);
      watch_.missing = barrier;
      const Values wrong = run.values(kSeed);
      watch_.missing.reset();
      EXPECT_TRUE(same_bits(run.values(kSeed), right)) << "a race with all barriers";
      return !same_bits(right, wrong);
    };
    return std::any_of(runs_[barrier].begin(), runs_[barrier].end(), differs);
  }

  static constexpr std::uint64_t kSeed = 11, kOtherSeed = 12;
  const cuda_emulation::Settings before_ = cuda_emulation::settings();
  cuda_emulation::BarrierWatch& watch_ = cuda_emulation::barrier_watch();
  /// It takes several blocks by every tile, and has an odd number of channels, for which threads
  /// share more.
  const OperationCase convolution_ =
      test::conv_case("blocks", {1, 13, 15, 13}, Conv{40, {3, 3}, {1, 1}, {1, 1}}, false, true);
  std::map<Barrier, std::vector<OneRun>> runs_;
};

/// Returns the barriers that are written in the kernels' sources.
std::set<Barrier> barriers_in_sources() {
  std::set<Barrier> found;
  for (const auto& file :
       std::filesystem::directory_iterator(HIOS_SOURCE_DIR "/engine/cuda/kernels")) {
    std::ifstream source(file.path());
    std::string line;
    for (unsigned number = 1; std::getline(source, line); ++number) {
      if (line.find("__syncthreads()") != std::string::npos) {
        found.insert({file.path().filename(), number});
      }
    }
  }
  return found;
}

// One order may hide a barrier: in the falling one, a thread that alone reads what others wrote
// comes last if it is the block's first.
TEST_F(Barriers, AreMissedInARandomOrderOfThreadsAndInAnother) {
  std::set<Barrier> reached;
  for (const auto& [barrier, runs] : runs_) {
    SCOPED_TRACE(barrier.file + ":" + std::to_string(barrier.line));
    reached.insert({std::filesystem::path(barrier.file).filename(), barrier.line});
    EXPECT_TRUE(is_missed(barrier, Threads::kRandom));
    EXPECT_TRUE(is_missed(barrier, Threads::kRising) || is_missed(barrier, Threads::kFalling));
  }
  EXPECT_EQ(reached, barriers_in_sources());
}

}  // namespace
}  // namespace hios
