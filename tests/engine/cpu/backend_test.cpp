// The CPU backend as a whole: properties that no single small operator shows.
#include "engine/cpu/backend.h"

#include <dnnl_version.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "hios/base/error.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

using test::cpu_backend;
using test::make_operation;
using test::OperationCase;
using Inputs = std::span<const TensorId>;

constexpr std::uint64_t kBackendSeed = 11;

Conv depthwise(std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  return {channels, {kernel, kernel}, {stride, stride}, {kernel / 2, kernel / 2}, channels, true};
}
Conv pointwise(std::int64_t channels, std::int64_t stride = 1) {
  return {channels, {1, 1}, {stride, stride}, {0, 0}, 1, true};
}

/// Operators whose middle exceeds one block, to cover borders between blocks, the shorter last
/// block and the rows that two blocks share.
std::vector<OperationCase> operators_of_many_blocks() {
  std::vector<OperationCase> cases;
  cases.push_back(make_operation("separable", {2, 40, 87, 83}, {}, [](ModelBuilder& b, Inputs x) {
    b.conv("pw", b.conv("dw", b.relu("relu", x[0]), depthwise(40, 5, 1)), pointwise(8));
  }));
  cases.push_back(make_operation(
      "separable_s2_sum2", {1, 3, 171, 163}, {27, 27}, [](ModelBuilder& b, Inputs x) {
        const TensorId sum = b.relu("relu", b.sum("sum", {x[0], x[1]}));
        b.conv("pw", b.conv("dw", sum, depthwise(27, 7, 2)), pointwise(6));
      }));
  cases.push_back(make_operation("relu_conv", {1, 60, 83, 61}, {}, [](ModelBuilder& b, Inputs x) {
    b.conv("pw", b.relu("relu", x[0]), pointwise(5));
  }));
  cases.push_back(make_operation(
      "sum_relu_conv_s2", {2, 2, 141, 121}, {40, 40, 40}, [](ModelBuilder& b, Inputs x) {
        const TensorId sum = b.sum("sum", {x.begin(), x.end()});
        b.relu("after", b.conv("pw", b.relu("relu", sum), pointwise(7, 2)));
      }));
  const Shape image{2, 40, 87, 83};
  cases.push_back(make_operation("gated", {image, {2, 40, 1, 1}}, [](ModelBuilder& b, Inputs x) {
    b.conv("pw", b.add("scaled", Binary{Binary::Function::kMul, {}, false}, {x[0], x[1]}),
           pointwise(8));
  }));
  const Shape small{7, 300, 11, 9};  // a block has rows of several of these images
  cases.push_back(make_operation("small_sum2", {small, small}, [](ModelBuilder& b, Inputs x) {
    const TensorId sum = b.relu("relu", b.sum("sum", {x[0], x[1]}));
    b.conv("pw", b.conv("dw", sum, depthwise(300, 3, 1)), pointwise(8));
  }));
  cases.push_back(
      make_operation("small_gated", {small, {7, 300, 1, 1}}, [](ModelBuilder& b, Inputs x) {
        b.conv("pw", b.add("scaled", Binary{Binary::Function::kMul, {}, false}, {x[0], x[1]}),
               pointwise(8));
      }));
  const auto activated = [](ModelBuilder& b, TensorId x, Unary::Function function) {
    return b.add(std::string(onnx_type(Unary{function})), Unary{function}, {x});
  };
  cases.push_back(make_operation("conv_silu", {1, 7, 83, 61}, {}, [&](ModelBuilder& b, Inputs x) {
    activated(b, b.conv("pw", x[0], pointwise(60)), Unary::Function::kSilu);
  }));
  cases.push_back(
      make_operation("separable_tanh_sigmoid", {2, 40, 87, 83}, {}, [&](ModelBuilder& b, Inputs x) {
        const TensorId dw = b.conv("dw", x[0], depthwise(40, 3, 1));
        activated(b, b.conv("pw", activated(b, dw, Unary::Function::kTanh), pointwise(8)),
                  Unary::Function::kSigmoid);
      }));
  for (const auto& [name, kernel, stride] :
       {std::tuple{"expanded", 3, 1}, {"expanded_s2", 3, 2}, {"expanded_5x5", 5, 1}}) {
    cases.push_back(make_operation(name, {2, 9, 87, 83}, {}, [&](ModelBuilder& b, Inputs x) {
      const TensorId wide =
          activated(b, b.conv("first", x[0], pointwise(40)), Unary::Function::kTanh);
      const TensorId out =
          b.conv("pw", b.conv("dw", wide, depthwise(40, kernel, stride)), pointwise(9));
      if (stride == 1) b.relu("relu", b.sum("sum", {out, x[0]}));
    }));
  }
  return cases;
}

TEST(CpuBackend, BlocksOfRowsJoinWithoutSeams) {
  const auto reference = reference::make_backend({});
  for (const OperationCase& c : operators_of_many_blocks()) {
    SCOPED_TRACE(c.name);
    const auto expected = test::run_operation(*reference, c, 1, kBackendSeed);
    for (const int threads : {1, 2, 3, 7}) {
      SCOPED_TRACE(threads);
      const auto values = test::run_operation(*cpu_backend(threads), c, threads, kBackendSeed);
      EXPECT_EQ(job::compare(values, expected, {.atol = 1e-4, .rtol = 1e-4}).outside, 0u);
    }
  }
}

TEST(CpuBackend, ThreadsGiveAnInvertedResidualTheSameBits) {
  // With the weights' layout of the blocks before, oneDNN has no fast code for the last rows.
  const OperationCase c = make_operation("expanded", {1, 10, 27, 57}, {}, [](auto& b, Inputs x) {
    const TensorId wide = b.conv("first", x[0], pointwise(64));
    b.conv("pw", b.conv("dw", wide, depthwise(64, 3, 2)), pointwise(27));
  });
  const auto expected = test::run_operation(*cpu_backend(1), c, 1, kBackendSeed);
  for (const int threads : {2, 3, 4}) {
    SCOPED_TRACE(threads);
    const auto values = test::run_operation(*cpu_backend(threads), c, threads, kBackendSeed);
    EXPECT_TRUE(job::compare(values, expected, {}).bitwise);
  }
}

/// Operators whose rows do not divide evenly among threads, and products of several panels.
std::vector<OperationCase> uneven_operators() {
  std::vector<OperationCase> cases;
  for (const auto& [shape, kernel, stride] :
       {std::tuple{Shape{1, 40, 21, 21}, 5, 1}, {{3, 40, 7, 5}, 3, 1}, {{2, 40, 15, 13}, 3, 2}}) {
    cases.push_back(make_operation("separable", {shape, shape}, [&](ModelBuilder& b, Inputs x) {
      const TensorId sum = b.relu("relu", b.sum("sum", {x[0], x[1]}));
      b.conv("pw", b.conv("dw", sum, depthwise(40, kernel, stride)), pointwise(24));
    }));
  }
  for (const auto& [shape, columns] : {std::pair{Shape{1, 1300, 21, 21}, 240},
                                       {{1, 200, 9, 9}, 80},
                                       {{1, 1300, 23, 23}, 96},
                                       {{3, 60, 21, 21}, 40}}) {
    cases.push_back(make_operation("pointwise", {shape}, [&](ModelBuilder& b, Inputs x) {
      b.add("silu", Unary{Unary::Function::kSilu}, {b.conv("pw", x[0], pointwise(columns))});
    }));
  }
  const Shape wide{1, 64, 1, 700};
  cases.push_back(make_operation("addend", {wide, wide}, [](ModelBuilder& b, Inputs x) {
    b.sum("sum", {b.conv("pw", b.relu("relu", x[0]), pointwise(64)), x[1]});
  }));
  cases.push_back(
      make_operation("gated", {{3, 40, 7, 5}, {3, 40, 1, 1}}, [](ModelBuilder& b, Inputs x) {
        b.conv("pw", b.add("scaled", Binary{Binary::Function::kMul, {}, false}, {x[0], x[1]}),
               pointwise(24));
      }));
  return cases;
}

TEST(CpuBackend, ThreadsGiveUnevenRowsTheSameBits) {
  const auto reference = reference::make_backend({});
  for (const OperationCase& c : uneven_operators()) {
    const Shape& output = c.output_shape();
    SCOPED_TRACE(testing::Message()
                 << c.name << " to " << output.c << " channels of " << output.h << "x" << output.w);
    const auto alone = test::run_operation(*cpu_backend(1), c, 1, kBackendSeed);
    const auto expected = test::run_operation(*reference, c, 1, kBackendSeed);
    EXPECT_EQ(job::compare(alone, expected, {.atol = 1e-4, .rtol = 1e-4}).outside, 0u);
    for (const int threads : {2, 3, 8}) {
      SCOPED_TRACE(threads);
      const auto values = test::run_operation(*cpu_backend(threads), c, threads, kBackendSeed);
      const auto compared = job::compare(values, alone, {.atol = 1e-5, .rtol = 1e-5});
      EXPECT_EQ(compared.outside, 0u);
      // oneDNN's code for SSE4.1 sums blocks of other sizes in another order.
      EXPECT_TRUE(compared.bitwise || cpu::kernels().lanes < 8);
    }
  }
}

/// One operator with buffers of its own.
struct OperatorOnCores {
  OperatorOnCores(Backend& backend, const OperationCase& c, const CoreShare& share,
                  TensorSource& source)
      : elements(static_cast<std::size_t>(c.output_shape().elements())) {
    const auto values = test::random_inputs(c, kBackendSeed);
    std::vector<const std::byte*> pointers;
    for (const std::vector<float>& v : values) {
      inputs.push_back(backend.allocate(v.size() * sizeof(float), "input"));
      std::copy(v.begin(), v.end(), reinterpret_cast<float*>(inputs.back()->data()));
      pointers.push_back(inputs.back()->data());
    }
    output = backend.allocate(elements * sizeof(float), "output");
    op = backend.bind(c.operation(), pointers, output->data(), share, source);
  }
  std::span<float> values() { return {reinterpret_cast<float*>(output->data()), elements}; }

  std::size_t elements;
  std::vector<std::unique_ptr<Buffer>> inputs;
  std::unique_ptr<Buffer> output;
  std::unique_ptr<BoundOperator> op;
};

std::vector<OperationCase> small_operators() {
  std::vector<OperationCase> cases;
  cases.push_back(make_operation("a", {1, 24, 19, 17}, {}, [](ModelBuilder& b, Inputs x) {
    b.relu("relu", b.conv("conv", x[0], {33, {3, 3}, {1, 1}, {1, 1}}));
  }));
  cases.push_back(make_operation("b", {1, 42, 21, 23}, {}, [](ModelBuilder& b, Inputs x) {
    b.conv("pw", b.conv("dw", b.relu("relu", x[0]), depthwise(42, 5, 1)), pointwise(42));
  }));
  cases.push_back(make_operation("expanded", {1, 42, 21, 23}, {}, [](ModelBuilder& b, Inputs x) {
    const TensorId wide = b.conv("first", x[0], pointwise(42));
    b.conv("pw", b.conv("dw", wide, depthwise(42, 3, 1)), pointwise(42));
  }));
  cases.push_back(make_operation("c", {1, 50, 15, 14}, {}, [](ModelBuilder& b, Inputs x) {
    b.pool("pool", x[0], {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  }));
  return cases;
}

TEST(CpuBackend, TheSameBitsOnEveryStreamAndConcurrently) {
  const auto cases = small_operators();
  for (const auto& [threads, groups] : {std::pair{2, 2}, {2, 3}, {4, 2}, {6, 3}}) {
    SCOPED_TRACE(std::to_string(threads) + " threads " + std::to_string(groups) + " groups");
    const auto backend = cpu_backend(threads);
    SeededSource source(kBackendSeed);
    const std::vector<CoreShare> shares =
        hios::core_shares(static_cast<std::size_t>(groups), threads);
    // Group g runs the operators g, g+1, …, so each runs next to each other one and on each stream.
    std::vector<std::unique_ptr<OperatorOnCores>> bound;
    std::vector<BoundGroup> stage(shares.size());
    std::vector<const OperationCase*> of;
    for (std::size_t g = 0; g < shares.size(); ++g) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        of.push_back(&cases[(g + i) % cases.size()]);
        bound.push_back(std::make_unique<OperatorOnCores>(*backend, *of.back(), shares[g], source));
        stage[g].push_back(bound.back()->op.get());
      }
    }
    for (int round = 0; round < 20; ++round) {
      for (auto& b : bound) std::ranges::fill(b->values(), -1.0f);
      backend->run_stage(stage, shares, nullptr, nullptr);
      for (std::size_t i = 0; i < bound.size(); ++i) {
        const int own = shares[i / cases.size()].threads;
        const auto alone = test::run_operation(*cpu_backend(own), *of[i], own, kBackendSeed);
        ASSERT_TRUE(job::compare(bound[i]->values(), alone, {}).bitwise)
            << of[i]->name << " in group " << i / cases.size() << ", round " << round;
        if (round > 0) break;  // the first round compares all, the others one
      }
    }
  }
}

/// Counts how often weights are drawn.
class DrawCounter final : public TensorSource {
 public:
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    ++drawn;
    source_.weights(model, layer, out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    source_.bias(model, layer, out);
  }
  void input(const Model& model, std::span<float> out) override { source_.input(model, out); }
  int drawn = 0;

 private:
  SeededSource source_{kBackendSeed};
};

TEST(CpuBackend, WeightsAreDrawnOnceHoweverOftenAnOperatorIsBound) {
  const auto cases = small_operators();
  const OperationCase& separable = cases[1];
  const auto backend = cpu_backend(1);
  DrawCounter source;
  const std::vector<CoreShare> shares = hios::core_shares(2, 1);
  auto first = std::make_unique<OperatorOnCores>(*backend, separable, shares[0], source);
  EXPECT_EQ(source.drawn, 2);  // depthwise and pointwise
  const OperatorOnCores second(*backend, separable, shares[1], source);
  EXPECT_EQ(source.drawn, 2);
  first.reset();
  const OperatorOnCores third(*backend, separable, shares[0], source);
  EXPECT_EQ(source.drawn, 2) << "the second still held them";
}

TEST(CpuBackend, WeightsOfAnotherSourceAreItsOwn) {
  const auto cases = small_operators();
  const auto backend = cpu_backend(1);
  const CoreShare share = hios::core_shares(1, 1)[0];
  SeededSource one(1), two(2);
  OperatorOnCores a(*backend, cases[0], share, one), b(*backend, cases[0], share, two);
  a.op->run();
  b.op->run();
  EXPECT_FALSE(job::compare(a.values(), b.values(), {}).bitwise);
}

TEST(CpuBackend, ALaterAndNeedierOperatorDoesNotDisturbAnEarlierOne) {
  const auto small = small_operators();
  const auto large = operators_of_many_blocks();
  const auto backend = cpu_backend(1);
  const CoreShare share = hios::core_shares(1, 1)[0];
  SeededSource source(kBackendSeed);
  OperatorOnCores first(*backend, small[1], share, source);
  first.op->run();
  const std::vector<float> before(first.values().begin(), first.values().end());
  OperatorOnCores second(*backend, large[0], share, source);  // the shared scratch moves
  second.op->run();
  first.op->run();
  EXPECT_TRUE(job::compare(first.values(), before, {}).bitwise);
}

TEST(CpuBackend, DescribesItself) {
  const auto backend = cpu_backend(2);
  const Json facts = backend->describe();
  // The loaded library is the one with the headers of this build.
  const std::string library = "oneDNN " + std::to_string(DNNL_VERSION_MAJOR) + "." +
                              std::to_string(DNNL_VERSION_MINOR) + ".";
  EXPECT_TRUE(facts.at("library").get<std::string>().starts_with(library)) << facts;
  EXPECT_FALSE(facts.at("isa").get<std::string>().empty());
  EXPECT_EQ(facts.at("threads").get<int>(), 2);
  for (const OperationCase& c : test::operation_cases()) {
    EXPECT_EQ(backend->unsupported(c.operation()), std::nullopt) << c.name;
  }
}

TEST(CpuBackend, MemoryThatIsNotThereIsARunError) {
  const auto backend = cpu_backend(1);
  try {
    backend->allocate(std::numeric_limits<Bytes>::max() - 100, "the arena");
    FAIL() << "nothing was thrown";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("the arena"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hios
