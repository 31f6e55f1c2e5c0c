#pragma once

#include <string>
#include <vector>

#include "hios/base/json/json_view.h"

/// Stages in JSON, the same in all files: a list of groups, each a list of operators, by signature
/// in profiles and by name in schedules and reports. The JSON library writes such lists itself.
namespace hios {

/// Reads the groups of a stage; `read` makes an operator of its view.
template <class Read>
auto read_groups(const JsonView& stage, const Read& read) {
  std::vector<std::vector<decltype(read(stage))>> groups;
  for (const JsonView& group : stage.array()) {
    auto& operators = groups.emplace_back();
    for (const JsonView& one : group.array()) operators.push_back(read(one));
  }
  return groups;
}

}  // namespace hios
