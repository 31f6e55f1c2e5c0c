#include "engine/cpu/instruction_set.h"

#include <mutex>
#include <optional>
#include <string>

#include "engine/cpu/dnnl_handles.h"
#include "engine/cpu/kernels/kernels.h"
#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios::cpu {
namespace {

dnnl::cpu_isa isa_of(const InstructionCap& cap) {
  if (cap.name == "sse41") return dnnl::cpu_isa::sse41;
  if (cap.name == "avx") return dnnl::cpu_isa::avx;
  if (cap.name == "avx2") return dnnl::cpu_isa::avx2;
  return dnnl::cpu_isa::avx512_core;
}

/// Returns the best of our three kernel sets within the cap; none of them uses AVX without AVX2.
const Kernels& kernels_within(const InstructionCap& cap) {
#ifdef HIOS_X86_KERNELS
  if (cap.name == "avx512_core") return kAvx512Kernels;
  if (cap.name == "avx2") return kAvx2Kernels;
#else
  (void)cap;
#endif
  return kBaselineKernels;
}

bool processor_has(const InstructionCap& cap) {
#ifdef HIOS_X86_KERNELS
  if (cap.name == "sse41") return __builtin_cpu_supports("sse4.1");
  if (cap.name == "avx") return __builtin_cpu_supports("avx");
  return kernels_within(cap).runs_here();
#else
  (void)cap;
  return false;
#endif
}

std::string words(std::string_view cap) {
  return cap.empty() ? "all instructions that the processor has"
                     : "instructions up to " + std::string(cap);
}

}  // namespace

const InstructionCap& instruction_cap(std::string_view name) {
  std::string known;
  for (const InstructionCap& cap : kInstructionCaps) {
    if (cap.name == name) return cap;
    known += (known.empty() ? "" : ", ") + std::string(cap.name);
  }
  throw InputError("no instruction set '" + printable(std::string(name)) + "'; known are " + known);
}

const InstructionCap* best_instructions() {
  const InstructionCap* best = nullptr;
  for (const InstructionCap& cap : kInstructionCaps) {
    if (!processor_has(cap)) break;
    best = &cap;
  }
  return best;
}

void require_instructions(const InstructionCap& cap, const InstructionCap* best) {
  // Both are rows of one table, which is ordered by strength.
  if (best != nullptr && &cap <= best) return;
  throw InputError("this processor has " + std::string(best ? best->name : "none of them") +
                       ", not " + std::string(cap.name),
                   need::OtherBackend{});
}

void settle_instructions(std::string_view cap) {
  static std::mutex mutex;
  static std::optional<std::string> settled;
  const std::lock_guard lock(mutex);
  const bool first = !settled;
  if (settled && *settled == cap) return;
  const InstructionCap* const wanted = cap.empty() ? nullptr : &instruction_cap(cap);
  if (!first) {
    throw InputError("this process computes with " + words(*settled) + " already, and " +
                     words(cap) + " need a process of their own");
  }
  if (wanted != nullptr) {
    require_instructions(*wanted, best_instructions());
    dnnl::set_max_cpu_isa(isa_of(*wanted));
    if (dnnl::get_effective_cpu_isa() != isa_of(*wanted)) {
      throw InputError("this build of oneDNN cannot be limited to " + words(cap));
    }
    cap_kernels(kernels_within(*wanted));
  }
  settled = cap;
}

}  // namespace hios::cpu
