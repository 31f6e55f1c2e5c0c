#pragma once

#include <array>
#include <string_view>

/// The kinds of devices that compute on the cores of a CPU.
namespace hios {

inline constexpr std::string_view kCpuKind = "cpu";

/// A cap on instructions: cores use no newer ones, though the processor may have them. They are a
/// slower kind of device on the same machine.
struct InstructionCap {
  std::string_view name;  ///< oneDNN's name (cpu_isa)
  std::string_view kind;  ///< kind of the devices with this cap
};

/// The caps that make a difference in fp32 arithmetic, weakest first: each includes all before it.
inline constexpr std::array kInstructionCaps = {
    InstructionCap{"sse41", "cpu-sse41"},
    InstructionCap{"avx", "cpu-avx"},
    InstructionCap{"avx2", "cpu-avx2"},
    InstructionCap{"avx512_core", "cpu-avx512_core"},
};

/// Returns the cap of a kind; nullptr: devices of that kind are not capped, or compute on no cores.
constexpr const InstructionCap* cap_of_kind(std::string_view kind) {
  for (const InstructionCap& cap : kInstructionCaps) {
    if (cap.kind == kind) return &cap;
  }
  return nullptr;
}

/// Returns true if devices of this kind have cores, and therefore threads.
constexpr bool computes_on_cores(std::string_view kind) {
  return kind == kCpuKind || cap_of_kind(kind) != nullptr;
}

}  // namespace hios
