#include "engine/job/verification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/reference/backend.h"
#include "support/layers/naive_nchw.h"

namespace hios::job {
namespace {

using Floats = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfiniteValue = std::numeric_limits<float>::infinity();

// ------------------------------------------------------------------------------- compare

TEST(Compare, EqualValuesAreBitwise) {
  const Comparison c = compare(Floats{1, -2, 0}, Floats{1, -2, 0}, {});
  EXPECT_EQ(c.max_abs, 0);
  EXPECT_EQ(c.max_rel, 0);
  EXPECT_EQ(c.outside, 0u);
  EXPECT_TRUE(c.bitwise);
  EXPECT_TRUE(compare({}, {}, {}).bitwise);
}

TEST(Compare, CountsWhatIsBeyondAtolPlusRtol) {
  // Tolerance at 100 is 0.5 + 0.01·100 = 1.5; at 0 it is 0.5.
  const Tolerance tolerance{.atol = 0.5, .rtol = 0.01};
  const Comparison c =
      compare(Floats{101.5f, 102, -98.5f, 0.5f, 0.75f}, Floats{100, 100, -100, 0, 0}, tolerance);
  EXPECT_EQ(c.outside, 2u);
  EXPECT_EQ(c.max_abs, 2);
  EXPECT_DOUBLE_EQ(c.max_rel, 0.02) << "elements within atol of zero have no relative error";
  EXPECT_FALSE(c.bitwise);
}

TEST(Compare, ZeroToleranceAcceptsEqualOnly) {
  const Tolerance exact{.atol = 0, .rtol = 0};
  EXPECT_EQ(compare(Floats{1, 2}, Floats{1, 2}, exact).outside, 0u);
  EXPECT_EQ(compare(Floats{1, std::nextafter(2.0f, 3.0f)}, Floats{1, 2}, exact).outside, 1u);
}

TEST(Compare, NanOnOneSideIsOutside) {
  EXPECT_EQ(compare(Floats{kNan, 1}, Floats{1, 1}, {}).outside, 1u);
  EXPECT_EQ(compare(Floats{1, 1}, Floats{1, kNan}, {}).outside, 1u);
  const Comparison both = compare(Floats{kNan, kNan}, Floats{kNan, kInfiniteValue}, {});
  EXPECT_EQ(both.outside, 1u);
  EXPECT_EQ(both.nan, 1u);
  EXPECT_TRUE(std::isinf(both.max_abs));
}

TEST(Compare, NanOnBothSidesAgrees) {
  const Comparison both = compare(Floats{kNan, 1}, Floats{kNan, 1}, {.atol = 0, .rtol = 0});
  EXPECT_EQ(both.outside, 0u);
  EXPECT_EQ(both.nan, 1u);
  EXPECT_EQ(both.max_abs, 0);
}

TEST(Compare, InfinityMatchesItselfOnly) {
  EXPECT_EQ(compare(Floats{kInfiniteValue}, Floats{kInfiniteValue}, {}).outside, 0u);
  EXPECT_EQ(compare(Floats{kInfiniteValue}, Floats{-kInfiniteValue}, {}).outside, 1u);
  EXPECT_EQ(compare(Floats{kInfiniteValue}, Floats{1}, {}).outside, 1u);
  EXPECT_EQ(compare(Floats{1}, Floats{kInfiniteValue}, {}).outside, 1u);
}

TEST(Compare, SignOfZeroIsABitButNoError) {
  const Comparison c = compare(Floats{0.0f}, Floats{-0.0f}, {.atol = 0, .rtol = 0});
  EXPECT_FALSE(c.bitwise);
  EXPECT_EQ(c.outside, 0u);
}

TEST(Compare, RefusesDifferentLengths) {
  EXPECT_THROW(compare(Floats{1, 2}, Floats{1}, {}), std::logic_error);
}

// ---------------------------------------------------------------------------- OneRankRun

/// Two branches, a sum, a separable convolution and a concat that closes the graph.
Model model_with_branches() {
  ModelBuilder b("small", {2, 3, 9, 8});
  const TensorId stem = b.relu("stem_relu", b.conv("stem", b.input(), {8, {3, 3}, {1, 1}, {1, 1}}));
  const TensorId left = b.conv("left", stem, {8, {1, 1}, {1, 1}, {0, 0}});
  const TensorId right = b.pool("right", stem, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  const TensorId other = b.conv("other", b.input(), {8, {1, 1}, {1, 1}, {0, 0}});
  const TensorId sum = b.sum("sum", {left, right, other});
  const TensorId depthwise =
      b.conv("depthwise", b.relu("relu", sum), {8, {3, 3}, {1, 1}, {1, 1}, 8});
  const TensorId separable = b.conv("pointwise", depthwise, {12, {1, 1}, {1, 1}, {0, 0}});
  b.concat("concat", {separable, left, separable});
  return std::move(b).build();
}

/// The reference backend, which counts the operators that are bound at once and notes their core
/// shares.
class WatchedBackend final : public Backend {
 public:
  std::string_view name() const override { return inner_->name(); }
  std::string_view kind() const override { return inner_->kind(); }
  int threads() const override { return inner_->threads(); }
  Json describe() const override { return inner_->describe(); }
  std::optional<std::string> unsupported(const Operation& operation) const override {
    return inner_->unsupported(operation);
  }
  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return inner_->allocate(size_bytes, what);
  }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override {
    threads_of[operation.name] = share.threads;
    most_bound = std::max(most_bound, ++bound);
    return std::make_unique<Watched>(inner_->bind(operation, inputs, output, share, source), bound);
  }
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> lanes_of_groups,
                 void (*poll)(void*), void* argument) override {
    inner_->run_stage(groups, lanes_of_groups, poll, argument);
  }

  int bound = 0, most_bound = 0;
  std::map<std::string, int> threads_of;

 private:
  class Watched final : public BoundOperator {
   public:
    Watched(std::unique_ptr<BoundOperator> op, int& count) : op_(std::move(op)), bound_(count) {}
    ~Watched() override { --bound_; }
    void run() override { op_->run(); }

   private:
    std::unique_ptr<BoundOperator> op_;
    int& bound_;
  };

  std::unique_ptr<Backend> inner_ = reference::make_backend({.threads = 4, .cores = {}});
};

TEST(OneRankRun, ComputesEveryOperatorInOrder) {
  const Model model = model_with_branches();
  const CoarseGraph coarse = coarsen(model);
  WatchedBackend backend;
  SeededSource source(11);
  const std::vector<int> threads(coarse.graph.size(), 1);
  const OneRankRun run(coarse, model, backend, threads, source, "");

  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    const OpId op(i);
    // All layers up to this operator as one, from the model's input: an independent result.
    OperatorLayers all;
    for (std::size_t layer = 0; layer < model.layers().size(); ++layer) {
      all.layers.push_back(LayerId(layer));
    }
    all.inputs = {model.input()};
    all.output = coarse.layers(op).output;
    Floats input(static_cast<std::size_t>(model.tensor(model.input()).shape.elements()));
    source.input(model, input);
    const Floats expected = test::naive_nchw(model, all, {input}, source);
    const Comparison c = compare(run.output(op), expected, {.atol = 1e-5, .rtol = 1e-5});
    EXPECT_EQ(c.outside, 0u) << coarse.graph.op(op).name;
  }
}

TEST(OneRankRun, BindsOneOperatorAtATimeWithItsThreads) {
  const Model model = model_with_branches();
  const CoarseGraph coarse = coarsen(model);
  WatchedBackend backend;
  SeededSource source(11);
  std::vector<int> threads;
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) threads.push_back(1 + int(i) % 4);
  const OneRankRun run(coarse, model, backend, threads, source, "");
  EXPECT_EQ(backend.most_bound, 1);
  EXPECT_EQ(backend.bound, 0);
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    EXPECT_EQ(backend.threads_of.at(coarse.graph.op(OpId(i)).name), threads[i]);
  }
}

// ------------------------------------------------------------------ threads_of_operators

TEST(ThreadsOfOperators, AStageDividesItsDevicesCores) {
  std::vector<Operator> operators(7);
  for (std::size_t i = 0; i < operators.size(); ++i) operators[i].name = "v" + std::to_string(i);
  const Graph graph("g", operators, {});
  ScheduleFile file;
  file.devices = {{.name = "cpu0", .kind = "cpu", .threads = 3, .streams = 2, .host = ""},
                  {.name = "cpu1", .kind = "cpu", .threads = 2, .streams = 3, .host = ""}};
  file.schedule.devices = {
      {Stage{{{OpId(0)}}}, Stage{{{OpId(1), OpId(2)}, {OpId(3)}}}},
      {Stage{{{OpId(6)}, {OpId(5)}, {OpId(4)}}}},
  };
  EXPECT_EQ(threads_of_operators(graph, file), (std::vector<int>{3, 2, 2, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace hios::job
