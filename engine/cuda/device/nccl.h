#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "engine/cuda/device/streams.h"
#include "mpi/device_group.h"

/// NCCL, NVIDIA's library for messages between GPUs, as mpi::GroupingDevice needs it. It is opened
/// at the first call and need not exist.
namespace hios::cuda {

/// The longest wait for other members inside NCCL, from version 2.14 on, which can be left. It is
/// shorter than the watchdog's, so that ranks take another route.
inline constexpr std::chrono::milliseconds kNcclPatience{30'000};

std::string nccl_version();
std::string name_nccl_group();
/// The streams outlive the result. Throws DeviceError if another member does not come within
/// `patience`; before NCCL 2.14, waits for it forever.
std::unique_ptr<mpi::DeviceGroup> join_nccl_group(
    const std::string& name, std::size_t member, std::size_t members, const Streams& streams,
    std::chrono::milliseconds patience = kNcclPatience);

}  // namespace hios::cuda
