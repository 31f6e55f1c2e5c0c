#pragma once

#include <memory>
#include <string>

#include "engine/cuda/device/streams.h"
#include "mpi/device_group.h"

/// NCCL, NVIDIA's library for messages between GPUs, as mpi::GroupingDevice needs it. It is opened
/// at the first call and need not exist.
namespace hios::cuda {

std::string nccl_version();
std::string name_nccl_group();
/// The streams outlive the result.
std::unique_ptr<mpi::DeviceGroup> join_nccl_group(const std::string& name, std::size_t member,
                                                  std::size_t members, const Streams& streams);

}  // namespace hios::cuda
