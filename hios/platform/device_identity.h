#pragma once

#include <string>
#include <string_view>

#include "hios/base/json_io.h"

/// Which GPU a device is and by which libraries it computes: what times and bits depend on beside
/// the kind of device. Text, because that is all that files say and ranks compare.
namespace hios {

/// "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0", from what a backend says of itself (Backend::describe);
/// empty where it computes on no GPU.
std::string gpu_text(const Json& description);

/// Whether a GPU is one that a file names. A name may stop before any comma: "NVIDIA H200" is met
/// by one with any versions of the libraries. An empty name is met by every GPU, and by none.
bool gpu_meets(std::string_view named, std::string_view gpu);

}  // namespace hios
