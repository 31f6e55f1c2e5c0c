#include "hios/base/json/json_path.h"

#include <cctype>
#include <utility>

#include "hios/base/error.h"

namespace hios::json_path {

std::string member(std::string path, std::string_view key) {
  bool identifier = !key.empty() && key.size() <= 60;
  for (const char c : key) {
    identifier = identifier && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  }
  if (identifier) return std::move(path) + '.' + std::string(key);
  return std::move(path) + '[' + quote(key) + ']';
}

std::string element(std::string path, std::size_t index) {
  return std::move(path) + '[' + std::to_string(index) + ']';
}

}  // namespace hios::json_path
