#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/cold/search/cold_plan.h"
#include "scheduler/cold/shared/server.h"

namespace hios::scheduler::cold {

/// The parameters that each device of a server keeps between requests, within its limit. Refers to
/// the server, which outlives it.
class Keeping {
 public:
  explicit Keeping(const Server& server);

  bool has(DeviceId device, std::size_t set) const { return kept_[device.index() * sets() + set]; }
  /// Returns true if some device keeps the set.
  bool anywhere(std::size_t set) const;
  /// Returns the bytes that a device keeps.
  Bytes bytes(DeviceId device) const { return bytes_[device.index()]; }
  Bytes all_bytes() const;
  /// Returns the bytes that a device can keep besides.
  Bytes room(DeviceId device) const { return server_->limit(device) - bytes(device); }
  /// Keeps a set. Returns false, and changes nothing, where it is kept there or has no room.
  bool keep(DeviceId device, std::size_t set);
  /// Frees a set. REQUIRES: it is kept there.
  void release(DeviceId device, std::size_t set);

  /// Returns what a cold start of the model finds on the devices.
  Held held(std::size_t model) const;
  const Server& server() const { return *server_; }
  bool operator==(const Keeping& other) const { return kept_ == other.kept_; }

 private:
  std::size_t sets() const { return server_->sets().size(); }

  const Server* server_;
  std::vector<bool> kept_;    // device × set
  std::vector<Bytes> bytes_;  // by device
};

}  // namespace hios::scheduler::cold
