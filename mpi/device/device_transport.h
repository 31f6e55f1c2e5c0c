#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/accelerator.h"
#include "mpi/transport.h"

/// Tensors from device to device. A transport for ranks some of which compute on a device with
/// memory of its own: it wraps the one that the ranks talk by, and gives each pair of ranks the
/// best path there is.
namespace hios::mpi {

/// How a tensor goes from one rank to another, best first.
enum class Route {
  kHost,       ///< both ends are host memory: the wrapped transport as it is
  kIpc,        ///< within a host: the consumer maps the producer's memory and pulls
  kCudaAware,  ///< MPI is given device addresses
  kStaged,     ///< through pinned host memory, in chunks; with a rank of the other kind, too
};
std::string_view name(Route path);
/// "auto" gives nothing. Throws InputError that lists the names.
std::optional<Route> parse_route(std::string_view text);

/// The path of every ordered pair of ranks, the same on all ranks.
struct RouteTable {
  std::size_t ranks = 0;
  std::vector<Route> by_pair;  ///< [from * ranks + to]
  std::vector<std::string>
      why_not;  ///< of each pair: why no better path was taken; empty: the best
  Route at(Rank from, Rank to) const { return by_pair[from.index() * ranks + to.index()]; }
  /// A table rank x rank for people, with the reasons below it.
  std::string table() const;
};

/// What is known of the ranks before anything is tried.
struct RouteHints {
  bool cuda_aware_mpi =
      false;  ///< what the MPI library says of itself; believed only after a trial
  std::optional<Route> forced;  ///< by --transport, for pairs of devices
};

/// Whether the MPI library calls itself CUDA-aware. No proof: some say so where the support has
/// switched itself off, so it is a hint to choose_routes. REQUIRES: MPI is up (false without MPI).
bool mpi_says_cuda_aware();

/// Tries the paths between all pairs: 4 KB there and back, which must come back right. `device` is
/// this rank's, null where it computes in host memory. Collective. Throws InputError, on all ranks,
/// where a forced path fails.
RouteTable choose_routes(Transport& transport, Accelerator* device, const RouteHints& hints);

/// Messages by these paths; all else is `inner`'s, which outlives this as does the device. Buffers
/// of open_channel are device memory where `device` is given. A channel's calls are in order with
/// the device's Queue::kWork: start_send sends what the work queued so far has produced,
/// await_receive returns when work queued later will find the bytes, await_send when work queued
/// later may overwrite them; none waits for the device longer than a message needs. No call
/// allocates. A message moves only while both ranks call their channels: poll, an await or finish
/// (which pushes all that is left), so await_send may need the receiver's calls. An iteration sends
/// every message of the channel once.
/// REQUIRES: open_channel is called by all ranks of `inner`, in the same order, also by those
/// without messages; before start_receives the device has ended what was queued on the buffers that
/// receive (Accelerator::synchronize after finish()); and where a path is IPC, a buffer lives until
/// the channels of the ranks that map it have ended: let a barrier stand between.
std::unique_ptr<Transport> make_device_transport(Transport& inner, Accelerator* device,
                                                 RouteTable paths);

/// How a staged message of that size is cut: equal on both sides.
struct Chunk {
  Bytes begin = 0;
  Bytes size_bytes = 0;
};
std::vector<Chunk> staging_chunks(Bytes size_bytes);

}  // namespace hios::mpi
