#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hios/base/numbers/random.h"
#include "hios/schedule/schedule.h"

/// What becomes of a schedule in a stranger's editor. Everything follows from the Random.
namespace hios::test {

enum class Mutation {
  kSwapOperators,   ///< two operators change places
  kSwapStages,      ///< two stages of any devices change places
  kTurnGroup,       ///< a group runs backwards
  kMoveToStage,     ///< an operator goes to another place on its device
  kMoveToDevice,    ///< an operator goes to another device, into a stage or a new one
  kCutStage,        ///< the groups of a stage become two stages
  kCutGroup,        ///< a group becomes two
  kJoinStages,      ///< a stage gets the groups of the next
  kJoinGroups,      ///< two groups of a stage become one
  kDrop,            ///< an operator is left out
  kDuplicate,       ///< an operator stands in two places
  kDropStage,       ///< a stage is left out
  kDuplicateStage,  ///< a stage stands in two places
};

/// All of them; and those after which each operator still runs as often as before.
std::span<const Mutation> all_mutations();
std::span<const Mutation> rearrangements();

std::string_view to_string(Mutation mutation);

/// The schedule after one mutation, unchanged where it has nothing to mutate. Stages and groups
/// that are left empty are mostly taken away.
Schedule mutated(Schedule schedule, Mutation mutation, Random& random);

/// After `count` of these kinds, by chance; `what` gets their names, one after the other.
Schedule mutated(Schedule schedule, std::span<const Mutation> kinds, std::size_t count,
                 Random& random, std::string* what = nullptr);

}  // namespace hios::test
