#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/run/plan/memory_estimate.h"
#include "engine/run/plan/plan.h"
#include "hios/graph/network.h"
#include "hios/platform/device_identity.h"
#include "hios/platform/platform.h"
#include "mpi/transport.h"

/// Agreement between ranks about their devices, before anything runs. All functions with a
/// transport are collective; bad input ends in the same InputError on all ranks.
namespace hios::job {

/// The ranks that compute on each device, by the device's identity; ranks on cores are left out.
using DeviceSharers = std::map<std::string, std::vector<std::size_t>>;
DeviceSharers gather_sharers(mpi::Transport& transport, Backend& backend);
/// Returns "2, 3": ranks for messages.
std::string listed(const std::vector<std::size_t>& ranks);

/// Returns the GPU of each rank, by rank; empty for ranks that compute on none.
std::vector<DeviceIdentity> gather_identities(mpi::Transport& transport, const Backend& backend);

/// Throws InputError where ranks with these GPUs must not run this schedule, or copies of it, whose
/// ranks are consecutive. A device that names a GPU must have it. Where two ranks have different
/// GPUs, both must be named: else the schedule was made for GPUs that are all alike.
void require_identities(const std::vector<DeviceIdentity>& gpus, const Platform& devices,
                        const std::string& schedule_name);

/// Returns true if all ranks that compute on a GPU have the same kind of GPU.
bool same_gpus(const std::vector<DeviceIdentity>& gpus);

/// Throws InputError where backends have the same name and libraries of different versions, so that
/// the bits of ranks differ. Ranks with a GPU are not checked: a schedule can name their libraries.
void require_one_library(mpi::Transport& transport, const Backend& backend);

/// Throws InputError where a plan does not fit into the memory of its device, before anything is
/// allocated; ranks that share a device need the sum.
void agree_on_memory(mpi::Transport& transport, Backend& backend, const Network& network,
                     const RankPlan& plan);

/// Gathers the memory that every rank holds, by rank. Throws InputError where one holds more than
/// its device's `memory_bytes`: rank, bytes and limit (copies as above). `schedule_name` is for
/// that message.
std::vector<MemoryEstimate> agree_on_limits(mpi::Transport& transport, const MemoryEstimate& mine,
                                            const Platform& devices,
                                            const std::string& schedule_name);

}  // namespace hios::job
