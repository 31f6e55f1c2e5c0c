// Part of hios/onnx/operators/families.h: ArgMax, ArgMin and TopK. A position is the largest number
// of a countdown among the values that equal the maximum, so it is exact where an axis has at most
// 2^24 values. TopK searches as often as it returns values, and takes each found value out.
#include <algorithm>
#include <limits>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Joined = Binary::Function;

constexpr std::int64_t kMostFound = 64;
constexpr std::int64_t kMostPositions = std::int64_t{1} << 24;

/// The search for an extreme value along an axis.
class Search {
 public:
  Search(LayerEmitter& emitter, const View& x, std::size_t axis, bool last)
      : emitter_(emitter), axes_(x.rank(), false), last_(last) {
    axes_[axis] = true;
    const std::int64_t extent = x.dims[axis];
    if (extent > kMostPositions) emitter.fail("searches an axis of more than 2^24 values");
    extent_ = static_cast<float>(extent);
    Dims dims(x.rank(), 1);
    dims[axis] = extent;
    Constant numbers;
    for (std::int64_t i = 0; i < extent; ++i)
      numbers.floats.push_back(static_cast<float>(last ? i + 1 : extent - i));
    numbers_ = constant_view(std::move(numbers), dims);
  }

  View extreme(const View& x, bool largest) const {
    return reduce_along(emitter_, x, largest ? Reduce::Function::kMax : Reduce::Function::kMin,
                        axes_);
  }
  /// Returns the countdown's number of the first (or last) value that equals the extreme one.
  View number_of(const View& x, const View& extreme) const {
    const View found = combine(emitter_, Joined::kEqual, x, extreme);
    return reduce_along(emitter_, combine(emitter_, Joined::kMul, found, numbers_),
                        Reduce::Function::kMax, axes_);
  }
  View position_of(const View& number) const {
    if (last_) return combine(emitter_, Joined::kSub, number, number_view(1));
    return combine(emitter_, Joined::kSub, number_view(extent_), number);
  }
  /// Returns the values without the one of this number, which becomes infinite.
  View without(const View& x, const View& number, bool largest) const {
    const View found = combine(emitter_, Joined::kEqual, number, numbers_);
    const float infinite = std::numeric_limits<float>::infinity();
    const View out = combine(emitter_, Joined::kKeepIf, found, number_view(infinite));
    return combine(emitter_, largest ? Joined::kSub : Joined::kAdd, x, out);
  }

 private:
  LayerEmitter& emitter_;
  std::vector<bool> axes_;
  bool last_;
  float extent_;
  View numbers_;
};

Views arg_extreme(LayerEmitter& emitter, const Node& node) {
  const View& x = node.input(0);
  if (x.rank() == 0) node.fail("takes one dimension or more");
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  const Search search(emitter, x, axis, node.integer("select_last_index", 0) != 0);
  const View extreme = search.extreme(x, node.type() == "ArgMax");
  const View position = search.position_of(search.number_of(x, extreme));
  return {node.integer("keepdims", 1) != 0 ? position : remove_axis(position, axis)};
}

Views top_values(LayerEmitter& emitter, const Node& node) {
  View x = node.input(0);
  if (x.rank() == 0) node.fail("takes one dimension or more");
  const std::size_t axis = node.axis(node.integer("axis", -1), x.rank());
  const std::vector<std::int64_t> given =
      node.has(1) ? node.integers(1) : std::vector<std::int64_t>{node.integer("k", 0)};
  if (given.size() != 1 || given.front() < 1 || given.front() > x.dims[axis])
    node.fail("needs a number of values between 1 and the extent of its axis");
  if (given.front() > kMostFound) {
    node.fail("finds " + std::to_string(given.front()) + " values, more than " +
              std::to_string(kMostFound) + ": end the network before it");
  }
  const bool largest = node.integer("largest", 1) != 0;
  const Search search(emitter, x, axis, false);
  std::vector<View> values, positions;
  for (std::int64_t i = 0; i < given.front(); ++i) {
    values.push_back(search.extreme(x, largest));
    const View number = search.number_of(x, values.back());
    if (node.wants_output(1)) positions.push_back(search.position_of(number));
    if (i + 1 < given.front()) x = search.without(x, number, largest);
  }
  Views outputs{join(emitter, values, axis)};
  if (!positions.empty()) outputs.push_back(join(emitter, positions, axis));
  return outputs;
}

}  // namespace

void add_searches(Operators& operators) {
  for (const char* type : {"ArgMax", "ArgMin"}) {
    operators[type] = {.emit = arg_extreme,
                       .attributes = {.read = {"axis", "keepdims", "select_last_index"}}};
  }
  // Values that are found in another order than that of their size are sorted, too.
  operators["TopK"] = {.emit = top_values,
                       .attributes = {.read = {"axis", "k", "largest"}, .unread = {{"sorted"}}}};
}

}  // namespace hios::onnx
