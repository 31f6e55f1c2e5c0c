#include "scheduler/cold/shared/keeping.h"

#include "scheduler/structures/saturating_sum.h"

namespace hios::scheduler::cold {

Keeping::Keeping(const Server& server)
    : server_(&server),
      kept_(server.platform().size() * server.sets().size(), false),
      bytes_(server.platform().size(), 0) {}

bool Keeping::anywhere(std::size_t set) const {
  for (std::size_t d = 0; d < bytes_.size(); ++d) {
    if (has(DeviceId(d), set)) return true;
  }
  return false;
}

Bytes Keeping::all_bytes() const {
  Bytes sum = 0;
  for (const Bytes each : bytes_) sum = saturating_sum(sum, each);
  return sum;
}

bool Keeping::keep(DeviceId device, std::size_t set) {
  const Bytes size = server_->sets()[set].size_bytes;
  if (has(device, set) || size > room(device)) return false;
  kept_[device.index() * sets() + set] = true;
  bytes_[device.index()] += size;
  return true;
}

void Keeping::release(DeviceId device, std::size_t set) {
  kept_[device.index() * sets() + set] = false;
  bytes_[device.index()] -= server_->sets()[set].size_bytes;
}

Held Keeping::held(std::size_t model) const {
  Held held{{}, bytes_};
  const ParameterSets& own = server_->parameters(model);
  for (std::size_t d = 0; d < bytes_.size(); ++d) {
    for (std::size_t s = 0; s < own.sets().size(); ++s) {
      if (!has(DeviceId(d), server_->shared(model, s))) continue;
      held.resident.push_back({own.sets()[s].operators.front(), DeviceId(d)});
      held.other_bytes[d] -= own.sets()[s].size_bytes;
    }
  }
  return held;
}

}  // namespace hios::scheduler::cold
