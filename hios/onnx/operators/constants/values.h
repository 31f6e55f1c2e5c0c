#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/onnx/operators/registry.h"

/// Constants that rows of the table make, element by element.
namespace hios::onnx {

using ConstantType = Constant::Type;
using Fold = decltype(Operator::fold);

View constant_view(Constant values, const Dims& dims);
/// Returns a scalar, which broadcasts to all extents.
View number_view(double number);
View integer_view(std::vector<std::int64_t> values, const Dims& dims);
/// Returns true for floating-point numbers.
bool is_real(const View& view);
/// Returns the axes in their own order.
std::vector<std::size_t> own_axes(std::size_t rank);

[[noreturn]] void fail_of_types(const Node& node);

/// Returns the number of values. Fails if a node may not make so many of its inputs' (kFoldBudget).
std::int64_t checked_size(const Node& node, const Dims& dims);

/// Returns the extents of values that broadcast. Throws InputError for extents that do not fit.
Dims broadcast_extents(const std::vector<View>& operands);

/// Computes each element from the operands' elements, broadcast. Uses `whole` if it is given and
/// all operands and the result are integers, else `real`.
View each_value(const Node& node, std::vector<View> operands, ConstantType type,
                const std::function<double(std::span<const double>)>& real,
                const std::function<std::int64_t(std::span<const std::int64_t>)>& whole);

/// Returns the values at these positions of the constant's base.
View values_at(const Constant& from, const std::vector<std::size_t>& positions, const Dims& dims);

/// Returns the position in the base of each element, row-major.
std::vector<std::size_t> positions_of(const View& view);

bool has_only_constants(const Node& node);

/// Returns a `fold` that computes where all inputs are constants.
Fold of_constants(Views (*compute)(const Node&));
/// Returns a `fold` that computes where all inputs are constants, and the first ones integers.
Fold of_integers(Views (*compute)(const Node&));

/// Adds `fold` rows to the table.
struct FoldRow {
  std::string_view type;
  Fold fold;
  Attributes attributes = {};  ///< for a row of no other family
};
void add_rows(Operators& operators, std::span<const FoldRow> rows);

}  // namespace hios::onnx
