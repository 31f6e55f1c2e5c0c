#pragma once

#include <optional>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/best/moves/repacking.h"
#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

/// Random changes of several operators' devices at once, where memory is full: operators go to
/// another device, and some of that device make room for them.
class Trades {
 public:
  /// Both outlive the trades.
  Trades(Arrangement& arrangement, Random& random);

  /// Applies a trade that takes `op` to another device. Returns false if the draw found none; the
  /// arrangement may then have noted changes, which must be undone.
  bool propose(OpId op);

 private:
  bool trade(OpId op);
  bool redistribute(OpId op);
  void draw_some(OpId op);
  Repacking::Item item(OpId op) const;
  void gather(OpId op);
  void gather_run(OpId op, std::size_t most);
  void gather_neighbours(OpId op, std::size_t most);
  bool send(OpId op, DeviceId device);
  bool send_one(OpId op, DeviceId device);
  bool make_room(DeviceId full, DeviceId other, std::size_t most);
  std::optional<OpId> pick_leaving(DeviceId device);
  bool below(double share) { return random_.uniform() < share; }

  Arrangement& arrangement_;
  Random& random_;
  double repack_share_;
  std::vector<OpId> going_;     ///< scratch: operators that change their device first
  std::vector<bool> has_gone_;  ///< by operator; all false between calls
  std::vector<OpId> gone_;
};

}  // namespace hios::scheduler::best
