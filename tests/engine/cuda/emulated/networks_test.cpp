// Networks at small sizes on one emulated GPU: right, and the same bits on one stream and
// on several, recorded or not, in any order of queues and threads.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/backend/operation.h"
#include "engine/cuda/backend.h"
#include "engine/cuda/bound_network.h"
#include "engine/cuda/operators/operators.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/base/numbers/random.h"
#include "hios/model/networks/networks.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/expect_error.h"
#include "support/layers/operations.h"
#include "support/networks/small_network.h"

namespace hios {
namespace {

using cuda_emulation::Order;
using cuda_emulation::Threads;

constexpr std::uint64_t kSeed = 7;

class EmulatedNetwork : public testing::TestWithParam<test::SmallNetwork> {
 protected:
  EmulatedNetwork()
      : model(models::find(GetParam().name)->build(1, GetParam().size, GetParam().size)),
        coarse(coarsen(model)) {}
  ~EmulatedNetwork() override { cuda_emulation::settings() = before; }

  /// EXPECTs the reference's values, and the same bits in all these orders.
  void expect_right_in(std::span<const Order> orders);

  std::vector<float> outputs(Backend& backend, std::size_t streams) {
    SeededSource source(kSeed);
    test::BoundNetwork bound(coarse, model, backend, source, streams);
    bound.run(1);
    return bound.outputs();
  }
  /// Returns a random algorithm for each convolution, of those that can be made: without trials,
  /// which take most of the time.
  Json random_algorithms() const {
    const cuda::Gpu gpu = cuda::open_gpu(0);
    cuda::StreamState stream;
    const auto lt = cuda::make<cuda::LtHandle>("a test", cublasLtCreate);
    const cuda::ConvolutionTools tools{gpu, stream, lt.get()};
    Random random(kSeed, GetParam().name);
    Json algorithms = Json::object();
    for (const OperatorLayers& layers : coarse.operators) {
      const auto* const chain = std::get_if<ConvolutionChain>(&layers.form);
      if (chain == nullptr) continue;
      const auto problem = cuda::problem_of(model, *chain, Precision::kFp32);
      if (!problem) continue;
      const auto names = cuda::convolution_candidates(*problem, tools, /*deterministic=*/true);
      for (bool made = false; !made;) {
        const std::string& name = names[random.below(names.size())];
        // Refused only when it is queued: a fused bias without a relu.
        if (name.starts_with("cudnn 0 ") && name.ends_with("fused")) continue;
        try {
          cuda::make_convolution(name, *problem, tools);
          algorithms[problem->key()] = name;
          made = true;
        } catch (const RunError&) {  // proposed, then refused
        }
      }
    }
    return algorithms;
  }

  const cuda_emulation::Settings before = cuda_emulation::settings();
  const Model model;
  const CoarseGraph coarse;
};

void EmulatedNetwork::expect_right_in(std::span<const Order> orders) {
  const auto reference = reference::make_backend({});
  const std::vector<float> expected = outputs(*reference, 1);
  BackendOptions options;
  options.algorithms = random_algorithms();
  std::vector<float> first;
  for (const Order order : orders) {
    options.graphs = order != Order::kEarly;
    cuda_emulation::settings().order = order;
    cuda_emulation::settings().threads = order == Order::kEarly  ? Threads::kRising
                                         : order == Order::kLate ? Threads::kFalling
                                                                 : Threads::kRandom;
    const auto backend = cuda::make_backend(options);
    const std::vector<float> values = outputs(*backend, order == Order::kEarly ? 1 : 3);
    if (first.empty()) first = values;
    EXPECT_TRUE(job::compare(values, first, {}).bitwise) << "order " << static_cast<int>(order);
  }
  const job::Comparison comparison = job::compare(first, expected, {});
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
}

TEST_P(EmulatedNetwork, AgreesWithTheReferenceInEveryOrder) {
  expect_right_in(std::array{Order::kEarly, Order::kLate, Order::kRandom});
}

INSTANTIATE_TEST_SUITE_P(Small, EmulatedNetwork,
                         testing::Values(test::SmallNetwork{"squeezenet", 33},
                                         test::SmallNetwork{"inception_v3", 75},
                                         test::SmallNetwork{"randwire_large", 32}),
                         [](const auto& network) { return std::string(network.param.name); });

/// A network whose kernels take too long for three orders.
class EmulatedLargeNetwork : public EmulatedNetwork {};

TEST_P(EmulatedLargeNetwork, AgreesWithTheReference) {
  cuda_emulation::settings().memory_bytes = std::size_t{3} << 29;  // for its weights
  expect_right_in(std::array{Order::kLate});
}

INSTANTIATE_TEST_SUITE_P(Small, EmulatedLargeNetwork,
                         testing::Values(test::SmallNetwork{"nasnet_large", 32}),
                         [](const auto& network) { return std::string(network.param.name); });

TEST(EmulatedRefusals, NameAllOperatorsAtOnce) {
  const auto sum_of = [](const std::string& name, std::size_t terms) {
    return test::make_operation(name, {1, 3, 2, 2}, {4}, [&](ModelBuilder& b, auto x) {
      b.sum("sum", std::vector<TensorId>(terms, x[0]));
    });
  };
  const std::size_t most = cuda::CombineTask::kMaxTerms;
  const test::OperationCase first = sum_of("first", most + 1), fits = sum_of("fits", most),
                            second = sum_of("second", most + 2);
  const Operation operations[] = {first.operation(), fits.operation(), second.operation()};
  const auto backend = cuda::make_backend({});
  test::expect_error<InputError>([&] { require_support(*backend, operations); },
                                 {"backend cuda cannot run 2 operators: first: it sums more than",
                                  "; second: it sums more than"});
  EXPECT_NO_THROW(require_support(*backend, {operations + 1, 1}));
}

}  // namespace
}  // namespace hios
