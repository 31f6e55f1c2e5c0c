#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hios/base/json/json_io.h"

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

/// The values of a documented set of options: defaults, then what the user said.
class Options {
 public:
  Options() = default;
  /// REQUIRES: each default within its own bounds (throws std::logic_error: a mistake of ours).
  explicit Options(std::span<const OptionSpec> specs);

  /// "window=4". Throws InputError: unknown name (lists the known ones), wrong type, out of range.
  void set(std::string_view key_equals_value);
  bool has(std::string_view name) const;

  /// Getters. REQUIRES: the option exists and has that type (throw std::logic_error and
  /// std::bad_variant_access: mistakes of ours).
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& string(std::string_view name) const;

  /// Only what differs from the defaults, as schedules store it.
  Json non_defaults() const;
  /// One line an option, for the help of a program.
  std::string help() const;

 private:
  std::optional<std::size_t> find(std::string_view name) const;
  const OptionValue& value(std::string_view name) const;

  std::vector<OptionSpec> specs_;
  std::vector<OptionValue> values_;
};

}  // namespace hios
