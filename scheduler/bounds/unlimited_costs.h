#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/platform/platform.h"

namespace hios::scheduler {

/// Costs on the same platform, but without memory limits: those of which cold starts have bounds.
/// Bounds for resident parameters count the bytes of each operator's. In a cold start parameters
/// may be read in place, shared or evicted, so that less memory suffices. Refers to what the given
/// costs refer to.
class UnlimitedCosts {
 public:
  explicit UnlimitedCosts(const CostModel& costs);
  UnlimitedCosts(const UnlimitedCosts&) = delete;
  UnlimitedCosts& operator=(const UnlimitedCosts&) = delete;

  const CostModel& costs() const { return costs_; }

 private:
  const Platform platform_;
  const CostModel costs_;  // refers to platform_
};

}  // namespace hios::scheduler
