#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/discovery/gpu_links.h"
#include "hios/base/json/json_io.h"
#include "mpi/routes/route_table.h"

namespace hios::job {

/// Returns a number for each rank, equal for ranks that share memory for their tensors: those of a
/// host that can, where no rank has a device, unless `forced` is a route. Empty: no two ranks do.
/// Collective.
std::vector<std::size_t> memory_sharers(mpi::Transport& transport, Backend& backend,
                                        const mpi::Route* forced);

/// The transport that carries a job's tensors. Collective: chooses the routes, and warns (rank 0)
/// where several ranks share a device. `plain` and the backend outlive it.
class TensorTransport {
 public:
  /// `forced`: the route between devices, or that of host memory where no rank has one; null: the
  /// best that works. Throws InputError, on all ranks, where a forced route fails.
  TensorTransport(mpi::Transport& plain, Backend& backend, const mpi::Route* forced);

  mpi::Transport& get() const { return *transport_; }
  /// Returns a table rank x rank, for people: the route, and the way between the two GPUs. Empty
  /// where no rank has a device.
  std::string table() const;
  /// Returns the same for reports and profiles; nothing where no rank has a device.
  std::optional<Json> json() const;
  /// The places of the GPUs, by rank; empty where no rank has a device.
  const std::vector<discovery::GpuPlace>& places() const { return places_; }

 private:
  mpi::RouteTable routes_;
  std::vector<discovery::GpuPlace> places_;
  std::unique_ptr<mpi::Transport> transport_;
};

}  // namespace hios::job
