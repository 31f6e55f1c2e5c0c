#pragma once

#include <cstddef>
#include <vector>

#include "engine/backend/backend.h"

/// Copies of whole buffers between the host and a backend's memory. For setting up and checks, not
/// for the timed loop: they allocate and wait.
namespace hios {

/// Writes one value to every byte.
void fill(Backend& backend, std::byte* to, Bytes size_bytes, std::byte value);

/// Write and read values in the backend's element type: in fp16, writing rounds them to halves.
void write_floats(Backend& backend, std::byte* to, const std::vector<float>& values);
std::vector<float> read_floats(Backend& backend, const std::byte* from, std::size_t count);

}  // namespace hios
