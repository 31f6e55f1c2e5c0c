#include "hios/base/json/owned_json.h"

#include <nlohmann/json.hpp>

namespace hios {

OwnedJson::OwnedJson() : OwnedJson(Json::object()) {}

OwnedJson::OwnedJson(const OwnedJson& other) : OwnedJson(*other) {}

OwnedJson::OwnedJson(OwnedJson&&) noexcept = default;

OwnedJson& OwnedJson::operator=(OwnedJson other) noexcept {
  value_.swap(other.value_);
  return *this;
}

OwnedJson::~OwnedJson() = default;

OwnedJson::OwnedJson(Copied from) : value_(std::make_unique<Json>(*from.value)) {}

Json& OwnedJson::operator[](const std::string& name) { return (*value_)[name]; }

bool OwnedJson::operator==(const Json& other) const { return *value_ == other; }

}  // namespace hios
