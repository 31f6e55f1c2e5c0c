#pragma once

#include <vector>

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {

/// A value that no kernel computes in a test, for memory that it must leave alone.
inline constexpr float kUntouched = 12345.0f;

/// Returns the kernels of every instruction set of this processor.
inline std::vector<const Kernels*> kernels_that_run_here() {
  std::vector<const Kernels*> result;
  for (const Kernels* const* k = kAllKernels; *k != nullptr; ++k) {
    if ((*k)->runs_here()) result.push_back(*k);
  }
  return result;
}

}  // namespace hios::cpu
