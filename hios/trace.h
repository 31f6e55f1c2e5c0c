#pragma once

#include <string>
#include <vector>

#include "hios/json_io.h"

namespace hios {

/// A Chrome trace ("Trace Event Format"), as Perfetto and chrome://tracing open it: processes with
/// lanes, slices on lanes, arrows between slices. Times are in ms from the start of the iteration.
class Trace {
 public:
  /// Lanes are created on first use; `process` is "planned" or "measured", `lane` "rank 0 stream
  /// 1".
  void slice(const std::string& process, const std::string& lane, const std::string& name,
             double start_ms, double end_ms, const Json& args = Json::object());
  /// An arrow from a moment on one lane to a moment on another of the same process.
  void arrow(const std::string& process, const std::string& from_lane, double from_ms,
             const std::string& to_lane, double to_ms, const std::string& name);
  Json json() const;

 private:
  std::pair<int, int> lane_ids(const std::string& process, const std::string& lane);

  std::vector<std::string> processes_;
  std::vector<std::pair<int, std::string>> lanes_;  // (process, name), by thread id
  std::vector<Json> events_;
  int next_arrow_ = 1;
};

}  // namespace hios
