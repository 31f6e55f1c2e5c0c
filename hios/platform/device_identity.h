#pragma once

#include <compare>
#include <string>
#include <utility>

#include "hios/base/json/json_io.h"

namespace hios {

/// Which GPU a device is and by which libraries it computes: what times and bits depend on beside
/// the kind of device. A list from the general to the particular, in one text, as files and ranks
/// say it: "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0". Empty: a device that computes on no GPU, or,
/// where a device is named, any GPU.
class DeviceIdentity {
 public:
  DeviceIdentity() = default;
  DeviceIdentity(std::string text) : text_(std::move(text)) {}             // NOLINT(*-explicit-*)
  DeviceIdentity(const char* text) : DeviceIdentity(std::string(text)) {}  // NOLINT(*-explicit-*)
  /// From what a backend says of itself (Backend::describe), or a profile of its machine. Never
  /// throws: a file may hold anything there.
  static DeviceIdentity of(const Json& description);

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  /// Whether this device is one that `named` names. A name may stop before any comma: the device
  /// above is named by "NVIDIA H200", "NVIDIA H200, CUDA 13.0" and its whole text; every device by
  /// an empty name; no device without an identity by any other.
  bool matches(const DeviceIdentity& named) const;

  auto operator<=>(const DeviceIdentity&) const = default;

 private:
  std::string text_;
};

void to_json(Json& json, const DeviceIdentity& identity);
void from_json(const Json& json, DeviceIdentity& identity);

}  // namespace hios
