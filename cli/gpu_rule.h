#pragma once

#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/platform/platform.h"
#include "mpi/transport.h"

/// Which GPU and which CUDA libraries a rank computes with, and whether a schedule allows it.
namespace hios::cli {

/// By rank; empty for ranks that compute on no GPU. Collective.
std::vector<DeviceIdentity> gather_identities(mpi::Transport& transport, const Backend& backend);

/// Why ranks with these GPUs must not run this schedule, in one line with the remedy; empty: they
/// may. A device that names a GPU must have it. Where two ranks have different ones, both must be
/// named: else the schedule was made for GPUs that are all alike.
std::string refusal_of_gpus(const std::vector<DeviceIdentity>& gpus, const Platform& devices,
                            const std::string& schedule_file);

/// Whether all ranks that compute on a GPU have the same.
bool same_gpus(const std::vector<DeviceIdentity>& gpus);

}  // namespace hios::cli
