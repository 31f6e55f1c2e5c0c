#include <algorithm>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/bounds/lagrangian.h"

// Where memory is limited, a device cannot take more operators than it holds, so that others,
// slower perhaps, must take the rest: the work bound with prices of memory too (prices.cpp). What
// memory says of few operators is elsewhere: one device's room for an operator in places.cpp,
// for operators that cannot afford a transfer in together.cpp.

namespace hios::scheduler {

double memory_ms(const BoundContext& context, const std::vector<OpId>& operators) {
  const auto devices = context.costs.platform().devices();
  const bool limited = std::any_of(devices.begin(), devices.end(),
                                   [](const Device& device) { return device.memory_bytes > 0; });
  return limited ? priced_ms(context, operators, Memory::kLimited) : 0;
}

}  // namespace hios::scheduler
