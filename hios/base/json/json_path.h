#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Paths that locate a value in a JSON document, for messages: "$.devices[0].stages[2]".
namespace hios::json_path {

/// Returns "$.a.b" of "$.a" and "b"; of a key that is no identifier, `$.a["Conv 64 k3x3"]`.
std::string member(std::string path, std::string_view key);
std::string element(std::string path, std::size_t index);

}  // namespace hios::json_path
