#include "hios/base/json/options.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"

namespace hios {
namespace {

/// Returns the shortest text that reads back as the same number: "4", "0.5".
std::string shortest_text(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

struct ToText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return shortest_text(value); }
  std::string operator()(const std::string& value) const { return quote(value); }
};

std::string text_of(const OptionValue& value) { return std::visit(ToText{}, value); }

/// Returns "a whole number from 1 to 64".
std::string domain(const OptionSpec& spec) {
  if (std::holds_alternative<bool>(spec.default_value)) return "true or false";
  if (std::holds_alternative<std::string>(spec.default_value)) return "text";
  const bool whole = std::holds_alternative<std::int64_t>(spec.default_value);
  return std::string(whole ? "a whole number" : "a number") + " from " + shortest_text(spec.min) +
         " to " + shortest_text(spec.max);
}

bool in_bounds(const OptionSpec& spec, double value) {
  return std::isfinite(value) && value >= spec.min && value <= spec.max;
}

/// Reads the whole text as a number; empty where it is none, or out of the option's bounds.
template <class Number>
std::optional<OptionValue> parse_number(const OptionSpec& spec, std::string_view text) {
  Number value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!in_bounds(spec, static_cast<double>(value))) return std::nullopt;
  return value;
}

std::optional<OptionValue> parse(const OptionSpec& spec, std::string_view text) {
  if (std::holds_alternative<std::string>(spec.default_value)) return std::string(text);
  if (std::holds_alternative<std::int64_t>(spec.default_value)) {
    return parse_number<std::int64_t>(spec, text);
  }
  if (std::holds_alternative<double>(spec.default_value)) return parse_number<double>(spec, text);
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

void check_default(const OptionSpec& spec) {
  const auto* whole = std::get_if<std::int64_t>(&spec.default_value);
  const auto* real = std::get_if<double>(&spec.default_value);
  if ((whole != nullptr && !in_bounds(spec, static_cast<double>(*whole))) ||
      (real != nullptr && !in_bounds(spec, *real))) {
    throw std::logic_error("the default of option " + spec.name + " is out of its own bounds");
  }
}

}  // namespace

Options::Options(std::span<const OptionSpec> specs) : specs_(specs.begin(), specs.end()) {
  for (const OptionSpec& spec : specs_) {
    check_default(spec);
    values_.push_back(spec.default_value);
  }
}

std::optional<std::size_t> Options::find(std::string_view name) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].name == name) return i;
  }
  return std::nullopt;
}

void Options::set(std::string_view key_equals_value) {
  const std::string said = "option " + quote(key_equals_value) + ": ";
  const std::size_t equals = key_equals_value.find('=');
  if (equals == std::string_view::npos) throw InputError(said + "must have the form key=value");
  const std::string_view name = key_equals_value.substr(0, equals);
  const auto index = find(name);
  if (!index) {
    std::string known;
    std::vector<std::string_view> names;
    for (const OptionSpec& spec : specs_) {
      known += (known.empty() ? "" : ", ") + spec.name;
      names.push_back(spec.name);
    }
    throw InputError(said + "no option is called " + quote(name) + "; " +
                     (known.empty() ? "there are none here" : "there are: " + known) +
                     did_you_mean(name, names));
  }
  const OptionSpec& spec = specs_[*index];
  const auto value = parse(spec, key_equals_value.substr(equals + 1));
  if (!value) throw InputError(said + std::string(name) + " must be " + domain(spec));
  values_[*index] = *value;
}

bool Options::has(std::string_view name) const { return find(name).has_value(); }

const OptionValue& Options::value(std::string_view name) const {
  const auto index = find(name);
  if (!index) throw std::logic_error("no option is called " + std::string(name));
  return values_[*index];
}

bool Options::boolean(std::string_view name) const { return std::get<bool>(value(name)); }

std::int64_t Options::integer(std::string_view name) const {
  return std::get<std::int64_t>(value(name));
}

double Options::number(std::string_view name) const { return std::get<double>(value(name)); }

const std::string& Options::string(std::string_view name) const {
  return std::get<std::string>(value(name));
}

Json Options::non_defaults() const {
  Json json = Json::object();
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (values_[i] == specs_[i].default_value) continue;
    std::visit([&](const auto& value) { json[specs_[i].name] = value; }, values_[i]);
  }
  return json;
}

std::string Options::help() const {
  std::string text;
  for (const OptionSpec& spec : specs_) {
    text += "  " + spec.name + "=" + text_of(spec.default_value) + "  " + spec.help + " (" +
            domain(spec) + ")\n";
  }
  return text;
}

}  // namespace hios
