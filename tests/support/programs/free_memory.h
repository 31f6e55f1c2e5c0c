#pragma once

#include <functional>
#include <optional>

#include "engine/backend/backend.h"

namespace hios::test {

inline constexpr int kMemoryRounds = 4;

/// Whether one round of several, which are all run, left as much device memory free as before it.
/// What leaks, leaks in each of them; what other users of the device take meanwhile, they do not
/// take in each. False where the device does not say what is free.
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
