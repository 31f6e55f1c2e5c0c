#include "support/networks/inferences_as_alone.h"

#include <gtest/gtest.h>

#include "engine/job/input_source.h"
#include "engine/job/verification.h"
#include "hios/base/numbers/random.h"

namespace hios::test {
RandomNetwork network_with_read_outputs(std::size_t operators, std::uint64_t seed,
                                        Bytes element_bytes) {
  RandomNetwork network = random_network(operators, seed, element_bytes);
  Random random(seed, "read outputs");
  for (std::size_t i = 0; i < operators; ++i) {
    network.coarse.wanted.push_back(random.below(4) == 0);
  }
  return network;
}

Expected inputs_alone(const RandomNetwork& network, std::size_t inputs) {
  Expected expected;
  for (std::size_t i = 0; i < inputs; ++i) {
    FakeBackend oracle;
    oracle.arithmetic = arithmetic_of(network.coarse);
    FakeSource all;
    job::OneInput source(all, i);
    expected.push_back(evaluate_alone(network.coarse, network.model, oracle, source));
  }
  return expected;
}

namespace {

void expect_pipeline_outputs(const Pipeline& pipeline, const RankPlan& plan,
                             const RandomNetwork& network, const Expected& expected,
                             std::size_t inferences) {
  EXPECT_EQ(pipeline.unlike(), 0u);
  for (std::size_t input = 0; input < expected.size(); ++input) {
    EXPECT_EQ(pipeline.ran(input), input < inferences);
    if (!pipeline.ran(input)) continue;
    for (const OpId op : plan.outputs) {
      const auto floats = as_floats(expected[input][op.index()], arithmetic_of(network.coarse));
      EXPECT_TRUE(job::compare(pipeline.output(op, input), floats, {}).bitwise)
          << network.coarse.graph.op(op).name << " of input " << input << " on rank "
          << plan.rank.index();
    }
  }
}

void expect_in_order(const std::vector<InferenceTimes>& times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_LE(times[i].start_ms, times[i].end_ms);
    EXPECT_LE(i == 0 ? 0 : times[i - 1].end_ms, times[i].end_ms);
  }
}

}  // namespace

void expect_inferences_as_alone(mpi::Transport& transport, const RandomNetwork& network,
                                const Schedule& schedule, FakeBackend& backend,
                                std::size_t in_flight, const Expected& expected) {
  const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank(),
                                  {.in_flight = in_flight, .inputs = expected.size()});
  backend.arithmetic = arithmetic_of(network.coarse);
  FakeSource source;
  Pipeline pipeline({network.coarse, network.model, backend, transport, source}, plan);
  for (const std::size_t inferences : {std::size_t{1}, 3 * in_flight + 2, std::size_t{2}}) {
    SCOPED_TRACE(std::to_string(inferences) + " inferences");
    std::vector<InferenceTimes> times(inferences);
    transport.barrier();
    pipeline.run(times);
    expect_in_order(times);
    expect_pipeline_outputs(pipeline, plan, network, expected, inferences);
    transport.barrier();
  }
  pipeline.close();
}

}  // namespace hios::test
