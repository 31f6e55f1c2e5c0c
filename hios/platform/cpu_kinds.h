#pragma once

#include <array>
#include <string_view>

/// The kinds of devices that compute on the cores of a CPU.
namespace hios {

inline constexpr std::string_view kCpuKind = "cpu";

/// Cores that use no newer instructions than these, though the processor may have them: a slower
/// kind of device on the same machine.
struct InstructionCap {
  std::string_view name;  ///< as oneDNN names it in its cpu_isa
  std::string_view kind;  ///< of devices that are capped so
};

/// The weakest first: each has all that the ones before it have. Those that fp32 arithmetic can
/// tell apart.
inline constexpr std::array kInstructionCaps = {
    InstructionCap{"sse41", "cpu-sse41"},
    InstructionCap{"avx", "cpu-avx"},
    InstructionCap{"avx2", "cpu-avx2"},
    InstructionCap{"avx512_core", "cpu-avx512_core"},
};

/// The cap of such a kind; nullptr: of a device that is not capped, or computes on no cores.
constexpr const InstructionCap* cap_of_kind(std::string_view kind) {
  for (const InstructionCap& cap : kInstructionCaps) {
    if (cap.kind == kind) return &cap;
  }
  return nullptr;
}

/// Whether devices of this kind have cores, and so threads.
constexpr bool computes_on_cores(std::string_view kind) {
  return kind == kCpuKind || cap_of_kind(kind) != nullptr;
}

}  // namespace hios
