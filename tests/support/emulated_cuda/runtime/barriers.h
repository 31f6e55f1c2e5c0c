#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>

namespace hios::cuda_emulation {

/// A barrier of kernels, by its place in a source.
struct Barrier {
  std::string file;
  unsigned line = 0;
  auto operator<=>(const Barrier&) const = default;
};

/// The barrier that a test takes away, and those that it learns of. Set while nothing is queued.
struct BarrierWatch {
  bool on = false;
  std::optional<Barrier> missing;  ///< threads pass it as if the kernel lacked it
  std::set<Barrier> reached;       ///< by any thread, since the test emptied it
};

BarrierWatch& barrier_watch();

}  // namespace hios::cuda_emulation
