#pragma once

#include <string>
#include <vector>

#include "engine/run/plan/plan.h"

namespace hios::test {

/// Follows a plan step by step, knowing only the contents of each byte of the arena, and returns
/// its errors. An operator may read a tensor that is not in memory, write to memory where a message
/// may arrive or is still being sent from, or collide with another group of its stage. Slots may be
/// outside the arena or misaligned, and messages may start twice or never. It ignores lifetimes.
/// Messages arrive at the worst moment: any time from the start of the iteration to their await.
std::vector<std::string> findings_in(const CoarseGraph& coarse, const RankPlan& plan,
                                     bool keep_all = false);

/// Returns errors that only all plans of a schedule together can have: a message without its
/// counterpart, a deadlock, an AwaitSend that a receiver could delay (by computing meanwhile), and
/// in memory that ranks share, a read before its write, or tensors at one place at the same time.
std::vector<std::string> findings_in(const CoarseGraph& coarse, const std::vector<RankPlan>& plans);

/// Follows a plan with the contents of the arena, element by element, and returns what operators
/// and messages read of tensors where something else lies, or nothing yet. It knows the tensors
/// that operators read, and not the graph's edges. REQUIRES: no inputs are divided.
std::vector<std::string> misreads_in(const CoarseGraph& coarse, const RankPlan& plan);

/// Returns the most bytes, in whole cache lines, that must be in memory at one moment (sends
/// aside): no arena can be smaller.
Bytes least_arena_bytes(const CoarseGraph& coarse, const RankPlan& plan);

}  // namespace hios::test
