#include "engine/cpu/kernels/kernels.h"

#include <atomic>

namespace hios::cpu {

const Kernels* const kAllKernels[] = {
#ifdef HIOS_X86_KERNELS
    &kAvx512Kernels,
    &kAvx2Kernels,
#endif
    &kBaselineKernels,
    nullptr,
};

namespace {

/// Returns the first set from `most` on that this processor runs.
const Kernels* best_from(const Kernels* most) {
  const Kernels* const* candidate = kAllKernels;
  while (*candidate != most) ++candidate;
  while (!(*candidate)->runs_here()) ++candidate;
  return *candidate;
}

std::atomic<const Kernels*>& chosen() {
  static std::atomic<const Kernels*> kernels = best_from(kAllKernels[0]);
  return kernels;
}

}  // namespace

const Kernels& kernels() { return *chosen().load(std::memory_order_relaxed); }

void cap_kernels(const Kernels& most) { chosen().store(best_from(&most)); }

}  // namespace hios::cpu
