#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

/// The attributes that the nodes of an operator may have. Each row of the table declares its own; a
/// node with another one is refused, so that none is ignored in silence.
namespace hios::onnx {

/// An attribute that no handler reads, since it changes nothing that is computed here.
struct UnreadAttribute {
  std::string_view name;
  /// The integers that change nothing; others are refused. Empty: no value changes anything.
  std::vector<std::int64_t> values = {};
};

struct Attributes {
  /// Attributes that the handlers read. They refuse the values that they do not compute.
  std::vector<std::string_view> read = {};
  std::vector<UnreadAttribute> unread = {};

  bool reads(std::string_view name) const { return std::ranges::find(read, name) != read.end(); }
  /// Returns the declaration of an attribute that is not read; null if there is none.
  const UnreadAttribute* find_unread(std::string_view name) const {
    const auto found = std::ranges::find(unread, name, &UnreadAttribute::name);
    return found == unread.end() ? nullptr : &*found;
  }
};

/// Returns true for the attributes with which tools annotate nodes of any operator: ONNX's checker,
/// too, leaves names with two underscores at the front unchecked.
inline bool is_annotation(std::string_view name) { return name.starts_with("__"); }

}  // namespace hios::onnx
