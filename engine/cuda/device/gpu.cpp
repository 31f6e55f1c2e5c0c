#include "engine/cuda/device/gpu.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/nvml.h"
#include "hios/base/need.h"

namespace hios::cuda {
namespace {

std::string identity_of(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex.data();
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::string bus_id_of(int index) {
  std::array<char, 32> bus_id{};
  HIOS_CUDA(cudaDeviceGetPCIBusId(bus_id.data(), int{bus_id.size()}, index),
            "asking for the GPU's bus");
  return bus_id.data();
}

/// Returns the number of GPUs that this process sees; 0 where the driver refuses: open_gpu() says
/// why.
int count_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  forget_last_error();
  return 0;
}

/// Formats a version: 13000 → "13.0".
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Throws InputError if the major versions differ ("CUDA 12" is a major version).
void require_major(const std::string& library, std::size_t found, std::size_t of_build) {
  if (found == of_build) return;
  throw InputError("backend cuda: the loader found " + library + " " + std::to_string(found) +
                   ", this build needs " + std::to_string(of_build) +
                   "; put the folder of the right one first in LD_LIBRARY_PATH");
}

}  // namespace

void require_libraries(const LibraryVersions& found) {
  // Before version 9, cuDNN counted the major version in thousands: 8907.
  require_major("cuDNN", found.cudnn < 10000 ? found.cudnn / 1000 : found.cudnn / 10000,
                CUDNN_MAJOR);
  require_major("a cuDNN for CUDA", found.cudnn_cuda / 1000, CUDART_VERSION / 1000);
  require_major("cuBLASLt", found.cublaslt / 10000, CUBLAS_VER_MAJOR);
  require_major("a cuBLASLt for CUDA", found.cublaslt_cuda / 1000, CUDART_VERSION / 1000);
}

InputError refusal_without_gpu(int status) {
  forget_last_error();  // reported here
  const auto error = static_cast<cudaError_t>(status);
  const need::Gpu need{"cpu"};
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    if (driver == 0) {
      return InputError("backend cuda: no NVIDIA driver is installed here (libcuda is missing)",
                        need);
    }
    return InputError("backend cuda: the NVIDIA driver here knows CUDA " + version_text(driver) +
                      ", this build needs " + version_text(CUDART_VERSION) + "; update the driver");
  }
  if (error == cudaErrorNoDevice) {
    return InputError(
        "backend cuda: this rank sees no NVIDIA GPU (look at CUDA_VISIBLE_DEVICES and nvidia-smi)",
        need);
  }
  return InputError(std::string("backend cuda: the GPU cannot be used: ") +
                        cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")",
                    need);
}

InputError refusal_of_index(int index, int count) {
  return InputError("backend cuda: there is no GPU " + std::to_string(index) + ": this rank sees " +
                        std::to_string(count) + ", numbered from 0; start fewer ranks a node",
                    need::DevicesPerNode{});
}

std::vector<std::string> visible_gpus() {
  std::vector<std::string> identities;
  for (int i = 0; i < count_gpus(); ++i) {
    cudaDeviceProp properties;
    HIOS_CUDA(cudaGetDeviceProperties(&properties, i), "asking what the GPU is");
    identities.push_back(identity_of(properties.uuid));
  }
  return identities;
}

std::vector<std::string> gpu_addresses() {
  std::vector<std::string> addresses;
  for (int i = 0; i < count_gpus(); ++i) addresses.push_back(bus_id_of(i));
  return addresses;
}

Gpu open_gpu(int index) {
  require_libraries({cudnnGetVersion(), cudnnGetCudartVersion(), cublasLtGetVersion(),
                     cublasLtGetCudartVersion()});
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    throw refusal_without_gpu(status);
  }
  if (count == 0) throw refusal_without_gpu(cudaErrorNoDevice);
  if (index < 0 || index >= count) throw refusal_of_index(index, count);
  cudaDeviceProp properties;
  HIOS_CUDA(cudaGetDeviceProperties(&properties, index), "asking what the GPU is");
  if (properties.major < 8) {
    throw InputError(std::string("backend cuda: ") + properties.name + " has compute capability " +
                         std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                         ", this build starts at 8.0",
                     need::GpuArchitectureInBuild{"cpu"});
  }
  if (const cudaError_t status = cudaSetDevice(index); status != cudaSuccess) {
    throw refusal_without_gpu(status);
  }
  return {index,
          properties.name,
          identity_of(properties.uuid),
          bus_id_of(index),
          properties.major,
          properties.minor,
          properties.multiProcessorCount,
          properties.totalGlobalMem,
          static_cast<Bytes>(properties.l2CacheSize),
          properties.canMapHostMemory != 0};
}

Json describe(const Gpu& gpu) {
  int driver = 0;
  HIOS_CUDA(cudaDriverGetVersion(&driver), "asking for the driver's version");
  const std::size_t cudnn = cudnnGetVersion();
  return {{"library", "cuDNN " + std::to_string(cudnn / 10000) + "." +
                          std::to_string(cudnn / 100 % 100) + "." + std::to_string(cudnn % 100)},
          {"layout", "NHWC"},
          {"gpu", gpu.name},
          {"bus", gpu.bus_id},
          {"compute_capability", std::to_string(gpu.major) + "." + std::to_string(gpu.minor)},
          {"multiprocessors", gpu.multiprocessors},
          {"memory_bytes", gpu.memory_bytes},
          {"cache_bytes", gpu.cache_bytes},
          {"cuda", version_text(CUDART_VERSION)},
          {"cuda_of_driver", version_text(driver)},
          {"nvml", nvml_readings(gpu.bus_id)}};
}

}  // namespace hios::cuda
