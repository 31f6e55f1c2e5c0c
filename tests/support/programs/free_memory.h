#pragma once

#include <functional>
#include <optional>

#include "engine/backend/backend.h"

namespace hios::test {

inline constexpr int kMemoryRounds = 4;

/// Runs several rounds, and returns true if one of them left as much device memory free as before.
/// A leak shows in every round; other users of the device do not take memory in every one. Returns
/// false if the device does not report its free memory.
inline bool some_round_takes_nothing(Backend& backend, const std::function<void()>& round) {
  bool nothing_taken = false;
  for (int i = 0; i < kMemoryRounds; ++i) {
    const std::optional<Bytes> before = backend.free_memory();
    round();
    const std::optional<Bytes> after = backend.free_memory();
    nothing_taken = nothing_taken || (before && after && *after >= *before);
  }
  return nothing_taken;
}

}  // namespace hios::test
