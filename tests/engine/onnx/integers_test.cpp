// Integers that the input decides: those of 8 and 16 bits wrap as a processor's do, means and norms
// round towards 0. Indices of a pool are refused by name.

#include <cstdint>
#include <cstdlib>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

using Type = proto::TensorProto;

std::string integers_as(Net& net, const std::string& value, int type) {
  const std::string cast = net.op("Cast", {value});
  OnnxBuilder::attribute(net.last(), "to", std::int64_t{type});
  return cast;
}

/// Returns x·factor as integers of 32 bits.
std::string whole_multiple(Net& net, float factor) {
  return integers_as(net, net.op("Mul", {"x", net.constant(factor)}), Type::INT32);
}

std::int64_t whole_multiple(const Table& x, const List& at, float factor) {
  return static_cast<std::int64_t>(x.at(at) * factor);
}

/// Expects a node's values of such integers. `wanted` computes one in 64 bits; Number wraps it.
template <class Number>
void expect_wrapped(int type, float factor, const std::string& op, std::size_t operands,
                    std::int64_t (*wanted)(std::int64_t)) {
  SCOPED_TRACE(op + " of type " + std::to_string(type));
  const Table x = wide_input({4, 30});
  Net net(x.dims);
  const std::string number = integers_as(net, whole_multiple(net, factor), type);
  integers_as(net, net.op(op, Names(operands, number)), Type::FLOAT);
  bool leaves_range = false;
  expect_values(net, table_of(x.dims, [&](const List& at) {
                  const std::int64_t given = whole_multiple(x, at, factor);
                  const std::int64_t value = wanted(static_cast<Number>(given));
                  leaves_range = leaves_range || given != static_cast<Number>(given);
                  return static_cast<double>(static_cast<Number>(value));
                }));
  EXPECT_TRUE(leaves_range);
}

template <class Number>
void expect_all_wrapped(int type, float factor) {
  expect_wrapped<Number>(type, factor, "Identity", 1, [](auto a) { return a; });
  expect_wrapped<Number>(type, factor, "Add", 2, [](auto a) { return a + a; });
  expect_wrapped<Number>(type, factor, "Sum", 3, [](auto a) { return 3 * a; });
  expect_wrapped<Number>(type, factor, "Sub", 2, [](auto) { return std::int64_t{0}; });
  if (sizeof(Number) == 1)
    expect_wrapped<Number>(type, factor, "Mul", 2, [](auto a) { return a * a; });
  if (Number(-1) < Number(0)) {
    expect_wrapped<Number>(type, factor, "Neg", 1, [](auto a) { return -a; });
    expect_wrapped<Number>(type, factor, "Abs", 1, [](auto a) { return std::abs(a); });
  }
}

TEST(NarrowIntegers, WrapInEightAndSixteenBits) {
  expect_all_wrapped<std::int8_t>(Type::INT8, 90);
  expect_all_wrapped<std::uint8_t>(Type::UINT8, 90);
  expect_all_wrapped<std::int16_t>(Type::INT16, 20000);
  expect_all_wrapped<std::uint16_t>(Type::UINT16, 20000);
}

TEST(NarrowIntegers, StayWholeInThirtyTwoBits) {
  const Table x = wide_input({4, 30});
  Net net(x.dims);
  const std::string number = whole_multiple(net, 20000);
  integers_as(net, net.op("Add", {number, number}), Type::FLOAT);
  expect_values(net, table_of(x.dims, [&](const List& at) {
                  return static_cast<double>(2 * whole_multiple(x, at, 20000));
                }));
}

TEST(NarrowIntegers, WrapAsConstants) {
  const Table x = wide_input({3});
  Net net(x.dims);
  const std::string narrow = integers_as(net, integer_table(net, {3}, {300, -1, 128}), Type::INT8);
  net.op("Add", {"x", integers_as(net, net.op("Add", {narrow, narrow}), Type::FLOAT)});
  // 300 is 44 in 8 bits, 128 is -128; twice -128 is 0.
  constexpr double kAdded[] = {88, -2, 0};
  expect_values(net, table_of(x.dims, [&](const List& at) {
                  return x.at(at) + kAdded[static_cast<std::size_t>(at[0])];
                }));
}

TEST(NarrowIntegers, HaveMeansAndNormsThatAreWhole) {
  const Table x = wide_input({4, 7});
  for (const bool mean : {true, false}) {
    Net net(x.dims);
    const std::string reduced =
        net.op(mean ? "ReduceMean" : "ReduceL2", {whole_multiple(net, 9)}, "axes", {1});
    integers_as(net, reduced, Type::FLOAT);
    expect_values(net, table_of({4, 1}, [&](const List& at) {
                    double sum = 0;
                    for (std::int64_t k = 0; k < 7; ++k) {
                      const auto value = static_cast<double>(whole_multiple(x, {at[0], k}, 9));
                      sum += mean ? value : value * value;
                    }
                    return std::trunc(mean ? sum / 7 : std::sqrt(sum));
                  }));
  }
}

void expect_integers_refused(int type, const std::string& op, std::size_t operands,
                             const std::string& message) {
  Net net({4, 30});
  const std::string number = integers_as(net, whole_multiple(net, 9), type);
  net.op(op, Names(operands, number));
  net.output(net.last().output(0));
  expect_error<InputError>([&] { onnx::import_model(net.write()); }, {message});
}

TEST(NarrowIntegers, AreRefusedWhereSumsWouldBeInexact) {
  const std::string remedy =
      "; it is computed for integers of 32 and 64 bits: add a Cast to INT32 before it";
  expect_integers_refused(Type::INT8, "ReduceSum", 1, "(ReduceSum): takes INT8" + remedy);
  expect_integers_refused(Type::UINT16, "Mul", 2, "(Mul): takes UINT16" + remedy);
}

}  // namespace
}  // namespace hios::test
