// ArgMax, ArgMin and TopK along any axis, against a sort in plain loops.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "hios/graph/separate_inputs.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

/// Returns the positions along an axis, of values in their order, the first of equal ones first.
std::vector<std::int64_t> ranked(const Table& x, List at, std::size_t axis, bool largest) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.dims[axis]));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto value = [&](std::int64_t i) {
    at[axis] = i;
    return x.at(at);
  };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return largest ? value(a) > value(b) : value(a) < value(b);
  });
  return order;
}

/// An input whose values are whole numbers after a Round, many of them equal.
class Rounded {
 public:
  explicit Rounded(const List& dims) : given_(wide_input(dims)) {
    if (dims.size() == 4) given_.values = in_row_major_order(given_.values, dims);
    values_ = table_of(dims, [&](const List& at) { return std::nearbyint(given_.at(at)); });
  }
  const Table& values() const { return values_; }
  static std::string of(Net& net) { return net.op("Round", {"x"}); }

 private:
  Table given_, values_;
};

TEST(Searches, FindTheFirstOfEqualValuesAlongAnyAxis) {
  for (const List& dims :
       {List{9}, List{4, 7}, List{2, 5, 3}, List{1, 6, 4, 5}, List{2, 3, 2, 3, 4}}) {
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      for (const bool largest : {true, false}) {
        SCOPED_TRACE(testing::Message() << dims.size() << " dimensions, axis " << axis);
        const Rounded x(dims);
        const std::int64_t k = (dims[axis] + 1) / 2;
        List found = dims;
        found[axis] = k;
        for (const bool positions : {false, true}) {
          Net net(dims);
          const std::string top = net.op("TopK", {Rounded::of(net), integer_table(net, {1}, {k})});
          OnnxBuilder::attribute(net.last(), "axis", static_cast<std::int64_t>(axis));
          OnnxBuilder::attribute(net.last(), "largest", largest ? 1 : 0);
          net.last().add_output("positions");
          if (positions) {
            net.op("Cast", {"positions"});
            OnnxBuilder::attribute(net.last(), "to", proto::TensorProto::FLOAT);
          } else {
            net.op("Identity", {top});
          }
          expect_values(net, table_of(found, [&](const List& at) {
                          const std::int64_t from = ranked(
                              x.values(), at, axis, largest)[static_cast<std::size_t>(at[axis])];
                          List source = at;
                          source[axis] = from;
                          return positions ? static_cast<double>(from) : x.values().at(source);
                        }));
        }
      }
    }
  }
}

TEST(Searches, TakeTheFirstOrTheLastExtreme) {
  const List dims{2, 6, 3, 4};
  const Rounded x(dims);
  for (const bool last : {false, true}) {
    for (const char* type : {"ArgMax", "ArgMin"}) {
      SCOPED_TRACE(testing::Message() << type << (last ? ", last" : ""));
      Net net(dims);
      const std::string found = net.op(type, {Rounded::of(net)});
      OnnxBuilder::attribute(net.last(), "axis", 1);
      OnnxBuilder::attribute(net.last(), "keepdims", 0);
      OnnxBuilder::attribute(net.last(), "select_last_index", last ? 1 : 0);
      net.op("Cast", {found});
      OnnxBuilder::attribute(net.last(), "to", proto::TensorProto::FLOAT);
      const bool largest = std::string(type) == "ArgMax";
      expect_values(net, table_of({2, 3, 4}, [&](const List& at) {
                      const List pixel{at[0], 0, at[1], at[2]};
                      const auto order = ranked(x.values(), pixel, 1, largest);
                      const auto value = [&](std::int64_t i) {
                        return x.values().at({at[0], i, at[1], at[2]});
                      };
                      std::int64_t best = order.front();
                      for (const std::int64_t i : order) {
                        if (last && value(i) == value(order.front())) best = std::max(best, i);
                      }
                      return static_cast<double>(best);
                    }));
    }
  }
}

TEST(Searches, TakeTheInputsOfABatchOneByOne) {
  for (const List& dims : {List{4, 9}, List{4, 6, 3, 5}}) {
    Net net(dims);
    net.op("ArgMax", {"x"});
    OnnxBuilder::attribute(net.last(), "axis", 1);
    net.op("Cast", {net.last().output(0)});
    OnnxBuilder::attribute(net.last(), "to", proto::TensorProto::FLOAT);
    net.output(net.last().output(0));
    EXPECT_NO_THROW(
        require_separate_inputs(onnx::import_model(net.write(), {.kernel = layer_kernel()})));
  }
}

// The head of a detector that ends in its best three hundred boxes.
TEST(Searches, FindHundreds) {
  const List dims{1, 1200};
  Net net(dims);
  net.op("TopK", {"x", integer_table(net, {1}, {300})});
  const Table x = wide_input(dims);
  expect_values(net, table_of({1, 300}, [&](const List& at) {
                  return x.at({0, ranked(x, {0, 0}, 1, true)[static_cast<std::size_t>(at[1])]});
                }));
}

// The logarithm of a negative number is none.
TEST(Searches, PlaceNanAboveAllNumbers) {
  const List dims{1, 20};
  const Table x = wide_input(dims);
  for (const bool largest : {true, false}) {
    Net net(dims);
    net.op("TopK", {net.op("Log", {"x"}), integer_table(net, {1}, {20})});
    OnnxBuilder::attribute(net.last(), "largest", largest ? 1 : 0);
    net.last().add_output("positions");
    net.op("Cast", {"positions"});
    OnnxBuilder::attribute(net.last(), "to", proto::TensorProto::FLOAT);
    Table ordered = x;
    for (float& value : ordered.values) value = value < 0 ? 1000 : value;
    const auto order = ranked(ordered, {0, 0}, 1, largest);
    expect_values(net, table_of(dims, [&](const List& at) {
                    return static_cast<double>(order[static_cast<std::size_t>(at[1])]);
                  }));
  }
}

// Plain loops would take hours.
TEST(Searches, RefuseConstantsThatTakeTooLong) {
  constexpr std::int64_t kMany = 200'000;
  Net net({1, 12});
  const std::string many = net.constant({kMany}, std::vector<float>(kMany));
  net.op("TopK", {many, integer_table(net, {1}, {kMany})});
  expect_error([&] { onnx::import_model(net.write(), {.kernel = layer_kernel()}); },
               {"TopK", " operations, more than 8000000000: simplify the file"});
}

TEST(Searches, RefuseMoreThanThereAre) {
  Net net({1, 12});
  net.op("TopK", {"x", integer_table(net, {1}, {13})});
  expect_error([&] { onnx::import_model(net.write(), {.kernel = layer_kernel()}); },
               {"needs a number of values between 1 and the extent of its axis"});
}

}  // namespace
}  // namespace hios::test
