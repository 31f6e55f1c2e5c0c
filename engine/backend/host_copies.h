#pragma once

#include <cstddef>
#include <vector>

#include "engine/backend/backend.h"

/// Whole buffers between the host and a backend's memory, wherever that is. For set-up and checks,
/// not for the timed loop: they allocate and wait.
namespace hios {

/// Writes one value to every byte.
void fill(Backend& backend, std::byte* to, Bytes size_bytes, std::byte value);

/// In the element that the backend computes with: fp16 rounds what it is given to halves, and gives
/// them back as they are.
void write_floats(Backend& backend, std::byte* to, const std::vector<float>& values);
std::vector<float> read_floats(Backend& backend, const std::byte* from, std::size_t count);

}  // namespace hios
