#pragma once

#include <string>
#include <vector>

#include "hios/base/json/json_io.h"

namespace hios {

/// The two times that judge a cold start, from the same rounds as its own: no plan is faster than
/// either. Perfect overlap is the larger.
struct ColdWalls {
  std::vector<double> resident_ms;  ///< an inference with all parameters there
  std::vector<double> load_ms;      ///< the loads alone

  /// Returns the larger of the two medians. REQUIRES: a round.
  double perfect_overlap_ms() const;
};

Json to_json(const ColdWalls& walls);

/// Returns a line for people that compares a cold start's median with both.
std::string cold_walls_text(const ColdWalls& walls, double median_ms);

}  // namespace hios
