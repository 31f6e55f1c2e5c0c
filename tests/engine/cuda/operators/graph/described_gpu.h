#pragma once

#include <optional>
#include <string_view>

#include "engine/cuda/operators/graph/descriptor.h"

namespace hios::test {

/// An H200 from NVIDIA's data sheets, in cuDNN's terms.
constexpr std::string_view kH200 = R"({
  "deviceName": "NVIDIA H200", "deviceVer": 900, "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0,
  "multiProcessorCount": 132, "warpSize": 32, "maxGridSize": [2147483647, 65535, 65535],
  "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
  "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 150000000000,
  "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "l2CacheSize": 62914560})";

/// Returns that GPU, for which cuDNN makes plans without one. Throws DeviceError if this cuDNN
/// wants GPUs described in other words.
inline cuda::graph::Descriptor describe_gpu() {
  cuda::graph::Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set_all<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, kH200);
  properties.finalize();
  return properties;
}

}  // namespace hios::test
