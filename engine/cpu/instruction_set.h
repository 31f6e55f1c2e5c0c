#pragma once

#include <string_view>

#include "hios/platform/cpu_kinds.h"

/// The instruction set of this process, for oneDNN's kernels and our own. oneDNN fixes it once for
/// a process, so it belongs to the process, not to a backend: ranks with different instruction sets
/// are different processes.
namespace hios::cpu {

/// Returns the cap of this name. Throws InputError if there is none; it lists the known ones.
const InstructionCap& instruction_cap(std::string_view name);

/// Returns the strongest cap whose instructions this processor has, all of them; nullptr: not even
/// the weakest.
const InstructionCap* best_instructions();

/// Throws InputError if a processor whose best cap is `best` lacks instructions that the cap
/// allows. Computing with fewer would be another kind of device than the requested one.
void require_instructions(const InstructionCap& cap, const InstructionCap* best);

/// Fixes the cap of this process: no newer instructions than the cap of this name; empty: no cap.
/// Any thread may call it, before the first call of kernels() and of oneDNN. Throws InputError if
/// there is no such cap, this processor lacks it, or the process has another cap already. Repeating
/// the same cap changes nothing.
void settle_instructions(std::string_view cap);

}  // namespace hios::cpu
