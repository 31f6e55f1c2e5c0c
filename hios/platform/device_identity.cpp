#include "hios/platform/device_identity.h"

#include <nlohmann/json.hpp>

namespace hios {
namespace {

std::string word(const Json& description, const char* key) {
  if (!description.is_object()) return {};
  const auto found = description.find(key);
  return found != description.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

DeviceIdentity DeviceIdentity::of(const Json& description) {
  std::string text = word(description, "gpu");
  if (text.empty()) return {};
  if (const std::string cuda = word(description, "cuda"); !cuda.empty()) text += ", CUDA " + cuda;
  if (const std::string dnn = word(description, "library"); !dnn.empty()) text += ", " + dnn;
  return text;
}

bool DeviceIdentity::matches(const DeviceIdentity& required) const {
  if (required.empty() || required == *this) return true;
  const std::string& prefix = required.text_;
  return text_.starts_with(prefix) && text_.compare(prefix.size(), 2, ", ") == 0;
}

void to_json(Json& json, const DeviceIdentity& identity) { json = identity.text(); }

void from_json(const Json& json, DeviceIdentity& identity) { identity = json.get<std::string>(); }

}  // namespace hios
