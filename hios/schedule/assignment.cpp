#include "hios/schedule/assignment.h"

namespace hios {

Assignment::Assignment(std::size_t operators, const Schedule& schedule)
    : by_operator_(operators), stage_number_(operators), first_stage_{0} {
  std::size_t found = 0;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      const std::vector<Group>& groups = schedule.devices[d][s].groups;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        for (std::size_t p = 0; p < groups[g].size(); ++p) {
          std::optional<AssignedTo>& assigned = by_operator_[groups[g][p].index()];
          complete_ = complete_ && !assigned;
          if (assigned) continue;
          assigned = AssignedTo{DeviceId(d), s, g, p};
          stage_number_[groups[g][p].index()] = static_cast<std::uint32_t>(first_stage_.back() + s);
          ++found;
        }
      }
    }
    first_stage_.push_back(first_stage_.back() + schedule.devices[d].size());
  }
  complete_ = complete_ && found == operators;
}

}  // namespace hios
