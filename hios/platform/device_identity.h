#pragma once

#include <compare>
#include <string>
#include <utility>

#include "hios/base/json/json.h"

namespace hios {

/// The model of a GPU and its libraries, on which times and bits depend in addition to the kind of
/// device. A list from the general to the particular in one text, as in files: "NVIDIA H200, CUDA
/// 13.0, cuDNN 9.19.0". Empty: a device that computes on no GPU, or, as a requirement, any GPU.
class DeviceIdentity {
 public:
  DeviceIdentity() = default;
  DeviceIdentity(std::string text) : text_(std::move(text)) {}             // NOLINT(*-explicit-*)
  DeviceIdentity(const char* text) : DeviceIdentity(std::string(text)) {}  // NOLINT(*-explicit-*)
  /// Returns the identity in a backend's description (Backend::describe) or a profile's "machine".
  /// Never throws: a file may hold anything there.
  static DeviceIdentity of(const Json& description);

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  /// Returns true if this device meets the requirement. A requirement may stop before any comma:
  /// the device above meets "NVIDIA H200", "NVIDIA H200, CUDA 13.0" and its whole text. Every
  /// device meets the empty requirement; a device without an identity meets no other.
  bool matches(const DeviceIdentity& required) const;

  auto operator<=>(const DeviceIdentity&) const = default;

 private:
  std::string text_;
};

void to_json(Json& json, const DeviceIdentity& identity);
void from_json(const Json& json, DeviceIdentity& identity);

}  // namespace hios
