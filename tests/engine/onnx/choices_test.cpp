// Comparisons, functions of truth values, Where and Cast on values that the input decides, against
// the same choices in plain loops.

#include <functional>
#include <limits>

#include "engine/onnx/written_out.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// A network of one input of 60 values, and the value that its output has for each of them.
struct Choice {
  const char* what;
  std::function<void(Net&)> write;
  std::function<double(double)> value;
};

std::string with_type(Net& net, const std::string& from, int type) {
  const std::string to = net.op("Cast", {from});
  OnnxBuilder::attribute(net.last(), "to", type);
  return to;
}

/// Adds the truth values of x > 1.
std::string above_one(Net& net) { return net.op("Greater", {"x", net.constant(1)}); }

const std::vector<Choice> kChoices = {
    {"Greater", [](Net& n) { above_one(n); }, [](double x) { return x > 1; }},
    {"GreaterOrEqual of a constant",
     [](Net& n) {
       n.op("GreaterOrEqual", {n.constant(1), "x"});
     },
     [](double x) { return 1 >= x; }},
    {"Less",
     [](Net& n) {
       n.op("Less", {"x", n.constant(-2)});
     },
     [](double x) { return x < -2; }},
    {"LessOrEqual to itself",
     [](Net& n) {
       n.op("LessOrEqual", {"x", "x"});
     },
     [](double) { return 1; }},
    {"Equal",
     [](Net& n) {
       n.op("Equal", {n.op("Relu", {"x"}), n.constant(0)});
     },
     [](double x) { return x <= 0; }},
    {"Not", [](Net& n) { n.op("Not", {above_one(n)}); }, [](double x) { return x <= 1; }},
    {"And, Or, Xor",
     [](Net& n) {
       const std::string low = n.op("Less", {"x", n.constant(2)}), high = above_one(n);
       const std::string both = n.op("And", {low, high}), one = n.op("Or", {low, high});
       n.op("Xor", {both, one});
     },
     [](double x) { return !(x > 1 && x < 2); }},
    {"IsNaN", [](Net& n) { n.op("IsNaN", {n.op("Sqrt", {"x"})}); }, [](double x) { return x < 0; }},
    {"IsInf",
     [](Net& n) {
       n.op("IsInf", {n.op("Div", {n.constant(1), n.op("Relu", {"x"})})});
     },
     [](double x) { return x <= 0; }},
    {"Cast to truth values and back",
     [](Net& n) {
       const std::string truth = with_type(n, n.op("Relu", {"x"}), proto::TensorProto::BOOL);
       with_type(n, truth, proto::TensorProto::FLOAT);
     },
     [](double x) { return x > 0; }},
    {"Where",
     [](Net& n) {
       n.op("Where", {above_one(n), "x", n.op("Neg", {"x"})});
     },
     [](double x) { return x > 1 ? x : -x; }},
    {"Where a mask is infinite",
     [](Net& n) {
       n.op("Where", {above_one(n), n.constant(-kInfinite), "x"});
     },
     [](double x) { return x > 1 ? -kInfinite : x; }},
    {"Where the other side is not a number",
     [](Net& n) {
       n.op("Where", {above_one(n), "x", n.op("Log", {n.op("Neg", {"x"})})});
     },
     [](double x) { return x > 1 ? x : std::log(-x); }},
    {"Where, or zero",
     [](Net& n) {
       n.op("Where", {above_one(n), "x", n.constant(0)});
     },
     [](double x) { return x > 1 ? x : 0; }},
    {"Where, zero first",
     [](Net& n) {
       n.op("Where", {above_one(n), n.constant(0), "x"});
     },
     [](double x) { return x > 1 ? 0 : x; }},
};

TEST(Choices, AreThoseOfPlainLoops) {
  for (const Choice& choice : kChoices) {
    SCOPED_TRACE(choice.what);
    Net plain({2, 6, 5}), net({2, 6, 5});
    plain.op("Identity", {"x"});
    plain.output(plain.last().output(0));
    choice.write(net);
    net.output(net.last().output(0));
    const auto values_of = [](Net& of) {
      return first_output(onnx::import_model(of.write(), {.kernel = layer_kernel()}));
    };
    const std::vector<float> x = values_of(plain), got = values_of(net);
    ASSERT_EQ(got.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto wanted = static_cast<float>(choice.value(x[i]));
      if (std::isnan(wanted) || std::isinf(wanted)) {
        EXPECT_EQ(std::isnan(got[i]), std::isnan(wanted)) << x[i];
        EXPECT_EQ(std::isinf(got[i]), std::isinf(wanted)) << x[i];
      } else {
        EXPECT_NEAR(got[i], wanted, 1e-5) << x[i];
      }
    }
  }
}

TEST(Choices, ByAConstantMaskTakeWholeSides) {
  Net net({2, 3});
  auto& mask = net.integers("mask", {1, 0, 1});
  mask.set_data_type(proto::TensorProto::INT64);
  const std::string truth = with_type(net, "mask", proto::TensorProto::BOOL);
  net.op("Where", {truth, "x", net.constant({2, 1}, {7, 8})});
  net.output(net.last().output(0));
  const std::vector<float> got =
      first_output(onnx::import_model(net.write(), {.kernel = layer_kernel()}));
  ASSERT_EQ(got.size(), 6u);
  EXPECT_EQ(got[1], 7);
  EXPECT_EQ(got[4], 8);
}

TEST(Choices, CastsToIntegersAreRefused) {
  Net net({2, 3});
  with_type(net, "x", proto::TensorProto::INT64);
  net.output(net.last().output(0));
  expect_error<InputError>([&] { onnx::import_model(net.write(), {.kernel = layer_kernel()}); },
                           {"casts to INT64; only fp32 and truth values are computed"});
}

}  // namespace
}  // namespace hios::test
