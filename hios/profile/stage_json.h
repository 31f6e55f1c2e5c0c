#pragma once

#include <string>
#include <vector>

#include "hios/base/json/json_io.h"

/// A stage in JSON, alike in all files: a list of groups, each a list of its operators, by their
/// signatures in profiles, by their names in schedules and reports. nlohmann writes such lists by
/// itself.
namespace hios {

/// The groups of a stage, each operator as `read` makes it of its view.
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
