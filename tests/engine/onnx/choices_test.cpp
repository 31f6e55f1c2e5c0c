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

std::vector<float> values_of(Net& net) {
  return first_output(onnx::import_model(net.write(), {.kernel = layer_kernel()}));
}

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
    {"IsInf of no sign",
     [](Net& n) {
       n.op("IsInf", {n.op("Div", {n.constant(1), n.op("Relu", {"x"})})});
       OnnxBuilder::attribute(n.last(), "detect_negative", 0);
       OnnxBuilder::attribute(n.last(), "detect_positive", 0);
     },
     [](double) { return 0; }},
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
    const std::vector<float> x = values_of(plain), got = values_of(net);
    ASSERT_EQ(got.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto wanted = static_cast<float>(choice.value(x[i]));
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(got[i])) << x[i];
      } else if (std::isinf(wanted)) {
        EXPECT_EQ(got[i], wanted) << x[i];
      } else {
        EXPECT_NEAR(got[i], wanted, 1e-5) << x[i];
      }
    }
  }
}

TEST(Choices, ByAConstantMaskTakeWholeSides) {
  Net plain({2, 3}), net({2, 3});
  plain.op("Identity", {"x"});
  plain.output(plain.last().output(0));
  net.integers("mask", {1, 0, 1});
  const std::string truth = with_type(net, "mask", proto::TensorProto::BOOL);
  net.op("Where", {truth, "x", net.constant({2, 1}, {7, 8})});
  net.output(net.last().output(0));
  const std::vector<float> x = values_of(plain);
  EXPECT_EQ(values_of(net), (std::vector<float>{x[0], 7, x[2], x[3], 8, x[5]}));
}

// A side of zeros adds nothing, but the result has its extents.
TEST(Choices, SidesOfZerosBroadcast) {
  const std::vector<float> zeros(24, 0);
  for (const bool zeros_first : {false, true}) {
    for (const std::vector<std::int64_t>& dims :
         {std::vector<std::int64_t>{4, 2, 3}, {1, 1, 1}, {2, 1}, {3}, {}}) {
      SCOPED_TRACE(testing::PrintToString(dims) + (zeros_first ? " first" : " last"));
      Net plain({2, 3}), net({2, 3});
      plain.op("Identity", {"x"});
      plain.output(plain.last().output(0));
      std::int64_t count = 1;
      for (const std::int64_t extent : dims) count *= extent;
      const std::string none = net.constant(dims, {zeros.begin(), zeros.begin() + count});
      const std::string truth = above_one(net);
      net.op("Where", zeros_first ? Names{truth, none, "x"} : Names{truth, "x", none});
      net.output(net.last().output(0));
      const Model model = onnx::import_model(net.write(), {.kernel = layer_kernel()});
      std::vector<std::int64_t> wanted_dims =
          dims.size() > 2 ? dims : std::vector<std::int64_t>{2, 3};
      if (dims.size() == 3) wanted_dims = {dims[0], 2, 3};
      EXPECT_EQ(model.named_outputs().front().dims, wanted_dims);
      const std::vector<float> x = values_of(plain), got = first_output(model);
      ASSERT_EQ(got.size(), static_cast<std::size_t>(dims.size() == 3 ? 6 * dims[0] : 6));
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(got[i], (x[i % 6] > 1) != zeros_first ? x[i % 6] : 0);
    }
  }
}

TEST(Choices, FurtherInputsAreRefused) {
  Net net({2, 3});
  net.op("And", {above_one(net), above_one(net), above_one(net)});
  net.output(net.last().output(0));
  expect_error<InputError>([&] { onnx::import_model(net.write(), {.kernel = layer_kernel()}); },
                           {"(And): takes 2 inputs"});
}

TEST(Choices, CastsToHalvesAreRefused) {
  Net net({2, 3});
  with_type(net, "x", proto::TensorProto::FLOAT16);
  net.output(net.last().output(0));
  expect_error<InputError>([&] { onnx::import_model(net.write(), {.kernel = layer_kernel()}); },
                           {"casts to FLOAT16; only fp32, integers and truth values are computed"});
}

}  // namespace
}  // namespace hios::test
