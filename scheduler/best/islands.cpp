#include "scheduler/best/islands.h"

#include "hios/base/numbers/random.h"

namespace hios::scheduler::best {

Islands::Islands(const CostModel& costs, std::span<const Schedule> starts, std::size_t count,
                 std::uint64_t seed)
    : problem_(costs) {
  for (std::size_t i = 0; i < count; ++i) {
    Random seeds(seed + i, "best");
    const Schedule& start = starts[i * starts.size() / count];
    islands_.push_back(std::make_unique<Annealing>(problem_, start, seeds.next()));
  }
}

std::size_t Islands::leader() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < islands_.size(); ++i) {
    if (islands_[i]->best_ms() < islands_[best]->best_ms()) best = i;
  }
  return best;
}

void Islands::exchange() {
  const std::size_t best = leader();
  for (std::size_t i = 1; i < islands_.size(); i += 2) {
    if (i != best) islands_[i]->adopt(*islands_[best]);
  }
}

void Islands::take(const Schedule& schedule, double latency_ms) {
  if (latency_ms >= leading().best_ms()) return;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    if (!schedule.devices[d].empty() && !problem_.usable(DeviceId(d))) return;
  }
  islands_.back()->restart(schedule);
}

}  // namespace hios::scheduler::best
