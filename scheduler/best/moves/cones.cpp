#include "scheduler/best/moves/cones.h"

#include <algorithm>
#include <span>

// The sequence of an arrangement is a topological order whatever the devices are, so operators may
// change devices in any number, each to a stage of its own at about its position. A cone is
// gathered breadth first; its size is limited by a power of two, drawn for each move, so that small
// and large ones are tried equally often.
//
// Tests: tests/scheduler/best/state/timing_test.cpp (undone bit for bit, valid),
// tests/scheduler/algorithms/list/strips_test.cpp (a stencil).

namespace hios::scheduler::best {
namespace {

constexpr std::uint64_t kSizes = 7;  ///< limits of 1, 2, …, 64 operators

}  // namespace

Cones::Cones(Arrangement& arrangement, Random& random)
    : arrangement_(arrangement),
      random_(random),
      gathered_(arrangement.problem().operators(), false) {}

void Cones::gather(OpId op, bool following, std::size_t most) {
  const SearchProblem& problem = arrangement_.problem();
  const DeviceId device = arrangement_.device_of(op);
  cone_.assign(1, op);
  gathered_[op.index()] = true;
  for (std::size_t i = 0; i < cone_.size() && cone_.size() < most; ++i) {
    const auto links = following ? problem.outputs(cone_[i]) : problem.inputs(cone_[i]);
    for (const SearchProblem::Link& link : links) {
      if (cone_.size() >= most) break;
      if (gathered_[link.op.index()] || arrangement_.device_of(link.op) != device) continue;
      if (!arrangement_.neighbourhood().holds(arrangement_.position(arrangement_.slot_of(link.op))))
        continue;
      gathered_[link.op.index()] = true;
      cone_.push_back(link.op);
    }
  }
  for (const OpId each : cone_) gathered_[each.index()] = false;
}

bool Cones::propose(OpId op) {
  const SearchProblem& problem = arrangement_.problem();
  const bool following = random_.below(2) == 0;
  const std::size_t most = std::size_t{1} << random_.below(kSizes);
  const auto links = following ? problem.outputs(op) : problem.inputs(op);
  if (links.empty()) return false;
  const DeviceId to = arrangement_.device_of(links[random_.below(links.size())].op);
  if (to == arrangement_.device_of(op)) return false;
  gather(op, following, most);
  for (const OpId each : cone_) {
    if (!problem.companions(each).empty() || !problem.costs().can_run(each, to)) return false;
    const PositionRange range = arrangement_.range(each);
    if (range.first >= range.last) return false;  // its stage holds a producer and a consumer of it
    const std::int64_t here = arrangement_.position(arrangement_.slot_of(each));
    arrangement_.isolate(each, to, std::clamp(here - 1, range.first, range.last - 1));
  }
  return true;
}

}  // namespace hios::scheduler::best
