#pragma once

#include <cstddef>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// Moves of an operator together with all that follow it on its device, or all that precede it
/// there, along edges: a cone. It goes to the device of a consumer, or of a producer. So the border
/// between two devices moves, and no edge leads back across it that did not before.
class Cones {
 public:
  /// Both outlive the object.
  Cones(Arrangement& arrangement, Random& random);

  /// Applies a random move of this operator's cone, or of a part of it where it is large. Returns
  /// false if the draw found none; noted changes must then be undone. Operators keep about their
  /// positions, and labels their devices.
  bool propose(OpId op);

 private:
  void gather(OpId op, bool following, std::size_t most);

  Arrangement& arrangement_;
  Random& random_;
  std::vector<OpId> cone_;
  std::vector<bool> gathered_;  // by operator
};

}  // namespace hios::scheduler::best
