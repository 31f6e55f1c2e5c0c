#pragma once

#include <string>

#include "hios/evaluate/validate.h"

namespace hios::test {

/// Returns the text of validate()'s first finding; empty if the schedule is valid.
inline std::string first_finding(const Graph& graph, const Platform& platform,
                                 const Schedule& schedule) {
  const auto findings = validate(graph, platform, schedule);
  return findings.empty() ? "" : findings.front().text;
}

}  // namespace hios::test
