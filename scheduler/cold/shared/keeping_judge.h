#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/cold/search/cold_plan.h"
#include "scheduler/cold/shared/keeping.h"

namespace hios::scheduler::cold {

/// Judges keepings by simulated time: of each model the shortest of kept_plans(). Refers to the
/// server, which outlives it. Not for several threads at a time.
class KeepingJudge {
 public:
  /// `bases`: by model, at least one plan each.
  KeepingJudge(const Server& server, std::vector<std::vector<ColdPlan>> bases);

  /// Returns the latency of a model's cold start; infinity where no plan has room.
  double latency_ms(std::size_t model, const Keeping& keeping);
  /// Returns the sum of latencies, each times the share of its model.
  double expected_ms(const Keeping& keeping);

  const Server& server() const { return *server_; }
  const std::vector<ColdPlan>& bases(std::size_t model) const { return bases_[model]; }
  /// Returns the model's sets, by index in Server::sets(), in the order of use of its first base.
  const std::vector<std::size_t>& order_of_use(std::size_t model) const { return order_[model]; }

 private:
  struct Judged {
    Held held;
    double ms = 0;
  };

  const Server* server_;
  std::vector<std::vector<ColdPlan>> bases_;     // by model
  std::vector<std::vector<std::size_t>> order_;  // by model
  std::vector<std::vector<Judged>> recent_;      // by model, the oldest first
};

}  // namespace hios::scheduler::cold
