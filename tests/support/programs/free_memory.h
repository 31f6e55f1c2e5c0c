#pragma once

#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "engine/backend/backend.h"

namespace hios::test {

/// The bytes of this process that lie in no file, be they in memory or swapped out. Pages of files,
/// such as programs, come and go as the system likes.
inline Bytes anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  Bytes sum = 0;
  for (std::string name; status >> name;) {
    Bytes kilobytes = 0;
    if ((name == "RssAnon:" || name == "VmSwap:") && status >> kilobytes) sum += 1024 * kilobytes;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return sum;
}

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
