#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/checks.h"
#include "hios/base/error.h"
#include "hios/base/json/json_io.h"

namespace hios::test {

/// What a refusal looks like: one line that a terminal does not obey.
inline void promise_a_line(const std::string& text) {
  promise(!text.empty(), "a refusal without words");
  promise(printable(text, text.size()) == text, "control characters in a refusal: " + text);
}

/// What `read` makes of the bytes, or nothing where they are refused as they should be.
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

/// Written, read and written again, it is the same text. `write` makes JSON of what `read` returns.
template <class Value, class Read, class Write>
void promise_to_come_back(const Value& value, const Read& read, const Write& write) {
  const std::string first = to_text(write(value));
  const Json json = parse_json(first, "written.json");
  const std::string second = to_text(write(read(JsonView(json, "written.json"))));
  promise(first == second, "written: " + first + "read and written again: " + second);
}

/// A time that a plan can reckon with.
inline void promise_a_time(double ms, const std::string& of) {
  promise(std::isfinite(ms) && ms >= 0, of + " takes " + std::to_string(ms) + " ms");
}

}  // namespace hios::test
