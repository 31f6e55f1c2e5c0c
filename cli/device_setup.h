#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags.h"
#include "engine/backend/backend.h"
#include "engine/run/plan.h"
#include "mpi/device/device_transport.h"

/// What hios-profile and hios-run do for ranks that compute on a device beside the CPU.
namespace hios::cli {

/// --transport --math --cuda-graphs --devices-per-node --allow-nondeterministic.
boost::program_options::options_description device_flags();

struct DeviceOptions {
  std::optional<mpi::Route> transport;  ///< none: the best that works
  std::optional<Precision> precision;   ///< none: the schedule's, or fp32
  bool graphs = true;
  std::size_t devices_per_node = 0;  ///< 0: a device for each rank that wants one
  bool deterministic = true;
  bool blocking = false;  ///< of hios-run: wait after every operator
};

/// Throws InputError: a value that is none, or a flag that means nothing to any of these backends.
DeviceOptions read_device_options(const Flags& flags, const std::vector<std::string>& backends);

/// Throws InputError where the backend does not compute in this arithmetic.
void require_precision(const BackendEntry& backend, Precision precision);

/// Which device of its host each rank takes, by rank: the ranks of a host that want one take them
/// in order, `per_node` (0: as many as there are such ranks) before they share; 0 for the others.
std::vector<int> device_indices(const std::vector<std::string>& host_of,
                                const std::vector<bool>& wants_device, std::size_t per_node);

/// What a rank's backend is made with, as far as devices go. Collective. `precision` is this
/// rank's.
BackendOptions backend_options(const DeviceOptions& options, mpi::Transport& transport,
                               const std::vector<std::string>& backends, Precision precision);

/// The transport that carries this job's tensors. Collective: chooses the paths where any rank has
/// a device, and warns (rank 0) where several ranks share one. `plain` and the backend outlive it.
class TensorTransport {
 public:
  /// Throws InputError, on all ranks, where a forced path fails.
  TensorTransport(mpi::Transport& plain, Backend& backend, const DeviceOptions& options);

  mpi::Transport& get() const { return wrapped_ ? *wrapped_ : plain_; }
  /// A table rank x rank, for people; empty where no rank has a device.
  std::string table() const { return paths_ ? paths_->table() : ""; }
  /// The same for reports and profiles; nothing where no rank has a device.
  std::optional<Json> json() const;

 private:
  mpi::Transport& plain_;
  std::optional<mpi::RouteTable> paths_;
  std::unique_ptr<mpi::Transport> wrapped_;
};

/// Refuses, on all ranks, what will not fit into the memory of a device, before anything is
/// allocated; ranks that share a device need the sum. Collective.
void agree_on_memory(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                     const Model& model, const RankPlan& plan);

}  // namespace hios::cli
