#include "support/schema.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "hios/base/json/json_path.h"

namespace hios::test {
namespace {

constexpr std::array<std::string_view, 21> kKeywords = {
    "$schema", "$defs",      "$ref",     "title",    "description",          "type",
    "enum",    "const",      "minimum",  "maximum",  "exclusiveMinimum",     "minLength",
    "pattern", "properties", "required", "minItems", "additionalProperties", "minProperties",
    "items",   "maxItems",   "anyOf"};
constexpr std::string_view kOneOf = "oneOf";

bool is_known(const std::string& keyword) {
  return keyword == kOneOf ||
         std::find(kKeywords.begin(), kKeywords.end(), keyword) != kKeywords.end();
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  throw std::logic_error("unknown type " + type);
}

bool has_a_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types);
  return std::any_of(types.begin(), types.end(),
                     [&](const Json& type) { return has_type(value, type); });
}

void check_number(const Json& schema, const Json& value, const std::string& path,
                  std::vector<std::string>& found) {
  const auto number = value.get<double>();
  const auto violate = [&](const char* keyword, const char* text) {
    found.push_back(path + ": " + text + " " + schema[keyword].dump());
  };
  if (schema.contains("minimum") && number < schema["minimum"]) violate("minimum", "below");
  if (schema.contains("maximum") && number > schema["maximum"]) violate("maximum", "above");
  if (schema.contains("exclusiveMinimum") && number <= schema["exclusiveMinimum"]) {
    violate("exclusiveMinimum", "not above");
  }
}

/// Extended regular expressions are enough for our patterns.
bool matches(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
    throw std::logic_error("cannot understand the pattern " + pattern);
  }
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

void check_string(const Json& schema, const Json& value, const std::string& path,
                  std::vector<std::string>& found) {
  const auto& text = value.get_ref<const std::string&>();
  if (schema.contains("minLength") && text.size() < schema["minLength"]) {
    found.push_back(path + ": too short");
  }
  if (schema.contains("pattern") && !matches(text, schema["pattern"])) {
    found.push_back(path + ": does not match " + schema["pattern"].dump());
  }
}

}  // namespace

Schema::Schema(Json schema) : root_(std::move(schema)) { check_keywords(root_); }

Schema Schema::of_format(const std::string& format) {
  return Schema(read_json(HIOS_SOURCE_DIR "/schedules/schemas/" + format + ".json"));
}

void Schema::check_keywords(const Json& schema) const {
  if (schema.is_boolean()) return;
  for (const auto& [keyword, value] : schema.items()) {
    if (!is_known(keyword)) throw std::logic_error("unknown keyword " + keyword);
    if (keyword == "$ref") definition(value);
    if (keyword == "properties" || keyword == "$defs") {
      for (const Json& inner : value) check_keywords(inner);
    } else if (keyword == "anyOf" || keyword == "oneOf") {
      for (const Json& inner : value) check_keywords(inner);
    } else if (keyword == "items" || keyword == "additionalProperties") {
      check_keywords(value);
    }
  }
}

const Json& Schema::definition(const std::string& reference) const {
  constexpr std::string_view kPrefix = "#/$defs/";
  if (reference.rfind(kPrefix, 0) != 0 || !root_.contains("$defs") ||
      !root_["$defs"].contains(reference.substr(kPrefix.size()))) {
    throw std::logic_error("no definition " + reference);
  }
  return root_["$defs"][reference.substr(kPrefix.size())];
}

std::vector<std::string> Schema::violations(const Json& value) const {
  std::vector<std::string> found;
  check(root_, value, "$", found);
  return found;
}

void Schema::check(const Json& schema, const Json& value, const std::string& path,
                   std::vector<std::string>& found) const {
  if (schema.is_boolean()) {
    if (!schema.get<bool>()) found.push_back(path + ": not allowed");
    return;
  }
  if (schema.contains("$ref")) check(definition(schema["$ref"]), value, path, found);
  if (schema.contains("type") && !has_a_type(value, schema["type"])) {
    found.push_back(path + ": is no " + schema["type"].dump());
    return;
  }
  if (schema.contains("const") && value != schema["const"]) {
    found.push_back(path + ": is not " + schema["const"].dump());
  }
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
    found.push_back(path + ": is none of " + schema["enum"].dump());
  }
  if (value.is_number()) check_number(schema, value, path, found);
  if (value.is_string()) check_string(schema, value, path, found);
  if (value.is_object()) check_object(schema, value, path, found);
  if (value.is_array()) check_array(schema, value, path, found);
  check_choices(schema, value, path, found);
}

void Schema::check_object(const Json& schema, const Json& value, const std::string& path,
                          std::vector<std::string>& found) const {
  const Json none = Json::object();
  const Json& properties = schema.contains("properties") ? schema["properties"] : none;
  for (const auto& [key, member] : value.items()) {
    const std::string member_path = json_path::member(path, key);
    if (properties.contains(key)) {
      check(properties[key], member, member_path, found);
    } else if (schema.contains("additionalProperties")) {
      check(schema["additionalProperties"], member, member_path, found);
    }
  }
  if (schema.contains("required")) {
    for (const Json& key : schema["required"]) {
      if (!value.contains(key)) found.push_back(path + ": lacks " + key.dump());
    }
  }
  if (schema.contains("minProperties") && value.size() < schema["minProperties"]) {
    found.push_back(path + ": too few members");
  }
}

void Schema::check_array(const Json& schema, const Json& value, const std::string& path,
                         std::vector<std::string>& found) const {
  if (schema.contains("minItems") && value.size() < schema["minItems"]) {
    found.push_back(path + ": too few elements");
  }
  if (schema.contains("maxItems") && value.size() > schema["maxItems"]) {
    found.push_back(path + ": too many elements");
  }
  if (!schema.contains("items")) return;
  for (std::size_t i = 0; i < value.size(); ++i) {
    check(schema["items"], value[i], json_path::element(path, i), found);
  }
}

void Schema::check_choices(const Json& schema, const Json& value, const std::string& path,
                           std::vector<std::string>& found) const {
  for (const char* keyword : {"anyOf", "oneOf"}) {
    if (!schema.contains(keyword)) continue;
    std::size_t met = 0;
    std::string messages;
    for (const Json& choice : schema[keyword]) {
      std::vector<std::string> inner;
      check(choice, value, path, inner);
      if (inner.empty()) {
        ++met;
      } else {
        messages += " [" + inner.front() + "]";
      }
    }
    if (met == 0 || (keyword == kOneOf && met > 1)) {
      found.push_back(path + ": meets " + std::to_string(met) + " of " + keyword + messages);
    }
  }
}

void expect_meets_schema(const Json& value) {
  const Schema schema = Schema::of_format(value.at("format").get<std::string>());
  for (const std::string& violation : schema.violations(value)) ADD_FAILURE() << violation;
}

}  // namespace hios::test
