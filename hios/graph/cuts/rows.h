#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hios/model/layer.h"

/// A layer on some rows of its output: which rows of its inputs it reads, and the same layer for
/// these alone.
namespace hios {

/// Rows [begin, end) of a tensor.
struct Rows {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
  bool holds(const Rows& other) const { return begin <= other.begin && other.end <= end; }
  auto operator<=>(const Rows&) const = default;
};

/// Returns "[0, 74)".
std::string to_string(const Rows& rows);

/// A layer that computes some rows.
struct LayerOnRows {
  LayerKind kind;  ///< the layer for these rows: convolutions and pools with uneven padding
  Rows reads;      ///< the rows that it reads of its inputs
};

/// Returns the layer for these rows of its output; its values are those of the whole layer, by the
/// same operations in the same order. Inputs of one row are read whole by layers that repeat it.
/// Throws InputError that says why it cannot be cut, without its name. REQUIRES: rows of `output`.
LayerOnRows on_rows(const LayerKind& kind, const Shape& input, const Shape& output,
                    const Rows& rows);

}  // namespace hios
