#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/run/memory_estimate.h"
#include "engine/run/plan.h"
#include "hios/graph/network.h"
#include "hios/platform/device_identity.h"
#include "hios/platform/platform.h"
#include "mpi/transport.h"

/// What ranks must agree on about the devices that they compute on, before anything runs. All is
/// collective; bad input ends in the same InputError on all ranks.
namespace hios::job {

/// The ranks that compute on each device, by the device's identity; ranks on cores are left out.
using DeviceSharers = std::map<std::string, std::vector<std::size_t>>;
DeviceSharers gather_sharers(mpi::Transport& transport, Backend& backend);
/// "2, 3": ranks for messages.
std::string listed(const std::vector<std::size_t>& ranks);

/// Which GPU each rank computes on, by rank; empty for ranks that compute on none.
std::vector<DeviceIdentity> gather_identities(mpi::Transport& transport, const Backend& backend);

/// Throws InputError where ranks with these GPUs must not run this schedule, or copies of it, whose
/// ranks lie behind each other. A device that names a
/// GPU must have it. Where two ranks have different ones, both must be named: else the schedule was
/// made for GPUs that are all alike.
void require_identities(const std::vector<DeviceIdentity>& gpus, const Platform& devices,
                        const std::string& schedule_name);

/// Whether all ranks that compute on a GPU have the same.
bool same_gpus(const std::vector<DeviceIdentity>& gpus);

/// Refuses ranks whose backends are of one name and whose libraries are of different versions,
/// where no schedule could name them (`gpu`): the bits of one rank are not those of the other.
void require_one_library(mpi::Transport& transport, const Backend& backend);

/// Refuses what will not fit into the memory of a device, before anything is allocated; ranks that
/// share a device need the sum.
void agree_on_memory(mpi::Transport& transport, Backend& backend, const Network& network,
                     const RankPlan& plan);

/// Refuses ranks of a host that would together hold more than `available` on it, before anything is
/// allocated; nothing where nobody knows what is there. For runs whose places and inputs are chosen
/// by a user: others hold what their network needs. Ranks on devices count for nothing.
void agree_on_host_memory(mpi::Transport& transport, const Backend& backend,
                          const MemoryEstimate& mine, std::optional<Bytes> available);

/// What every rank holds, by rank. Throws InputError where one holds more than its device's
/// `memory_bytes`: rank, bytes and limit (copies as above). `schedule_name` is for that message.
std::vector<MemoryEstimate> agree_on_limits(mpi::Transport& transport, const MemoryEstimate& mine,
                                            const Platform& devices,
                                            const std::string& schedule_name);

}  // namespace hios::job
