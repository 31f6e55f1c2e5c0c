#pragma once

#include <string>
#include <vector>

#include "support/oracles/plans_order.h"

namespace hios::test {

/// Returns the errors of all plans of a schedule in memory that ranks share: a read that is not
/// certainly after its write, and tensors whose uses share bytes without one having certainly ended
/// before the other is written. Certain is what messages prove (PlansOrder).
std::vector<std::string> sharing_findings(const CoarseGraph& coarse,
                                          const std::vector<RankPlan>& plans,
                                          const PlansOrder& order);

}  // namespace hios::test
