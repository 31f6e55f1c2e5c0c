// fp16 and tf32 through plan, executor and verification, on the reference backend: the roundings,
// the halved number of bytes, and N ranks with the bits of one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/backend/host_copies.h"
#include "engine/backends.h"
#include "engine/job/verification.h"
#include "engine/measure/stages/stage_batch.h"
#include "engine/run/executor.h"
#include "engine/run/plan/memory_estimate.h"
#include "hios/base/numbers/half.h"
#include "hios/model/networks/networks.h"
#include "hios/platform/platform.h"
#include "mpi/messages/serial.h"
#include "support/fakes/fake_backend.h"
#include "support/layers/operations.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::random_network;
using test::RandomNetwork;
using test::reference_in;

class Arithmetic : public testing::TestWithParam<Precision> {
 protected:
  const Precision precision = GetParam();
  const Bytes element = element_bytes(precision);
};

TEST_P(Arithmetic, RanksGiveTheBitsOfOne) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(12, seed, element);
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = test::random_schedule(network.coarse.graph, ranks, 2, seed);
    const auto alone = reference_in(precision);
    SeededSource source(seed);
    const job::OneRankRun expected(network.coarse, network.model, *alone,
                                   std::vector<int>(network.coarse.graph.size(), 1), source, "");
    test::run_ranks(ranks, [&](mpi::Transport& transport) {
      const RankPlan plan =
          plan_rank(network.coarse, schedule, transport.rank(), {.keep_all = true});
      const auto backend = reference_in(precision);
      Executor executor({network.coarse, network.model, *backend, transport, source}, plan);
      executor.run_once();
      for (const Slot& slot : plan.slots) {
        EXPECT_TRUE(job::compare(executor.output(slot.op), expected.output(slot.op), {}).bitwise);
      }
    });
  }
}

TEST_P(Arithmetic, StaysWithinItsToleranceOfFp32AndIsNotFp32) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model, element), fp32 = coarsen(model);
  const std::vector<int> threads(coarse.graph.size(), 1);
  SeededSource source(5);
  const auto rough = reference_in(precision), exact = reference_in(Precision::kFp32);
  const job::OneRankRun run(coarse, model, *rough, threads, source, ""),
      expected(fp32, model, *exact, threads, source, "");
  bool same = true;
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    const job::Comparison found = job::compare(run.output(OpId(i)), expected.output(OpId(i)),
                                               job::default_tolerance(precision));
    EXPECT_EQ(found.outside, 0u) << coarse.graph.op(OpId(i)).name << ": " << found.max_abs;
    same = same && found.bitwise;
  }
  EXPECT_EQ(same, precision == Precision::kFp32);
}

TEST_P(Arithmetic, StagesAreMeasuredInIt) {
  const RandomNetwork network = random_network(8, 2, element);
  const auto backend = reference_in(precision);
  SeededSource source(1);
  std::vector<Stage> stages;
  for (const OpId op : network.coarse.graph.topological()) stages.push_back({{{op}}});
  const auto transport = mpi::make_serial_transport();
  StageBatch batch({network.coarse, network.model, *backend, *transport, source}, stages, 1 << 16);
  std::vector<double> ms(stages.size(), -1);
  EXPECT_GE(batch.sweep(ms), 0);
  for (const double one : ms) EXPECT_GE(one, 0);
}

std::string name_of(const testing::TestParamInfo<Precision>& info) {
  return std::string(to_string(info.param));
}
INSTANTIATE_TEST_SUITE_P(In, Arithmetic,
                         testing::Values(Precision::kFp32, Precision::kTf32, Precision::kFp16),
                         name_of);

TEST(Fp16, HalvesEveryByteOfAPlan) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph wide = coarsen(model), narrow = coarsen(model, 2);
  EXPECT_NE(wide.graph.digest(), narrow.graph.digest());
  for (std::size_t i = 0; i < wide.graph.size(); ++i) {
    EXPECT_EQ(wide.graph.op(OpId(i)).memory_bytes, 2 * narrow.graph.op(OpId(i)).memory_bytes);
    EXPECT_EQ(wide.graph.op(OpId(i)).parameter_bytes, 2 * narrow.graph.op(OpId(i)).parameter_bytes);
    EXPECT_EQ(wide.graph.op(OpId(i)).signature, narrow.graph.op(OpId(i)).signature);
  }
  const Schedule schedule = test::random_schedule(wide.graph, 2, 2, 1);
  const RankPlan of_floats = plan_rank(wide, schedule, Rank(0), {.keep_all = true}),
                 of_halves = plan_rank(narrow, schedule, Rank(0), {.keep_all = true});
  ASSERT_FALSE(of_floats.sends.empty());
  for (std::size_t i = 0; i < of_floats.sends.size(); ++i) {
    EXPECT_EQ(of_floats.sends[i].size_bytes(), 2 * of_halves.sends[i].size_bytes());
  }
  EXPECT_EQ(estimate_memory(narrow, model, of_halves).input, 64u * 64 * 3 * 2);
  EXPECT_LT(of_halves.arena_bytes, of_floats.arena_bytes * 6 / 10);
}

TEST(Fp16, RoundsInputsWeightsAndTheResultOnce) {
  const float a = 1 + 0x1p-11f + 0x1p-20f;  // rounds up to 1 + 2^-10
  struct OneWeight final : TensorSource {
    void weights(const Model&, const Layer&, std::span<float> out) override {
      out[0] = 3 + 0x1p-9f + 0x1p-19f;
    }
    void bias(const Model&, const Layer&, std::span<float> out) override { out[0] = 0x1p-12f; }
    void input(const Model&, std::span<float>) override {}
  } source;
  const auto one = test::make_operation("one", {1, 1, 1, 1}, {},
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.conv("conv", x[0], Conv{1, {1, 1}, {1, 1}, {0, 0}});
                                        });
  const auto result = [&](Precision precision) {
    return test::run_operation(*reference_in(precision), one, 1, {{a}}, source).front();
  };
  const float input = round_to_half(a), weight = round_to_half(3 + 0x1p-9f + 0x1p-19f);
  ASSERT_NE(input, a);
  EXPECT_EQ(result(Precision::kFp16), round_to_half(input * weight + 0x1p-12f));
  EXPECT_NE(result(Precision::kFp16), input * weight + 0x1p-12f) << "the result is no half";
  EXPECT_EQ(result(Precision::kTf32), input * weight + 0x1p-12f) << "tf32 keeps as many bits";
  EXPECT_NE(result(Precision::kFp32), result(Precision::kTf32));
}

TEST(Fp16, LayersInsideAnOperatorAreNotRounded) {
  // 2048 + 1 is not a half, and neither is half of it; their difference from 2048 would be lost.
  const auto two = test::make_operation("two", {1, 1, 1, 1}, {1, 1, 1},
                                        [](ModelBuilder& b, std::span<const TensorId> x) {
                                          b.sum("second", {b.sum("first", {x[0], x[1]}), x[2]});
                                        });
  SeededSource source(1);
  EXPECT_EQ(
      test::run_operation(*reference_in(Precision::kFp16), two, 1, {{2048}, {1}, {-2048}}, source),
      std::vector<float>{1});
}

TEST(Fp16, CopiesRoundOnTheWayInAndNotOnTheWayOut) {
  const auto backend = reference_in(Precision::kFp16);
  const auto buffer = backend->allocate(8, "a test");
  write_floats(*backend, buffer->data(), {1.0f, 1 + 0x1p-12f, 1e6f, -0x1p-24f});
  EXPECT_EQ(read_floats(*backend, buffer->data(), 4),
            (std::vector<float>{1.0f, 1.0f, INFINITY, -0x1p-24f}));
  Half first;
  std::memcpy(&first, buffer->data(), sizeof first);
  EXPECT_EQ(first.bits, 0x3c00);
}

/// A half next to 2048 would name the row of another index, without a word.
TEST(Fp16, RowsOfLargeTablesAreRefused) {
  const auto lookup = [](std::int64_t rows) {
    return test::make_operation("lookup", {1, 1, 1, 3}, {},
                                [rows](ModelBuilder& b, std::span<const TensorId> x) {
                                  b.add("words", Gather{Shape{rows, 2, 1, 1}}, {x[0]});
                                });
  };
  const auto reason = [](const test::OperationCase& one, Precision precision) {
    return reference_in(precision)->unsupported(one.operation());
  };
  const auto most = lookup(2048), more = lookup(2049);
  EXPECT_EQ(reason(most, Precision::kFp16), std::nullopt);
  EXPECT_EQ(reason(more, Precision::kFp32), std::nullopt);
  EXPECT_EQ(reason(more, Precision::kFp16),
            "words looks up a table of 2049 rows, and fp16 holds whole numbers up to 2048");
}

TEST(Fp16, PositionsAmongManyValuesAreRefused) {
  const auto reason = [](std::int64_t values, bool positions) {
    const auto made = test::make_operation("top", {1, values, 1, 3}, {},
                                           [&](ModelBuilder& b, std::span<const TensorId> x) {
                                             b.add("best", TopK{3, true, positions}, {x[0]});
                                           });
    return reference_in(Precision::kFp16)->unsupported(made.operation());
  };
  EXPECT_EQ(reason(2048, true), std::nullopt);
  EXPECT_EQ(reason(2049, false), std::nullopt);
  EXPECT_EQ(reason(2049, true),
            "best finds positions among 2049 values, and fp16 holds whole numbers up to 2048");
}

TEST(Fp16, CountingBeyondItsWholeNumbersIsRefused) {
  const auto reason = [](Binary::Function function, std::vector<float> numbers,
                         Precision precision) {
    auto made = test::make_operation(
        "add", {1, 2, 1, 3}, {}, [&](ModelBuilder& b, std::span<const TensorId> x) {
          b.add("at", Binary{function, Shape{1, 2, 1, 1}, false}, {x[0]});
        });
    ModelWeights weights;
    weights.set("at", {std::move(numbers), {}});
    made.model = made.model.with_weights(std::move(weights));
    return reference_in(precision)->unsupported(made.operation());
  };
  using enum Binary::Function;
  EXPECT_EQ(reason(kAdd, {2048, 4096}, Precision::kFp16), std::nullopt);
  EXPECT_EQ(reason(kAdd, {2048.5f, 1e9f}, Precision::kFp16), std::nullopt) << "no positions";
  EXPECT_EQ(reason(kMul, {0, 2049}, Precision::kFp16), std::nullopt);
  EXPECT_EQ(reason(kAdd, {0, 2049}, Precision::kFp32), std::nullopt);
  EXPECT_EQ(reason(kAdd, {0, 2049}, Precision::kFp16),
            "at counts with 2049, and fp16 holds whole numbers up to 2048");
}

TEST(Fp16, AGraphOfOtherElementsIsAMistake) {
  const RandomNetwork network = random_network(4, 1);
  const auto order = network.coarse.graph.topological();
  const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
  const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = reference_in(Precision::kFp16);
    SeededSource source(1);
    EXPECT_THROW(Executor({network.coarse, network.model, *backend, transport, source}, plan),
                 std::logic_error);
  });
}

TEST(Arithmetics, AreKnownForEveryBackend) {
  for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kFp16}) {
    EXPECT_EQ(parse_precision(to_string(precision)), precision);
    for (const BackendEntry& entry : backends()) {
      EXPECT_EQ(entry.has(precision),
                precision == Precision::kFp32 || !entry.name.starts_with("cpu"))
          << entry.name;
    }
    EXPECT_EQ(reference_in(precision)->precision(), precision);
    EXPECT_EQ(reference_in(precision)->describe()["math"], to_string(precision));
  }
}

}  // namespace
}  // namespace hios
