#include "hios/base/json/json_text.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "hios/base/error.h"
#include "hios/base/json/json_path.h"

// The text is for people to read and for `diff` to compare. An array or a flat record that fits on
// a line has one line; any other container has a line for each of its children.
namespace hios {
namespace {

constexpr std::size_t kLineCharacters = 100;

bool is_container(const Json& json) { return json.is_array() || json.is_object(); }

/// Returns a number as the shortest text that reads back as the same double.
std::string scalar(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string key_text(const std::string& key) { return scalar(Json(key)) + ": "; }

bool is_flat(const Json& object) {
  for (const Json& value : object) {
    if (is_container(value)) return false;
  }
  return true;
}

/// Appends the value as one line. Returns false, with `out` unchanged, where that takes more than
/// `kLineCharacters` from `start` on.
bool append_line(const Json& json, std::string& out, std::size_t start) {
  const std::size_t before = out.size();
  if (!is_container(json)) {
    out += scalar(json);
  } else {
    out += json.is_array() ? '[' : '{';
    bool first = true;
    for (auto it = json.begin(); it != json.end(); ++it) {
      if (!first) out += ", ";
      first = false;
      if (json.is_object()) out += key_text(it.key());
      if (!append_line(*it, out, start)) {
        out.resize(before);
        return false;
      }
    }
    out += json.is_array() ? ']' : '}';
  }
  if (out.size() - start <= kLineCharacters) return true;
  out.resize(before);
  return false;
}

void append(const Json& json, std::size_t indent, std::string& out) {
  if (!is_container(json)) {
    out += scalar(json);
    return;
  }
  const bool may_be_line = json.empty() || json.is_array() || (indent > 0 && is_flat(json));
  if (may_be_line && append_line(json, out, out.size())) return;
  out += json.is_array() ? "[" : "{";
  bool first = true;
  for (auto it = json.begin(); it != json.end(); ++it) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + 2, ' ');
    if (json.is_object()) out += key_text(it.key());
    append(*it, indent + 2, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += json.is_array() ? ']' : '}';
}

/// Throws for an infinity or NaN: the library would write null, and our reader refuse the file.
void refuse_not_finite(const Json& json, const std::string& path) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    throw RunError("cannot write " + path + ": the number is not finite");
  }
  if (!is_container(json)) return;
  std::size_t index = 0;
  for (auto it = json.begin(); it != json.end(); ++it, ++index) {
    if (!is_container(*it) && !it->is_number_float()) continue;
    refuse_not_finite(
        *it, json.is_array() ? json_path::element(path, index) : json_path::member(path, it.key()));
  }
}

}  // namespace

std::string to_text(const Json& json) {
  refuse_not_finite(json, "$");
  std::string out;
  append(json, 0, out);
  out += '\n';
  return out;
}

}  // namespace hios
