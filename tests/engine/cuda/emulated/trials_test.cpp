// Trials of algorithms on an emulated GPU: one that gives wrong values is never chosen, however
// fast it is; every candidate has a time or a reason; runs find none of their operands in the
// cache.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/cuda/backend.h"
#include "engine/cuda/operators/autotune.h"
#include "engine/cuda/operators/autotune_timer.h"
#include "support/emulated_cuda/runtime/device.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/emulated_cuda/runtime/streams.h"
#include "support/expect_error.h"
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

/// fp32 is what it says: an algorithm that rounds its operands to TF32, and has no note that it
/// does, is refused by its values. Where TF32 is asked for, it is as good as any.
TEST(EmulatedTrials, NeverChooseAnAlgorithmThatRoundsInFp32) {
  const cuda_emulation::Settings before = settings();
  const auto one = test::make_operation("pointwise", {1, 48, 5, 7}, {},
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.conv("conv", x[0], Conv{32, {1, 1}, {1, 1}, {0, 0}});
                                        });
  std::set<std::string> rounding;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    settings() = before;
    settings().seed = seed;
    const std::string fastest = chosen_for(one, Precision::kFp32);
    if (fastest.starts_with("own ")) continue;
    settings().rounds = work_of(fastest);
    rounding.insert(settings().rounds);
    EXPECT_NE(work_of(chosen_for(one, Precision::kFp32)), settings().rounds) << "seed " << seed;
    const std::string of_tf32 = chosen_for(one, Precision::kTf32);
    settings().rounds = work_of(of_tf32);
    EXPECT_EQ(chosen_for(one, Precision::kTf32), of_tf32) << "seed " << seed;
  }
  settings() = before;
  EXPECT_GE(rounding.size(), 2u) << "too few algorithms were chosen at all";
}

/// A problem, with all that its trials need.
class EmulatedTrial : public testing::Test {
 protected:
  ~EmulatedTrial() override { settings() = before_; }

  const cuda::Gpu gpu_ = cuda::open_gpu(0);
  cuda::StreamState stream_;
  const cuda::LtHandle lt_ = cuda::make<cuda::LtHandle>("a test", cublasLtCreate);
  const cuda::ConvolutionTools tools_{gpu_, stream_, lt_.get()};
  const cuda::ConvolutionProblem problem_{{1, 5, 7, 48, 5, 7, 32}, 1, true, false, true,
                                          Precision::kFp32};

 private:
  const cuda_emulation::Settings before_ = settings();
};

TEST_F(EmulatedTrial, GivesATimeOrAReasonForEveryCandidate) {
  const auto names = cuda::convolution_candidates(problem_, tools_, true);
  for (std::string fastest = "own"; fastest.starts_with("own"); ++settings().seed) {
    cuda::Algorithms first(Json::object(), true);
    fastest = first.of(problem_, tools_);
    settings().wrong = work_of(fastest);
  }
  --settings().seed;
  cuda::Algorithms algorithms(Json::object(), true);
  const std::string chosen = algorithms.of(problem_, tools_);
  const Json& trials = algorithms.trials().at(problem_.key());
  EXPECT_EQ(trials.size(), names.size());
  std::size_t refused = 0, slow = 0, wrong = 0;
  for (const auto& [name, result] : trials.items()) {
    if (result.is_number()) {
      EXPECT_GE(result.get<double>(), trials.at(chosen).get<double>()) << name;
      continue;
    }
    const std::string reason = result.get<std::string>();
    refused += reason.starts_with("cuDNN, ") ? 1 : 0;
    slow += reason.starts_with("its first runs took ") ? 1 : 0;
    wrong += reason.starts_with("its values differ from those of our kernel by ") ? 1 : 0;
  }
  EXPECT_GT(refused, 0u) << trials.dump(2);
  EXPECT_GT(slow, 0u) << trials.dump(2);
  EXPECT_GT(wrong, 0u) << trials.dump(2);
}

/// All candidates for a problem compute the same, whether an algorithm adds and ends with the
/// function or a pass of ours does.
TEST_F(EmulatedTrial, TheEndIsPartOfAnAlgorithmOrOfAPass) {
  using Function = Unary::Function;
  const std::optional<Unary> ends[] = {std::nullopt, Unary{Function::kSilu},
                                       Unary{Function::kClip, 0, 6}, Unary{Function::kGeluTanh}};
  for (const std::optional<Unary>& end : ends) {
    for (const bool addend : {false, true}) {
      cuda::ConvolutionProblem problem = problem_;
      problem.addend = addend;
      problem.activation = end;
      problem.relu_after = !end;
      SCOPED_TRACE(problem.key());
      cuda::AutotuneTimer timer(problem, tools_);
      std::unique_ptr<cuda::ConvolutionAlgorithm> own;
      std::size_t added = 0, gelu = 0, others = 0;
      for (const std::string& name : cuda::convolution_candidates(problem, tools_, true)) {
        if (!own) own = cuda::make_convolution(name, problem, tools_);
        try {
          const auto algorithm = cuda::make_convolution(name, problem, tools_);
          EXPECT_LT(timer.difference(*algorithm, *own), 1e-5) << name;
        } catch (const RunError&) {
          continue;  // proposed, then refused
        }
        ++(name.ends_with(" added") ? added : name.ends_with(" gelu") ? gelu : others);
      }
      EXPECT_EQ(added >= 3, addend) << added;
      EXPECT_EQ(gelu, end && end->function == Function::kGeluTanh ? 2u : 0u);
      EXPECT_GE(others, 3u);
    }
  }
}

TEST_F(EmulatedTrial, NamesOfOtherProblemsAreRefused) {
  for (const std::string& name : cuda::convolution_candidates(problem_, tools_, true)) {
    for (const char* const end : {" added", " gelu"}) {
      test::expect_error<RunError>([&] { cuda::make_convolution(name + end, problem_, tools_); },
                                   {"is no algorithm"});
    }
  }
}

/// Our kernel computes bias, addend and function in its own launch, or in the one that adds parts.
TEST_F(EmulatedTrial, OurKernelNeedsNoPassForTheEnd) {
  cuda::ConvolutionProblem problem = problem_;
  problem.addend = true;
  problem.relu_after = false;
  problem.activation = Unary{Unary::Function::kMish};
  cuda::AutotuneTimer timer(problem, tools_);
  const auto launches_of = [&](const std::string& name) {
    const auto algorithm = cuda::make_convolution(name, problem, tools_);
    timer.run_once(*algorithm);
    const std::size_t before = cuda_emulation::launches();
    timer.run_once(*algorithm);
    return cuda_emulation::launches() - before;
  };
  EXPECT_EQ(launches_of("own 2 1"), 1u);
  EXPECT_EQ(launches_of("own 2 2"), 2u);
}

/// Notes its operands and computes nothing.
class Noted final : public cuda::ConvolutionAlgorithm {
 public:
  Bytes workspace_bytes() const override { return 0; }
  void queue(const cuda::ConvolutionOperands& operands, std::byte*, std::string_view) override {
    inputs.insert(operands.input);
    weights.insert(operands.weights);
    outputs.insert(operands.output);
  }
  std::set<const void*> inputs, weights, outputs;
};

TEST_F(EmulatedTrial, RunsTakeWeightsAndActivationsInTurnBeyondTheCache) {
  cuda::Gpu gpu = gpu_;
  gpu.cache_bytes = Bytes{1} << 20;
  Noted noted;
  cuda::ConvolutionProblem problem = problem_;
  problem.window = {1, 8, 8, 64, 8, 8, 64};
  cuda::AutotuneTimer timer(problem, {gpu, stream_, lt_.get()});
  timer.trial(noted, std::numeric_limits<double>::infinity());
  const Bytes values = problem.input_values() + problem.weight_values() + problem.output_values() +
                       static_cast<Bytes>(problem.window.out_channels);
  const std::size_t others = noted.inputs.size() - 1;  // between two runs with the same operands
  EXPECT_GE(others * values * sizeof(float), gpu.cache_bytes);
  EXPECT_EQ(noted.weights.size(), noted.inputs.size());
  EXPECT_EQ(noted.outputs.size(), noted.inputs.size());
}

/// Keeps the device idle while the host queues it: ten times as long as its work takes.
class SlowToQueue final : public cuda::ConvolutionAlgorithm {
 public:
  explicit SlowToQueue(cudaStream_t stream) : stream_(stream) {}
  Bytes workspace_bytes() const override { return 0; }
  void queue(const cuda::ConvolutionOperands&, std::byte*, std::string_view) override {
    const std::unique_lock held(cuda_emulation::Device::get().lock());
    const int idle = cuda_emulation::is_capturing(stream_) ? 0 : 10;
    for (int i = 0; i < 1 + idle; ++i) cuda_emulation::enqueue(stream_, {"short", [] {}});
  }

 private:
  const cudaStream_t stream_;
};

TEST_F(EmulatedTrial, TheHostsTimeMakesNoAlgorithmHopeless) {
  SlowToQueue algorithm(stream_.stream());
  cuda::AutotuneTimer timer(problem_, tools_);
  const double alone_ms =
      timer.trial(algorithm, std::numeric_limits<double>::infinity()).ms.value();
  const cuda::Trial equal = timer.trial(algorithm, alone_ms);
  ASSERT_TRUE(equal.ms) << equal.refusal;
  EXPECT_NEAR(*equal.ms, alone_ms, alone_ms / 100);
  const cuda::Trial slow = timer.trial(algorithm, alone_ms / 4);
  EXPECT_FALSE(slow.ms);
  EXPECT_TRUE(slow.refusal.starts_with("its first runs took ")) << slow.refusal;
  timer.record_nothing();  // then nothing but the host's queueing can be timed
  EXPECT_FALSE(timer.trial(algorithm, alone_ms).ms);
}

}  // namespace
}  // namespace hios
