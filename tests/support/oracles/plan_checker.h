#pragma once

#include <string>
#include <vector>

#include "engine/run/plan.h"

namespace hios::test {

/// Follows a plan step by step, knowing only what each byte of the arena holds, and complains in
/// words: an operator that reads what is not there, writes where a message may land or one is still
/// being sent from, or collides with another group of its stage; places beyond the arena or askew;
/// messages that start twice or never. It knows nothing of lifetimes. Messages land at the worst
/// moment: any time from the start of the iteration to their await.
std::vector<std::string> messages_about(const CoarseGraph& coarse, const RankPlan& plan,
                                        bool keep_all = false);

/// What only all plans of a schedule together can get wrong: a message without its counterpart, a
/// circle of waits, and an AwaitSend that a receiver could keep waiting (by computing meanwhile).
std::vector<std::string> messages_about(const CoarseGraph& coarse,
                                        const std::vector<RankPlan>& plans);

/// The most bytes, in whole cache lines, that must be there at one moment (sends apart): no arena
/// can be smaller.
Bytes least_arena_bytes(const CoarseGraph& coarse, const RankPlan& plan);

}  // namespace hios::test
