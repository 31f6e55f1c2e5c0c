// The GPUs of the emulated machine, and the runtime's errors.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/emulated_cuda/runtime/machine.h"

#include "support/emulated_cuda/runtime/device.h"
#include "support/emulated_cuda/runtime/settings.h"

namespace hios::cuda_emulation {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

/// Returns the GPUs that this process sees, by CUDA_VISIBLE_DEVICES.
std::vector<int> visible_gpus() {
  const char* const words = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<int> found;
  if (words == nullptr) {
    for (int i = 0; i < settings().devices; ++i) found.push_back(i);
    return found;
  }
  std::istringstream text(words);
  for (std::string word; std::getline(text, word, ',');) {
    char* end = nullptr;
    const long index = std::strtol(word.c_str(), &end, 10);
    if (end == word.c_str() || index < 0 || index >= settings().devices) break;
    found.push_back(static_cast<int>(index));
  }
  return found;
}

/// Returns the GPU of an index among the visible ones; −1: none.
int gpu_of(int index) {
  const std::vector<int> gpus = visible_gpus();
  return index >= 0 && static_cast<std::size_t>(index) < gpus.size()
             ? gpus[static_cast<std::size_t>(index)]
             : -1;
}

int chosen_index = 0;

struct Words {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr Words kWords[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "the driver is too old"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "the device is busy"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "the capture began on another stream"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on a captured event"},
};

const Words& words_of(cudaError_t error) {
  for (const Words& words : kWords) {
    if (words.error == error) return words;
  }
  return kWords[1];
}

}  // namespace

int current_gpu() { return gpu_of(chosen_index); }

bool sees_gpu(int gpu) {
  const std::vector<int> gpus = visible_gpus();
  return std::find(gpus.begin(), gpus.end(), gpu) != gpus.end();
}

cudaError_t answer(cudaError_t error) {
  const cudaError_t sticky = Device::get().sticky();
  if (sticky != cudaSuccess) error = sticky;
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace hios::cuda_emulation

using namespace hios::cuda_emulation;

cudaError_t cudaGetLastError() {
  const cudaError_t sticky = Device::get().sticky();
  const cudaError_t last = std::exchange(last_error, cudaSuccess);
  return sticky != cudaSuccess ? sticky : last;
}

const char* cudaGetErrorString(cudaError_t error) { return words_of(error).text; }
const char* cudaGetErrorName(cudaError_t error) { return words_of(error).name; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (settings().driver < CUDART_VERSION) return answer(cudaErrorInsufficientDriver);
  *count = static_cast<int>(visible_gpus().size());
  return answer(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

// Few multiprocessors and a small cache keep the trials of algorithms short.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const int gpu = gpu_of(device);
  if (gpu < 0) return answer(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Emulated GPU");
  std::snprintf(properties->uuid.bytes, sizeof(properties->uuid.bytes), "emulated");
  properties->uuid.bytes[sizeof(properties->uuid.bytes) - 1] = static_cast<char>(gpu);
  properties->totalGlobalMem = settings().memory_bytes;
  properties->major = settings().capability;
  properties->multiProcessorCount = 2;
  properties->l2CacheSize = 4096;
  properties->canMapHostMemory = settings().maps ? 1 : 0;
  return answer(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  if (gpu_of(device) < 0) return answer(cudaErrorInvalidDevice);
  if (settings().busy) return answer(cudaErrorDevicesUnavailable);
  chosen_index = device;
  return answer(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  const int gpu = gpu_of(device);
  if (gpu < 0) return answer(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(size), "ffff:%02x:00.0", static_cast<unsigned>(gpu));
  return answer(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = settings().driver;
  return answer(cudaSuccess);
}
