// The four networks at small sizes on one emulated GPU: right, and the same bits on one stream and
// on several, recorded or not, in any order of queues and threads.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/cuda/backend.h"
#include "engine/cuda/bound_network.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/model/networks/networks.h"
#include "support/emulated_cuda/runtime/settings.h"
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

  std::vector<float> outputs(Backend& backend, std::size_t streams) {
    SeededSource source(kSeed);
    test::BoundNetwork bound(coarse, model, backend, source, streams);
    bound.run(2);
    return bound.outputs();
  }
  Json algorithms_of(Backend& backend) const {
    Json all = Json::object();
    for (std::size_t i = 0; i < coarse.operators.size(); ++i) {
      const Operator& described = coarse.graph.op(OpId(i));
      all.update(
          backend.algorithms({&model, &coarse.operators[i], described.name, described.signature},
                             Choosing::kByTiming));
    }
    return all;
  }

  const cuda_emulation::Settings before = cuda_emulation::settings();
  const Model model;
  const CoarseGraph coarse;
};

TEST_P(EmulatedNetwork, AgreesWithTheReferenceInEveryOrder) {
  const auto reference = reference::make_backend({});
  const std::vector<float> expected = outputs(*reference, 1);
  const auto first = cuda::make_backend({});
  const std::vector<float> values = outputs(*first, 1);
  const job::Comparison comparison = job::compare(values, expected, {});
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;

  BackendOptions options;
  options.algorithms = algorithms_of(*first);
  for (const Order order : {Order::kEarly, Order::kLate, Order::kRandom}) {
    options.graphs = order != Order::kEarly;
    cuda_emulation::settings().order = order;
    cuda_emulation::settings().threads = order == Order::kEarly  ? Threads::kRising
                                         : order == Order::kLate ? Threads::kFalling
                                                                 : Threads::kRandom;
    const auto backend = cuda::make_backend(options);
    EXPECT_TRUE(job::compare(outputs(*backend, 3), values, {}).bitwise)
        << "order " << static_cast<int>(order);
  }
}

INSTANTIATE_TEST_SUITE_P(Small, EmulatedNetwork,
                         testing::Values(test::SmallNetwork{"squeezenet", 33}),
                         [](const auto& network) { return std::string(network.param.name); });

}  // namespace
}  // namespace hios
