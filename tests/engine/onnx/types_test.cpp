// The types of inputs that ONNX forbids together, computed and constant.
#include <functional>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

/// Expects a network that ends in what `write` adds to be refused with this message.
void expect_types_refused(const std::function<void(Net&)>& write, const char* message) {
  Net net({2, 3});
  write(net);
  net.output(net.last().output(0));
  expect_error<InputError>([&] { onnx::import_model(net.write(), {.kernel = layer_kernel()}); },
                           {message});
}

TEST(InputTypes, AreRefusedWhereOnnxForbidsThem) {
  const auto above = [](Net& n) { return n.op("Greater", {"x", n.constant(1)}); };
  expect_types_refused([&](Net& n) { n.op("Sigmoid", {above(n)}); },
                       "(Sigmoid): takes truth values, where ONNX allows numbers only");
  expect_types_refused([&](Net& n) { n.op("And", {above(n), "x"}); }, "");
  expect_types_refused([&](Net& n) { n.op("Not", {"x"}); },
                       "takes floating-point numbers, where ONNX allows truth values only");
  expect_types_refused(
      [&](Net& n) {
        n.op("Where", {"x", "x", "x"});
      },
      "truth values only as its condition");
  expect_types_refused([&](Net& n) { n.op("Softmax", {n.op("ArgMax", {"x"})}); },
                       "takes integers, where ONNX allows floating-point numbers only");
  expect_types_refused(
      [&](Net& n) {
        n.op("Add", {"x", n.op("ArgMax", {"x"})});
      },
      "combines floating-point numbers and integers, which ONNX forbids: add a Cast");
  // Further inputs, computed and constant.
  const auto chosen = [](Net& n) { return n.op("ArgMax", {"x"}); };
  for (const char* const type : {"Sum", "Max", "Min"}) {
    expect_types_refused(
        [&](Net& n) {
          n.op(type, {"x", "x", chosen(n)});
        },
        "combines floating-point numbers and integers");
  }
  expect_types_refused(
      [&](Net& n) {
        n.op("Where", {above(n), "x", chosen(n)});
      },
      "combines floating-point numbers and integers");
  expect_types_refused(
      [&](Net& n) {
        n.op("Where", {above(n), above(n), n.constant(1)});
      },
      "combines truth values and floating-point numbers");
  expect_types_refused(
      [&](Net& n) {
        n.op("Concat", {"x", chosen(n)});
        OnnxBuilder::attribute(n.last(), "axis", 0);
      },
      "combines floating-point numbers and integers");
  expect_types_refused(
      [&](Net& n) {
        n.op("Clip", {chosen(n), n.constant(0)});
      },
      "combines integers and floating-point numbers");
}

TEST(InputTypes, AreIntegersForIndicesAndExtents) {
  const char* const message =
      "its input 2 holds floating-point numbers, where ONNX allows integers only";
  for (const char* const type : {"Gather", "GatherElements", "GatherND", "Tile", "Expand"})
    expect_types_refused([&](Net& n) { n.op(type, {"x", n.constant({2, 1}, {0, 1})}); }, message);
  expect_types_refused([&](Net& n) { n.op("Reshape", {"x", n.constant({1}, {-1})}); }, message);
  expect_types_refused([&](Net& n) { n.op("Gather", {"x", "x"}); }, message);  // computed
  expect_types_refused(
      [&](Net& n) {
        n.op("Gather", {n.constant({1}, {1}), n.constant({1}, {0})});
      },
      message);
  expect_types_refused(
      [&](Net& n) {
        const std::string zero = integer_table(n, {1}, {0}), two = integer_table(n, {1}, {2});
        n.op("Slice", {"x", zero, two, n.constant({1}, {1})});
      },
      "its input 4 holds floating-point numbers");
}

}  // namespace
}  // namespace hios::test
