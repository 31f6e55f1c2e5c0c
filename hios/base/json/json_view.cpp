#include "hios/base/json/json_view.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/json/json_path.h"

namespace hios {
namespace {

/// Names and labels are printed in tables and messages of one line each.
constexpr std::size_t kMaxStringBytes = 1 << 16;

/// Returns the shortest of the usual forms: "3.9", "1e+20", "4294967297".
std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string describe(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "an array";
  if (json.is_string()) return "the string " + quote(json.get_ref<const std::string&>());
  return json.dump();
}

/// Says why a string cannot serve as a name; empty where it can.
std::string message_about(const std::string& text) {
  if (text.size() > kMaxStringBytes) {
    return "a string of " + std::to_string(text.size()) + " bytes; at most " +
           std::to_string(kMaxStringBytes) + " are taken";
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Some terminals take U+0080 to U+009F (c2 80 … c2 9f) for control sequences such as ESC [.
    const bool second =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || second) {
      return quote(text) + " holds a control character; remove it";
    }
  }
  return {};
}

}  // namespace

JsonView::JsonView(const Json& value, std::string file, std::string path)
    : value_(&value),
      file_(std::make_shared<const std::string>(std::move(file))),
      path_(std::move(path)) {}

JsonView::JsonView(const Json& value, std::shared_ptr<const std::string> file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

std::string JsonView::where() const { return printable(*file_, 200) + ": " + path_; }

void JsonView::fail(const std::string& message) const {
  throw InputError(where() + ": " + message);
}

bool JsonView::is_object() const { return value_->is_object(); }
bool JsonView::is_array() const { return value_->is_array(); }
bool JsonView::is_string() const { return value_->is_string(); }
bool JsonView::is_number() const { return value_->is_number(); }
bool JsonView::is_null() const { return value_->is_null(); }

std::string JsonView::string() const {
  if (!is_string()) fail("must be a string, not " + describe(*value_));
  auto text = value_->get<std::string>();
  if (const std::string message = message_about(text); !message.empty()) fail(message);
  return text;
}

bool JsonView::boolean() const {
  if (!value_->is_boolean()) fail("must be true or false, not " + describe(*value_));
  return value_->get<bool>();
}

double JsonView::number(double min, double max) const {
  const bool is_one = is_number() && std::isfinite(value_->get<double>());
  if (is_one && value_->get<double>() >= min && value_->get<double>() <= max) {
    return value_->get<double>();
  }
  fail("must be a number from " + number_text(min) + " to " + number_text(max) + ", not " +
       describe(*value_));
}

std::int64_t JsonView::integer(std::int64_t min, std::int64_t max) const {
  // Compared without a conversion: an unsigned number may not fit the signed type.
  const bool in_range =
      value_->is_number_unsigned()
          ? max >= 0 && value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(max) &&
                (min <= 0 || value_->get<std::uint64_t>() >= static_cast<std::uint64_t>(min))
          : value_->is_number_integer() && value_->get<std::int64_t>() >= min &&
                value_->get<std::int64_t>() <= max;
  if (in_range) return value_->get<std::int64_t>();
  fail("must be a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
       ", not " + describe(*value_));
}

std::vector<JsonView> JsonView::array() const {
  if (!is_array()) fail("must be an array, not " + describe(*value_));
  std::vector<JsonView> elements;
  elements.reserve(value_->size());
  for (const Json& element : *value_) {
    elements.push_back({element, file_, json_path::element(path_, elements.size())});
  }
  return elements;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!is_object()) fail("must be an object, not " + describe(*value_));
  std::vector<std::pair<std::string, JsonView>> members;
  members.reserve(value_->size());
  for (auto it = value_->begin(); it != value_->end(); ++it) {
    if (const std::string message = message_about(it.key()); !message.empty()) {
      fail("key " + message);
    }
    members.emplace_back(it.key(), JsonView(*it, file_, json_path::member(path_, it.key())));
  }
  return members;
}

std::optional<std::pair<std::size_t, JsonView>> JsonView::find(std::string_view key) const {
  std::size_t index = 0;
  for (auto it = value_->begin(); it != value_->end(); ++it, ++index) {
    if (it.key() != key) continue;
    return std::pair(index, JsonView(*it, file_, json_path::member(path_, key)));
  }
  return std::nullopt;
}

ObjectReader::ObjectReader(const JsonView& view) : view_(view) {
  if (!view.is_object()) view.fail("must be an object, not " + describe(view.json()));
  seen_.assign(view.json().size(), false);
}

JsonView ObjectReader::required(std::string_view key) {
  if (auto value = optional(key)) return *std::move(value);
  view_.fail("the key " + quote(key) + " is missing; add it");
}

std::optional<JsonView> ObjectReader::optional(std::string_view key) {
  auto found = view_.find(key);
  if (!found) return std::nullopt;
  seen_[found->first] = true;
  return std::move(found->second);
}

void ObjectReader::finish() const {
  std::size_t index = 0;
  for (auto it = view_.json().begin(); it != view_.json().end(); ++it, ++index) {
    if (seen_[index] || it.key() == "extra") continue;
    view_.fail("unknown key " + quote(it.key()) +
               "; correct it, or move it into an object called \"extra\"");
  }
}

ObjectReader open_format(const JsonView& root, std::string_view format) {
  if (!root.is_object()) {
    root.fail("must be a " + std::string(format) + " object, not " + describe(root.json()));
  }
  ObjectReader reader(root);
  const auto found = reader.optional("format");
  if (!found) root.fail("the key \"format\" is missing; a " + std::string(format) + " is needed");
  if (found->string() != format) {
    found->fail("is " + quote(found->string()) + " where " + quote(format) +
                " is needed; name another file");
  }
  const JsonView number = reader.required("version");
  if (number.integer(0, 1'000'000) != kFormatVersion) {
    number.fail("version " + number.json().dump() + " is unknown; this program reads version " +
                std::to_string(kFormatVersion) +
                ": make the file again, or correct the number in a file of your own");
  }
  return reader;
}

}  // namespace hios
