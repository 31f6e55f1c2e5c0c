#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {

const Kernels* const kAllKernels[] = {
#ifdef HIOS_X86_KERNELS
    &kAvx512Kernels,
    &kAvx2Kernels,
#endif
    &kBaselineKernels,
    nullptr,
};

const Kernels& kernels() {
  static const Kernels& best = []() -> const Kernels& {
    const Kernels* const* candidate = kAllKernels;
    while (!(*candidate)->runs_here()) ++candidate;
    return **candidate;
  }();
  return best;
}

}  // namespace hios::cpu
