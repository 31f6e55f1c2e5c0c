// All four networks on one GPU: right, and the same bits on one stream and on several, recorded or
// not.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/cuda/backend.h"
#include "engine/cuda/bound_network.h"
#include "engine/cuda/cold_start.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/model/networks/networks.h"
#include "hios/platform/platform.h"
#include "support/networks/small_network.h"
#include "support/programs/free_memory.h"

namespace hios {
namespace {

using test::SmallNetwork;

constexpr std::uint64_t kSeed = 7;

class GpuNetwork : public testing::TestWithParam<std::tuple<SmallNetwork, Precision>> {
 protected:
  GpuNetwork()
      : network(std::get<SmallNetwork>(GetParam())),
        precision(std::get<Precision>(GetParam())),
        model(models::find(network.name)->build(1, network.size, network.size)),
        coarse(coarsen(model, element_bytes(precision))) {}

  BackendOptions options() const {
    BackendOptions result;
    result.precision = precision;
    return result;
  }

  std::vector<float> outputs(Backend& backend, std::size_t streams) {
    return outputs(backend, streams, coarse);
  }
  std::vector<float> outputs(Backend& backend, std::size_t streams, const CoarseGraph& graph) {
    SeededSource source(kSeed);
    test::BoundNetwork bound(graph, model, backend, source, streams);
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

  const SmallNetwork network;
  const Precision precision;
  const Model model;
  const CoarseGraph coarse;
};

/// Against fp32, as hios-run --verify=operators does.
TEST_P(GpuNetwork, AgreesWithTheReferenceOnEveryOperator) {
  const auto reference = reference::make_backend({});
  const auto gpu = cuda::make_backend(options());
  const job::Comparison comparison = job::compare(
      outputs(*gpu, 1), outputs(*reference, 1, coarsen(model)), job::default_tolerance(precision));
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
  RecordProperty("largest_difference", std::to_string(comparison.max_abs));
}

TEST_P(GpuNetwork, GivesTheSameBitsOnAnyStreamsRecordedOrNot) {
  const auto first = cuda::make_backend(options());
  const std::vector<float> expected = outputs(*first, 1);
  EXPECT_TRUE(job::compare(outputs(*first, 8), expected, {}).bitwise) << "eight streams";
  BackendOptions without_graphs = options();
  without_graphs.graphs = false;
  without_graphs.algorithms = algorithms_of(*first);
  const auto queued = cuda::make_backend(without_graphs);
  EXPECT_TRUE(job::compare(outputs(*queued, 1), expected, {}).bitwise) << "without graphs";
  EXPECT_TRUE(job::compare(outputs(*queued, 3), expected, {}).bitwise)
      << "without graphs, 3 streams";
}

INSTANTIATE_TEST_SUITE_P(Small, GpuNetwork,
                         testing::Combine(testing::Values(SmallNetwork{"inception_v3", 139},
                                                          SmallNetwork{"nasnet_large", 64},
                                                          SmallNetwork{"squeezenet", 97},
                                                          SmallNetwork{"randwire_large", 64}),
                                          testing::Values(Precision::kFp32, Precision::kTf32,
                                                          Precision::kFp16)),
                         [](const auto& parameter) {
                           return std::string(std::get<SmallNetwork>(parameter.param).name) + "_" +
                                  std::string(to_string(std::get<Precision>(parameter.param)));
                         });

TEST(GpuColdStart, HasTheBitsOfAResidentInference) {
  for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
    for (const bool graphs : {true, false}) {
      BackendOptions options;
      options.precision = precision;
      options.graphs = graphs;
      const auto backend = cuda::make_backend(options);
      ASSERT_EQ(backend->unsupported_in_place(), std::nullopt);
      test::expect_cold_bits_on(*backend);
      EXPECT_EQ(backend->recording_refused(), "");
    }
  }
}

TEST(GpuMemory, DoesNotGrowInAThousandIterations) {
  const Model model = models::find("squeezenet")->build(1, 97, 97);
  const CoarseGraph coarse = coarsen(model);
  for (const bool graphs : {true, false}) {
    BackendOptions options;
    options.graphs = graphs;
    const auto backend = cuda::make_backend(options);
    SeededSource source(kSeed);
    test::BoundNetwork network(coarse, model, *backend, source, 4);
    EXPECT_EQ(network.recorded(), graphs);
    network.run(10);
    const std::vector<float> before = network.outputs();
    EXPECT_TRUE(test::some_round_takes_nothing(*backend, [&] { network.run(1000); }));
    EXPECT_TRUE(job::compare(network.outputs(), before, {}).bitwise);
  }
}

}  // namespace
}  // namespace hios
