#pragma once

#include <string_view>

#include "hios/platform/cpu_kinds.h"

/// Which instructions this process computes with: oneDNN's kernels and our own. oneDNN settles them
/// once for a process, so they belong to the process, not to a backend: ranks of unlike instruction
/// sets are processes of their own.
namespace hios::cpu {

/// The cap of this name. Throws InputError: there is none, and these there are.
const InstructionCap& instruction_cap(std::string_view name);

/// The strongest cap whose instructions this processor has, all of them; nullptr: not even the
/// weakest.
const InstructionCap* best_instructions();

/// Throws InputError where a processor whose best are these lacks what the cap allows: computing
/// with less would be another kind of device than the one that was asked for.
void require_instructions(const InstructionCap& cap, const InstructionCap* best);

/// Settles that this process computes with no newer instructions than the cap of this name; empty:
/// with all that the processor has. Any thread may call it, before the first call of kernels() and
/// of oneDNN. Throws InputError: no such cap, not on this processor, or the process has settled
/// otherwise already. The same again changes nothing.
void settle_instructions(std::string_view cap);

}  // namespace hios::cpu
