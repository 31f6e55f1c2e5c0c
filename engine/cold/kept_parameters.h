#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cold/load_pace.h"
#include "engine/cold/loader.h"
#include "engine/cold/packed_parameters.h"
#include "engine/cold/planned_loads.h"

namespace hios {

/// The means by which a rank loads parameters.
struct LoadOptions {
  std::vector<int> cores = {};  ///< see Loader
  /// Parameters that the schedule's disks hold; null where it loads from memory only. Outlives the
  /// loads.
  const PackedParameters* packed = nullptr;
  std::vector<StoreId> disks = {};  ///< the stores whose loads are read from `packed`
  /// The pace of an emulated machine; null: loads are as fast as they are. Outlives the loads.
  LoadPace* pace = nullptr;
};

/// The parameters of one rank's loads, kept in memory of their own or in a file, in the layouts
/// that the backend computes with, in the order of their lanes. For an asynchronous device the
/// memory is pinned. What operators read is only valid once it was loaded. Used by the main thread.
class KeptParameters {
 public:
  /// Returns the memory in which a bound operator reads its parameters, in all their layouts.
  using MemoryOf = std::function<std::vector<std::span<std::byte>>(OpId)>;

  /// Keeps what the readers of these loads read now, if it comes from a store in memory, or finds
  /// it in the file; that memory and the backend outlive this. `who`: "rank 0". `name_of`: an
  /// operator's name. Throws what `memory_of` and PackedParameters::find do, and RunError where
  /// memory is short. REQUIRES: nothing is queued on the device.
  KeptParameters(Backend& backend, std::span<const std::vector<PlannedLoad>> lanes,
                 const MemoryOf& memory_of, const std::function<std::string(OpId)>& name_of,
                 const LoadOptions& options, const std::string& who);
  /// Lets forget() overwrite the parameters of operators that read them elsewhere, too.
  void add_unread(std::span<const OpId> in_place, const MemoryOf& memory_of);
  /// Adds evictions, for evict(). forget() brings back what was there from the beginning.
  void add_evictions(std::span<const PlannedEviction> evictions, const MemoryOf& memory_of,
                     const std::string& who);

  /// Returns what a Loader copies; refers to this.
  const std::vector<Loader::LaneOfCopies>& lanes() const { return lanes_; }
  /// Overwrites all that loads bring, and what add_unread() named, by bytes that make a NaN of
  /// every number, so that results of what runs without its parameters are others. Waits for the
  /// device. REQUIRES: nothing is queued there.
  void forget();
  /// Overwrites in the same way the parameters of an eviction, by its index; on a device in order
  /// with its work queue, and may be part of a recording.
  void evict(std::size_t eviction);

 private:
  /// Keeps copies of what is in `to`, in order.
  void keep(const std::vector<std::vector<ParameterCopy>*>& loads, const std::string& who);
  std::byte* allocate(Bytes size_bytes, const std::string& what);
  void overwrite(std::span<std::byte> part);

  Backend& backend_;
  std::vector<Loader::LaneOfCopies> lanes_;
  std::vector<std::unique_ptr<Buffer>> kept_;
  std::vector<std::unique_ptr<mpi::DeviceMemory>> pinned_;
  std::vector<std::span<std::byte>> unread_;  // and memory that other ranks write to
  std::vector<std::vector<std::span<std::byte>>> evicted_;
  std::vector<std::vector<ParameterCopy>> residents_;
};

/// Throws InputError, with need::OtherBackend, where the backend has all parameters before a run.
void require_shown_parameters(const Backend& backend);

/// Returns the memory of several operators' parameters, each stretch once.
std::vector<std::span<std::byte>> memory_of_all(std::span<const OpId> readers,
                                                const KeptParameters::MemoryOf& memory_of);

}  // namespace hios
