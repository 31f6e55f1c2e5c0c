#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hios/base/numbers/random.h"
#include "hios/schedule/schedule.h"

/// Mutations of a schedule, as in another program's editor. Deterministic in the Random.
namespace hios::test {

enum class Mutation {
  kSwapOperators,   ///< two operators are exchanged
  kSwapStages,      ///< two stages of any devices are exchanged
  kTurnGroup,       ///< a group's order is reversed
  kMoveToStage,     ///< an operator moves to another stage of its device
  kMoveToDevice,    ///< an operator moves to another device, into a stage or a new one
  kCutStage,        ///< the groups of a stage become two stages
  kCutGroup,        ///< a group becomes two
  kJoinStages,      ///< a stage gets the groups of the next
  kJoinGroups,      ///< two groups of a stage become one
  kDrop,            ///< an operator is removed
  kDuplicate,       ///< an operator occurs twice
  kDropStage,       ///< a stage is removed
  kDuplicateStage,  ///< a stage occurs twice
};

/// All kinds; and the kinds after which each operator still occurs as often as before.
std::span<const Mutation> all_mutations();
std::span<const Mutation> rearrangements();

std::string_view to_string(Mutation mutation);

/// Returns the schedule after one mutation, unchanged where none is possible. Empty stages and
/// groups are mostly removed.
Schedule mutated(Schedule schedule, Mutation mutation, Random& random);

/// Returns the schedule after `count` random mutations of these kinds; `what` gets their names.
Schedule mutated(Schedule schedule, std::span<const Mutation> kinds, std::size_t count,
                 Random& random, std::string* what = nullptr);

}  // namespace hios::test
