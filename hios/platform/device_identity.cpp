#include "hios/platform/device_identity.h"

namespace hios {
namespace {

std::string word(const Json& description, const char* key) {
  if (!description.is_object()) return {};
  const auto found = description.find(key);
  return found != description.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string gpu_text(const Json& description) {
  std::string text = word(description, "gpu");
  if (text.empty()) return text;
  if (const std::string cuda = word(description, "cuda"); !cuda.empty()) text += ", CUDA " + cuda;
  if (const std::string dnn = word(description, "library"); !dnn.empty()) text += ", " + dnn;
  return text;
}

bool gpu_meets(std::string_view named, std::string_view gpu) {
  if (named.empty() || named == gpu) return true;
  return gpu.starts_with(named) && gpu.substr(named.size()).starts_with(", ");
}

}  // namespace hios
