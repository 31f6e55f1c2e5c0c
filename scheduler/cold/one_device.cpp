#include "scheduler/cold/one_device.h"

#include <optional>
#include <string>

#include "hios/base/error.h"
#include "scheduler/list/requirements.h"

namespace hios::scheduler {

void for_each_single_device(std::string_view algorithm, const CostModel& costs,
                            const std::function<void(DeviceId)>& plan) {
  const Platform& platform = costs.platform();
  if (!platform.topology()) {
    throw InputError(std::string(algorithm) +
                     " loads parameters, and the platform has no routes for them");
  }
  single_device(costs.graph(), costs, algorithm);  // throws where no device can run and hold all
  std::optional<InputError> refusal;
  bool planned = false;
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const DeviceId only[] = {DeviceId(d)};
    try {
      single_device(costs.graph(), costs.only(only), algorithm);
      plan(DeviceId(d));
      planned = true;
    } catch (const InputError& error) {
      if (!refusal) refusal = error;
    }
  }
  if (!planned) throw *refusal;
}

}  // namespace hios::scheduler
