#include "engine/cpu/kernels.h"

namespace hios::cpu {

const Kernels& kernels() {
#ifdef HIOS_X86_KERNELS
  static const Kernels& best = kAvx512Kernels.runs_here() ? kAvx512Kernels
                               : kAvx2Kernels.runs_here() ? kAvx2Kernels
                                                          : kBaselineKernels;
  return best;
#else
  return kBaselineKernels;
#endif
}

}  // namespace hios::cpu
