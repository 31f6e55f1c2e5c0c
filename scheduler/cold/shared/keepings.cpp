#include "scheduler/cold/shared/keepings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "scheduler/structures/saturating_sum.h"

namespace hios::scheduler::cold {
namespace {

std::vector<std::size_t> models_by_share(const Server& server) {
  std::vector<std::size_t> order(server.models().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t m) { return server.models()[m].share; });
  return order;
}

DeviceId roomiest(const Keeping& keeping) {
  DeviceId most(0);
  for (std::size_t d = 1; d < keeping.server().platform().size(); ++d) {
    if (keeping.room(DeviceId(d)) > keeping.room(most)) most = DeviceId(d);
  }
  return most;
}

/// Returns the first device on which a plan's stages need the set.
std::optional<DeviceId> user_of(const Server& server, std::size_t model, std::size_t shared,
                                const ColdPlan& plan) {
  for (const PlacedStage& placed : plan.stages) {
    for (const Group& group : placed.stage.groups) {
      for (const OpId op : group) {
        const auto set = server.parameters(model).of(op);
        if (set && server.shared(model, *set) == shared) return placed.device;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Bytes keep_next(Keeping& keeping, const KeepingJudge& judge, std::size_t model, DeviceId device,
                Bytes bytes, std::size_t from) {
  const std::vector<std::size_t>& order = judge.order_of_use(model);
  Bytes kept = 0;
  for (std::size_t i = from; i < order.size() && (kept == 0 || kept < bytes); ++i) {
    if (keeping.anywhere(order[i])) continue;
    const Bytes size = keeping.server().sets()[order[i]].size_bytes;
    if (kept > 0 && size > bytes - kept) break;
    if (keeping.keep(device, order[i])) kept += size;
  }
  return kept;
}

Keeping whole_models(const KeepingJudge& judge) {
  const Server& server = judge.server();
  Keeping keeping(server);
  for (const std::size_t m : models_by_share(server)) {
    Keeping with = keeping;
    bool whole = true;
    DeviceId device = roomiest(with);
    for (const std::size_t set : judge.order_of_use(m)) {
      if (with.anywhere(set) || with.keep(device, set)) continue;
      device = roomiest(with);
      whole = whole && with.keep(device, set);
    }
    if (whole) keeping = std::move(with);
  }
  return keeping;
}

Keeping first_used(const KeepingJudge& judge) {
  const Server& server = judge.server();
  Keeping keeping(server);
  for (const std::size_t m : models_by_share(server)) {
    const auto part = static_cast<double>(server.all_limits()) * server.models()[m].share;
    double kept = 0;
    for (const std::size_t set : judge.order_of_use(m)) {
      const auto size = static_cast<double>(server.sets()[set].size_bytes);
      if (keeping.anywhere(set)) continue;
      if (kept + size > part) break;
      const auto user = user_of(server, m, set, judge.bases(m).front());
      if ((user && keeping.keep(*user, set)) || keeping.keep(roomiest(keeping), set)) kept += size;
    }
  }
  return keeping;
}

}  // namespace hios::scheduler::cold
