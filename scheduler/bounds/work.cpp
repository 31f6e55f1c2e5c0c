#include "scheduler/bounds/bound_table.h"
#include "scheduler/bounds/lagrangian.h"

// M devices are busy for M·latency at most, and every operator takes its work share of that: on
// devices that are alike, latency >= Σ h / M. On others, what it takes depends on where it runs;
// the proof with prices of devices is in prices.cpp.

namespace hios::scheduler {

double work_ms(const BoundContext& context, const std::vector<OpId>& operators) {
  return priced_ms(context, operators, Memory::kIgnored);
}

}  // namespace hios::scheduler
