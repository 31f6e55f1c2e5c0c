// Part of hios/onnx/operators/constants/constants.h: reductions of integers along axes, and running
// sums. Reductions of real values have kernels.
#include <algorithm>
#include <limits>

#include "hios/onnx/arithmetic.h"
#include "hios/onnx/operators/constants/constants.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

struct IntegerReduction {
  std::int64_t first;
  std::int64_t (*combine)(std::int64_t, std::int64_t);
  bool mean = false;
};

/// Reduces integers along the node's axes.
Fold reduction(const IntegerReduction& rule) {
  return [rule](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node) || is_real(node.input(0))) return {};
    const View& x = node.input(0);
    const std::vector<bool> reduced = reduced_axes(node, x.rank());
    Dims dims = x.dims;
    std::int64_t count = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (!reduced[i]) continue;
      count *= dims[i];
      dims[i] = 1;
    }
    const auto size = static_cast<std::size_t>(checked_size(node, dims));
    std::vector<std::int64_t> results(size, rule.first);
    // The results as broadcast over the input: where each value goes.
    const View to = expand(integer_view({}, dims), x.dims);
    const std::vector<std::size_t> from = positions_of(x), into = positions_of(to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      results[into[i]] = rule.combine(results[into[i]], x.constant().integers[from[i]]);
    }
    if (rule.mean) {
      for (std::int64_t& result : results) result = divide(result, count);
    }
    View result = integer_view(std::move(results), dims);
    for (std::size_t i = x.rank(); node.integer("keepdims", 1) == 0 && i-- > 0;) {
      if (reduced[i]) result = remove_axis(result, i);
    }
    return Views{result};
  };
}

/// Adds up values along an axis, each to the sum of those before it.
Views running_sum(const Node& node) {
  const View& x = node.input(0);
  const std::vector<std::int64_t> axes = node.integers(1);
  if (axes.size() != 1) node.fail("needs one axis");
  const std::size_t axis = node.axis(axes.front(), x.rank());
  const bool exclusive = node.integer("exclusive", 0) != 0,
             backwards = node.integer("reverse", 0) != 0;
  checked_size(node, x.dims);
  const Dims strides = dense_strides(x.dims);
  const std::vector<std::size_t> positions = positions_of(x);
  View result = values_at(x.constant(), positions, x.dims);
  Constant sums = result.constant();
  const auto step = static_cast<std::size_t>(strides[axis]);
  const auto extent = static_cast<std::size_t>(x.dims[axis]);
  for (std::size_t first = 0; first < positions.size(); ++first) {
    if (first / step % extent != 0) continue;  // the first value along the axis
    double real = 0;
    std::int64_t whole = 0;
    for (std::size_t k = 0; k < extent; ++k) {
      const std::size_t at = first + (backwards ? extent - 1 - k : k) * step;
      if (is_real(x)) {
        const double value = sums.floats[at];
        sums.floats[at] = static_cast<float>(exclusive ? real : real + value);
        real += value;
      } else {
        const std::int64_t value = sums.integers[at];
        sums.integers[at] = exclusive ? whole : add(whole, value);
        whole = add(whole, value);
      }
    }
  }
  return {constant_view(std::move(sums), x.dims)};
}

}  // namespace

void add_sums(Operators& operators) {
  using Limits = std::numeric_limits<std::int64_t>;
  const FoldRow rows[] = {
      {"ReduceMax", reduction({Limits::min(), [](auto a, auto b) { return std::max(a, b); }})},
      {"ReduceMean", reduction({0, add, true})},
      {"ReduceMin", reduction({Limits::max(), [](auto a, auto b) { return std::min(a, b); }})},
      {"ReduceProd", reduction({1, multiply})},
      {"ReduceSum", reduction({0, add})},
      {"CumSum", of_constants(running_sum), {.read = {"exclusive", "reverse"}}},
  };
  add_rows(operators, rows);
}

}  // namespace hios::onnx
