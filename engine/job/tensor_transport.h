#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/backend/backend.h"
#include "hios/base/json_io.h"
#include "mpi/device/device_transport.h"

namespace hios::job {

/// The transport that carries a job's tensors. Collective: chooses the routes where any rank has a
/// device, and warns (rank 0) where several ranks share one. `plain` and the backend outlive it.
class TensorTransport {
 public:
  /// `forced`: the route between devices; none: the best that works. Throws InputError, on all
  /// ranks, where a forced route fails.
  TensorTransport(mpi::Transport& plain, Backend& backend, std::optional<mpi::Route> forced);

  mpi::Transport& get() const { return wrapped_ ? *wrapped_ : plain_; }
  /// A table rank x rank, for people; empty where no rank has a device.
  std::string table() const { return routes_ ? routes_->table() : ""; }
  /// The same for reports and profiles; nothing where no rank has a device.
  std::optional<Json> json() const;

 private:
  mpi::Transport& plain_;
  std::optional<mpi::RouteTable> routes_;
  std::unique_ptr<mpi::Transport> wrapped_;
};

}  // namespace hios::job
