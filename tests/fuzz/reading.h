#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/checks.h"
#include "hios/base/error.h"
#include "hios/base/json/json_io.h"

namespace hios::test {

/// Checks an error message: one line without control characters.
inline void promise_a_line(const std::string& text) {
  promise(!text.empty(), "an empty error message");
  promise(printable(text, text.size()) == text, "control characters in an error message: " + text);
}

/// Returns the value that `read` returns for the bytes; empty if they are refused in one line.
template <class Read>
auto read_or_refuse(std::string_view bytes, const Read& read)
    -> std::optional<decltype(read(std::declval<const JsonView&>()))> {
  constexpr Bytes kMaxBytesRead = 1 << 20;
  try {
    const Json json = parse_json(bytes, "fuzz.json", {.max_bytes = kMaxBytesRead});
    return read(JsonView(json, "fuzz.json"));
  } catch (const InputError& error) {
    promise_a_line(error.what());
    return std::nullopt;
  }
}

/// Checks that a value which is written, read and written again gives the same text.
template <class Value, class Read, class Write>
void promise_same_when_reread(const Value& value, const Read& read, const Write& write) {
  const std::string first = to_text(write(value));
  const Json json = parse_json(first, "written.json");
  const std::string second = to_text(write(read(JsonView(json, "written.json"))));
  promise(first == second, "written: " + first + "read and written again: " + second);
}

/// Checks that a time is finite and not negative.
inline void promise_a_time(double ms, const std::string& of) {
  promise(std::isfinite(ms) && ms >= 0, of + " takes " + std::to_string(ms) + " ms");
}

}  // namespace hios::test
