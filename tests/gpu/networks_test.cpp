// All four networks on one GPU: right, and the same bits on one stream and on several, recorded or
// not.
#include <gtest/gtest.h>

#include "engine/cuda/backend.h"
#include "engine/reference/backend.h"
#include "engine/verify.h"
#include "gpu/bound_network.h"
#include "hios/models/models.h"

namespace hios {
namespace {

constexpr std::uint64_t kSeed = 7;

struct SmallNetwork {
  std::string_view name;
  std::int64_t size;  ///< height and width
};

class GpuNetwork : public testing::TestWithParam<SmallNetwork> {
 protected:
  GpuNetwork()
      : model(models::find(GetParam().name)->build(1, GetParam().size, GetParam().size)),
        coarse(coarsen(model)) {}

  std::vector<float> outputs(Backend& backend, std::size_t streams) {
    SeededSource source(kSeed);
    test::BoundNetwork network(coarse, model, backend, source, streams);
    network.run(2);
    return network.outputs();
  }
  Json choices(Backend& backend) const {
    Json all = Json::object();
    for (std::size_t i = 0; i < coarse.operators.size(); ++i) {
      const Operator& described = coarse.graph.op(OpId(i));
      all.update(
          backend.choices({&model, &coarse.operators[i], described.name, described.signature}));
    }
    return all;
  }

  const Model model;
  const CoarseGraph coarse;
};

TEST_P(GpuNetwork, AgreesWithTheReferenceOnEveryOperator) {
  const auto reference = reference::make_backend({});
  const auto gpu = cuda::make_backend({});
  const Comparison comparison =
      compare(outputs(*gpu, 1), outputs(*reference, 1), {.atol = 1e-3, .rtol = 1e-3});
  EXPECT_EQ(comparison.outside, 0u) << "largest difference " << comparison.max_abs;
}

TEST_P(GpuNetwork, GivesTheSameBitsOnAnyStreamsRecordedOrNot) {
  const auto first = cuda::make_backend({});
  const std::vector<float> expected = outputs(*first, 1);
  EXPECT_TRUE(compare(outputs(*first, 8), expected, {}).bitwise) << "eight streams";
  BackendOptions options;
  options.graphs = false;
  options.algorithms = choices(*first);
  const auto queued = cuda::make_backend(options);
  EXPECT_TRUE(compare(outputs(*queued, 1), expected, {}).bitwise) << "without graphs";
  EXPECT_TRUE(compare(outputs(*queued, 3), expected, {}).bitwise) << "without graphs, 3 streams";
}

INSTANTIATE_TEST_SUITE_P(Small, GpuNetwork,
                         testing::Values(SmallNetwork{"inception_v3", 139},
                                         SmallNetwork{"nasnet_large", 64},
                                         SmallNetwork{"squeezenet", 97},
                                         SmallNetwork{"randwire_large", 64}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

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
    const Bytes free_before = *backend->free_memory();
    network.run(1000);
    EXPECT_EQ(*backend->free_memory(), free_before);
    EXPECT_TRUE(compare(network.outputs(), before, {}).bitwise);
  }
}

}  // namespace
}  // namespace hios
