#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hios/base/json/json.h"

namespace hios {

using OptionValue = std::variant<bool, std::int64_t, double, std::string>;

/// One documented option: its type is that of its default.
struct OptionSpec {
  std::string name;
  OptionValue default_value;
  double min = 0;  ///< numbers only, both ends included
  double max = 0;
  std::string help;  ///< meaning and unit
};

/// The values of a documented set of options: the defaults, then the user's.
class Options {
 public:
  Options() = default;
  /// REQUIRES: each default within its own bounds (otherwise throws std::logic_error).
  explicit Options(std::span<const OptionSpec> specs);

  /// Sets an option from "window=4". Throws InputError: unknown name (lists the known ones), wrong
  /// type, out of range.
  void set(std::string_view key_equals_value);
  bool has(std::string_view name) const;

  /// REQUIRES: the option exists and has that type (otherwise these throw std::logic_error and
  /// std::bad_variant_access).
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& string(std::string_view name) const;

  /// Returns the values that differ from the defaults, as schedules store them.
  Json non_defaults() const;
  /// Returns one line an option, for a program's help.
  std::string help() const;

 private:
  std::optional<std::size_t> find(std::string_view name) const;
  const OptionValue& value(std::string_view name) const;

  std::vector<OptionSpec> specs_;
  std::vector<OptionValue> values_;
};

}  // namespace hios
