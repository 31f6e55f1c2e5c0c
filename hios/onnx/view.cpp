#include "hios/onnx/view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "hios/base/error.h"
#include "hios/onnx/runs.h"

namespace hios::onnx {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
constexpr std::size_t kMaxRank = 64;

/// Throws InputError if a broadcast view has too many elements to be written out.
void check_written_out(const View& view) {
  fold_size(view.dims, static_cast<std::int64_t>(view.constant().size()));
}

std::vector<std::size_t> own_order(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::string text(const Dims& dims) {
  std::string result;
  for (const std::int64_t extent : dims) {
    result += (result.empty() ? "" : "x") + std::to_string(extent);
  }
  return result.empty() ? "a scalar" : result;
}

/// Returns a constant's name and type: "tensor 'w' holds INT8".
std::string description(const Constant& constant) {
  return (constant.name.empty() ? "a folded constant" : "tensor '" + constant.name + "'") +
         " holds " +
         (!constant.element.empty()                ? constant.element
          : constant.type == Constant::Type::kBool ? "truth values"
                                                   : "integers");
}

View with_extents(View view, Dims dims, Dims strides) {
  view.dims = std::move(dims);
  view.strides = std::move(strides);
  return view;
}

}  // namespace

std::int64_t elements(const Dims& dims) {
  if (dims.size() > kMaxRank) {
    throw InputError("a tensor of " + std::to_string(dims.size()) + " dimensions is not read");
  }
  std::int64_t count = 1;
  bool none = false;
  for (const std::int64_t extent : dims) {
    if (extent < 0 || extent > kMaxExtent) {
      throw InputError("an extent of " + std::to_string(extent) + " cannot be");
    }
    none = none || extent == 0;  // the other extents must stay in the range all the same
    if (extent != 0 && count > kMaxElements / extent) {
      throw InputError("a tensor of " + text(dims) + " would hold more than 2^40 values");
    }
    count *= std::max<std::int64_t>(extent, 1);
  }
  return none ? 0 : count;
}

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::vector<std::size_t> memory_order(std::size_t rank) {
  if (rank == 4) return {0, 2, 3, 1};
  return own_order(rank);
}

View dense_view(std::variant<DraftId, std::shared_ptr<const Constant>> base, const Dims& dims,
                std::span<const std::size_t> order) {
  View view{std::move(base), dims, Dims(dims.size(), 1), 0};
  std::int64_t stride = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    view.strides[order[k]] = stride;
    stride *= dims[order[k]];
  }
  return view;
}

bool lies_dense(const View& view, std::span<const std::size_t> order, std::int64_t size) {
  if (view.offset != 0 || elements(view.dims) != size) return false;
  std::int64_t stride = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t axis = order[k];
    if (view.dims[axis] == 1) continue;
    if (view.strides[axis] != stride) return false;
    stride *= view.dims[axis];
  }
  return true;
}

std::optional<std::vector<std::size_t>> dense_order(const View& view, std::int64_t size) {
  for (const auto& order : {memory_order(view.rank()), own_order(view.rank())}) {
    if (lies_dense(view, order, size)) return order;
  }
  std::vector<std::size_t> order = own_order(view.rank());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (view.dims[a] == 1 || view.dims[b] == 1) return false;
    return view.strides[a] > view.strides[b];
  });
  if (lies_dense(view, order, size)) return order;
  // Axes of one element in between break the order above, so they come first.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool one_a = view.dims[a] == 1, one_b = view.dims[b] == 1;
    if (one_a != one_b) return one_a;
    return !one_a && view.strides[a] > view.strides[b];
  });
  if (lies_dense(view, order, size)) return order;
  return {};
}

std::optional<std::vector<std::size_t>> order_in_memory(const View& view) {
  if (view.is_constant() || view.offset != 0) return {};
  return dense_order(view, elements(view.dims));
}

std::vector<std::size_t> reading_order(const View& view) {
  return order_in_memory(view).value_or(memory_order(view.rank()));
}

View transpose(const View& view, std::span<const std::size_t> axes) {
  View result = with_extents(view, {}, {});
  for (const std::size_t axis : axes) {
    result.dims.push_back(view.dims[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

View slice(const View& view, std::size_t axis, std::int64_t start, std::int64_t count,
           std::int64_t step) {
  View result = view;
  if (count > 0) result.offset += start * view.strides[axis];
  result.dims[axis] = count;
  result.strides[axis] = (count > 1 ? step : 1) * view.strides[axis];
  return result;
}

View expand(const View& view, const Dims& dims) {
  if (dims.size() < view.rank()) throw InputError("cannot expand to fewer dimensions");
  View result = with_extents(view, dims, Dims(dims.size(), 0));
  const std::size_t added = dims.size() - view.rank();
  for (std::size_t i = 0; i < view.rank(); ++i) {
    const std::int64_t from = view.dims[i], to = dims[added + i];
    if (from == to) {
      result.strides[added + i] = view.strides[i];
    } else if (from != 1) {
      throw InputError("cannot expand " + text(view.dims) + " to " + text(dims));
    }
  }
  elements(dims);
  return result;
}

std::optional<View> reshape(const View& view, const Dims& dims) {
  if (elements(dims) != elements(view.dims)) {
    throw InputError("cannot reshape " + text(view.dims) + " to " + text(dims));
  }
  View result = with_extents(view, dims, dense_strides(dims));
  if (elements(dims) == 0) return result;
  const std::vector<Run> runs = runs_of(view, own_order(view.rank()));
  // The new extents must divide each run without a remainder.
  std::size_t run = runs.size();
  std::int64_t left = 1, stride = 0;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) {
      result.strides[i] = 0;
      continue;
    }
    if (left == 1) {
      if (run == 0) return {};
      --run;
      left = runs[run].size;
      stride = runs[run].stride;
    }
    if (left % dims[i] != 0) return {};
    result.strides[i] = stride;
    stride *= dims[i];
    left /= dims[i];
  }
  if (left != 1 || run != 0) return {};
  return result;
}

View insert_axis(const View& view, std::size_t axis) {
  View result = view;
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  result.strides.insert(result.strides.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  return result;
}

View remove_axis(const View& view, std::size_t axis) {
  View result = view;
  result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  result.strides.erase(result.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return result;
}

std::int64_t to_integer(double value) {
  constexpr double kLimit = 9.2e18;
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

std::int64_t fold_size(const Dims& dims, std::int64_t largest) {
  const std::int64_t count = elements(dims), most = std::max(largest, kFoldBudget);
  if (count <= most) return count;
  throw InputError("would make a constant of " + std::to_string(count) + " values, more than " +
                   std::to_string(most) + kSimplify);
}

std::vector<std::int64_t> integers_of(const View& view) {
  check_written_out(view);
  const Constant& constant = view.constant();
  std::vector<std::int64_t> values;
  each_position(view, own_order(view.rank()), [&](std::int64_t at) {
    const auto index = static_cast<std::size_t>(at);
    values.push_back(constant.type == Constant::Type::kFloat ? to_integer(constant.floats[index])
                                                             : constant.integers[index]);
  });
  return values;
}

std::vector<float> floats_of(const View& view, std::span<const std::size_t> order) {
  const Constant& constant = view.constant();
  if (constant.type != Constant::Type::kFloat) {
    throw InputError("needs floating-point numbers where " + description(constant));
  }
  return converted_to_floats(view, order);
}

std::vector<float> floats_of(const View& view) { return floats_of(view, own_order(view.rank())); }

std::vector<float> converted_to_floats(const View& view, std::span<const std::size_t> order) {
  check_written_out(view);
  const Constant& constant = view.constant();
  const std::vector<Run> runs = runs_of(view, order);
  const auto count = static_cast<std::size_t>(elements(view.dims));
  std::vector<float> values;
  if (constant.type == Constant::Type::kFloat && !runs.empty() && count > 0) {
    values.resize(count);
    copy_runs(constant.floats.data() + view.offset, runs, values.data());
    return values;
  }
  values.reserve(count);
  each_position(view, order, [&](std::int64_t at) {
    values.push_back(static_cast<float>(constant.at(static_cast<std::size_t>(at))));
  });
  return values;
}

std::optional<std::pair<Dims, Dims>> joined_extents(const View& a, const View& b,
                                                    std::span<const std::size_t> axes,
                                                    std::size_t most) {
  Dims of_a, of_b;
  for (const std::size_t axis : axes) {
    const std::int64_t x = a.dims[axis], y = b.dims[axis];
    if (x == 1 && y == 1) continue;
    const bool same = !of_a.empty() && (of_a.back() == of_b.back()) == (x == y) &&
                      (of_a.back() == 1) == (x == 1) && (of_b.back() == 1) == (y == 1);
    if (same) {
      of_a.back() *= x;
      of_b.back() *= y;
    } else {
      of_a.push_back(x);
      of_b.push_back(y);
    }
  }
  if (of_a.size() > most) return {};
  if (of_a.empty()) of_a = of_b = {1};
  return std::pair(of_a, of_b);
}

MergedAxes merged_axes(const Dims& dims, std::span<const std::size_t> order,
                       const std::vector<bool>& chosen) {
  MergedAxes merged;
  for (const std::size_t axis : order) {
    if (!merged.chosen.empty() && merged.chosen.back() == chosen[axis]) {
      merged.extents.back() *= dims[axis];
    } else {
      merged.extents.push_back(dims[axis]);
      merged.chosen.push_back(chosen[axis]);
    }
  }
  return merged;
}

Dims extents_in(const Dims& dims, std::span<const std::size_t> order) {
  Dims extents;
  for (const std::size_t axis : order) extents.push_back(dims[axis]);
  if (extents.size() <= 4) return extents;
  const auto last = extents.end() - 2;
  const std::int64_t between =
      std::accumulate(extents.begin() + 1, last, std::int64_t{1}, std::multiplies<>());
  return {extents.front(), between, last[0], last[1]};
}

Axis axis_of(std::size_t k, std::size_t count) {
  static constexpr std::array<std::array<Axis, 4>, 4> kAxes = {
      {{Axis::kC},
       {Axis::kN, Axis::kC},
       {Axis::kN, Axis::kW, Axis::kC},
       {Axis::kN, Axis::kH, Axis::kW, Axis::kC}}};
  return kAxes[count - 1][k];
}

Shape shape_of(std::span<const std::int64_t> extents) {
  Shape shape{1, 1, 1, 1};
  for (std::size_t k = 0; k < extents.size(); ++k) {
    switch (axis_of(k, extents.size())) {
      case Axis::kN:
        shape.n = extents[k];
        break;
      case Axis::kC:
        shape.c = extents[k];
        break;
      case Axis::kH:
        shape.h = extents[k];
        break;
      case Axis::kW:
        shape.w = extents[k];
        break;
    }
  }
  return shape;
}

}  // namespace hios::onnx
