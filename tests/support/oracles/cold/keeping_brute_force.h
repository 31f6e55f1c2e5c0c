#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/weights.h"
#include "scheduler/cold/shared/keeping.h"
#include "scheduler/cold/shared/server.h"
#include "support/oracles/cold/cold_brute_force.h"

namespace hios::test {

/// The least expected latency of a tiny server over all keepings within its limits and all cold
/// starts of cold_optimum_ms().
class KeepingBruteForce {
 public:
  /// `costs`: by model, those of a platform without limits of memory.
  KeepingBruteForce(const scheduler::cold::Server& server, std::vector<const CostModel*> costs)
      : server_(server), costs_(std::move(costs)), known_(costs_.size()) {}

  double least_ms() {
    scheduler::cold::Keeping keeping(server_);
    choose(keeping, 0);
    return least_ms_;
  }

 private:
  void choose(scheduler::cold::Keeping& keeping, std::size_t next) {
    const std::size_t sets = server_.sets().size();
    if (next == sets * server_.platform().size()) return judge(keeping);
    choose(keeping, next + 1);
    const DeviceId device(next / sets);
    if (!keeping.keep(device, next % sets)) return;
    choose(keeping, next + 1);
    keeping.release(device, next % sets);
  }

  void judge(const scheduler::cold::Keeping& keeping) {
    double ms = 0;
    for (std::size_t m = 0; m < costs_.size(); ++m) {
      const std::vector<Resident> resident = keeping.held(m).resident;
      std::vector<std::pair<std::size_t, std::size_t>> key;
      for (const Resident& each : resident) key.emplace_back(each.of.index(), each.on.index());
      const auto [found, is_new] = known_[m].try_emplace(key, 0);
      if (is_new) found->second = cold_optimum_ms(server_.graph(m), *costs_[m], resident);
      ms += server_.models()[m].share * found->second;
    }
    least_ms_ = std::min(least_ms_, ms);
  }

  const scheduler::cold::Server& server_;
  const std::vector<const CostModel*> costs_;
  std::vector<std::map<std::vector<std::pair<std::size_t, std::size_t>>, double>> known_;
  double least_ms_ = std::numeric_limits<double>::infinity();
};

/// REQUIRES: a platform without limits of memory.
inline double least_expected_ms(const scheduler::cold::Server& server) {
  std::vector<const CostModel*> costs;
  for (const auto& model : server.models()) costs.push_back(model.costs);
  return KeepingBruteForce(server, std::move(costs)).least_ms();
}

}  // namespace hios::test
