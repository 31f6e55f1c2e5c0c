#include "hios/onnx/operators/constants/values.h"

#include <algorithm>
#include <numeric>

#include "hios/base/error.h"
#include "hios/onnx/operators/constants/constants.h"

namespace hios::onnx {
namespace {

/// The positions of views of equal dims in their bases, element by element, row-major.
class Walk {
 public:
  explicit Walk(const std::vector<View>& views)
      : views_(views), index_(views.front().rank(), 0), ended_(elements(views.front().dims) == 0) {
    for (const View& view : views) at_.push_back(view.offset);
  }
  bool ended() const { return ended_; }
  std::size_t at(std::size_t view) const { return static_cast<std::size_t>(at_[view]); }
  void step() {
    const Dims& dims = views_.front().dims;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const bool wraps = ++index_[axis] == dims[axis];
      if (wraps) index_[axis] = 0;
      for (std::size_t k = 0; k < at_.size(); ++k) {
        at_[k] += (wraps ? 1 - dims[axis] : 1) * views_[k].strides[axis];
      }
      if (!wraps) return;
    }
    ended_ = true;
  }

 private:
  const std::vector<View>& views_;
  Dims index_;
  std::vector<std::int64_t> at_;  ///< by view
  bool ended_;
};

}  // namespace

View constant_view(Constant values, const Dims& dims) {
  return {std::make_shared<Constant>(std::move(values)), dims, dense_strides(dims), 0};
}

View number_view(double number) {
  return constant_view({ConstantType::kFloat, {static_cast<float>(number)}, {}}, {});
}

View integer_view(std::vector<std::int64_t> values, const Dims& dims) {
  return constant_view({ConstantType::kInteger, {}, std::move(values)}, dims);
}

bool is_real(const View& view) { return view.constant().type == ConstantType::kFloat; }

std::vector<std::size_t> own_axes(std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

void fail_of_types(const Node& node) {
  node.fail("combines integers with floating-point numbers, which ONNX does not");
}

std::int64_t checked_size(const Node& node, const Dims& dims) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i) && node.input(i).is_constant())
      most = std::max(most, static_cast<std::int64_t>(node.input(i).constant().size()));
  }
  return fold_size(dims, most);
}

Dims broadcast_extents(const std::vector<View>& operands) {
  Dims dims;
  for (const View& operand : operands) {
    if (operand.rank() > dims.size()) dims.insert(dims.begin(), operand.rank() - dims.size(), 1);
    for (std::size_t i = 0; i < operand.rank(); ++i) {
      std::int64_t& extent = dims[dims.size() - operand.rank() + i];
      if (extent == 1) extent = operand.dims[i];
    }
  }
  return dims;
}

View each_value(const Node& node, std::vector<View> operands, ConstantType type,
                const std::function<double(std::span<const double>)>& real,
                const std::function<std::int64_t(std::span<const std::int64_t>)>& whole) {
  const Dims dims = broadcast_extents(operands);
  const auto size = static_cast<std::size_t>(checked_size(node, dims));
  bool all_whole = true;
  for (View& operand : operands) {
    all_whole = all_whole && !is_real(operand);
    operand = expand(operand, dims);
  }
  Constant result{type, {}, {}};
  (type == ConstantType::kFloat ? result.floats.reserve(size) : result.integers.reserve(size));
  std::vector<double> reals(operands.size());
  std::vector<std::int64_t> wholes(operands.size());
  for (Walk walk(operands); !walk.ended(); walk.step()) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Constant& constant = operands[k].constant();
      reals[k] = constant.at(walk.at(k));
      wholes[k] = all_whole ? constant.integers[walk.at(k)] : 0;
    }
    if (type == ConstantType::kFloat) {
      result.floats.push_back(static_cast<float>(real(reals)));
    } else {
      result.integers.push_back(all_whole && whole ? whole(wholes) : to_integer(real(reals)));
    }
  }
  return constant_view(std::move(result), dims);
}

View values_at(const Constant& from, const std::vector<std::size_t>& positions, const Dims& dims) {
  Constant result{from.type, {}, {}};
  for (const std::size_t at : positions) {
    if (from.type == ConstantType::kFloat) {
      result.floats.push_back(from.floats[at]);
    } else {
      result.integers.push_back(from.integers[at]);
    }
  }
  return constant_view(std::move(result), dims);
}

std::vector<std::size_t> positions_of(const View& view) {
  std::vector<std::size_t> positions;
  each_position(view, own_axes(view.rank()),
                [&](std::int64_t at) { positions.push_back(static_cast<std::size_t>(at)); });
  return positions;
}

bool has_only_constants(const Node& node) {
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has(i) && !node.input(i).is_constant()) return false;
  }
  return node.input_count() > 0;
}

Fold of_constants(Views (*compute)(const Node&)) {
  return [compute](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node)) return {};
    return compute(node);
  };
}

Fold of_integers(Views (*compute)(const Node&)) {
  return [compute](const Node& node) -> std::optional<Views> {
    if (!has_only_constants(node) || is_real(node.input(0))) return {};
    return compute(node);
  };
}

void add_rows(Operators& operators, std::span<const FoldRow> rows) {
  for (const FoldRow& row : rows) {
    Operator& added = operators[row.type];
    added.fold = row.fold;
    if (added.emit == nullptr) added.attributes = row.attributes;
  }
}

void add_folding(Operators& operators) {
  add_extents(operators);
  add_numbers(operators);
  add_sums(operators);
  add_tables(operators);
  add_quantized(operators);
}

}  // namespace hios::onnx
