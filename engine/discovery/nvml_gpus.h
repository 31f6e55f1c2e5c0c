#pragma once

#include <string>
#include <vector>

#include "hios/discovery/nvidia.h"

namespace hios::discovery {

/// Returns the GPUs, and their NVLinks, that NVIDIA's driver reports through its library NVML; none
/// where the library or a driver is missing. A value that the driver does not report is left out.
/// `library`: the name of the library.
std::vector<NvidiaGpu> nvml_gpus(const std::string& library = "libnvidia-ml.so.1");

}  // namespace hios::discovery
