#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

namespace hios {

/// The file that a cold start reads parameters from.
struct DiskReads {
  std::string file;
  bool direct = true;      ///< past the page cache, on all ranks that read
  Bytes cached_bytes = 0;  ///< the most that the page cache held of it when an inference began
};

/// The two times that judge a cold start, from the same rounds as its own: no plan is faster than
/// either. Perfect overlap is the larger.
struct ColdWalls {
  std::vector<double> resident_ms;     ///< an inference with all parameters there
  std::vector<double> load_ms;         ///< the loads alone
  std::optional<DiskReads> disk = {};  ///< empty: all loads are from memory

  /// Returns the larger of the two medians. REQUIRES: a round.
  double perfect_overlap_ms() const;
};

Json to_json(const ColdWalls& walls);

/// Returns lines for people that compare a cold start's median with both, and say what was read
/// from a disk and whether it was.
std::string cold_walls_text(const ColdWalls& walls, double median_ms);

}  // namespace hios
