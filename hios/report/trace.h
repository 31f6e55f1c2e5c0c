#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hios/base/json/owned_json.h"

namespace hios {

/// A Chrome trace ("Trace Event Format") for Perfetto and chrome://tracing: processes with lanes,
/// slices on lanes, arrows between slices. Times are in ms from the start of the iteration.
/// Processes and lanes are shown in the order of their first use.
class Trace {
 public:
  /// Adds a slice. Lanes are created on first use; `process` is "planned" or "measured", `lane`
  /// "rank 0 stream 1". Slices of one lane may nest, but not overlap otherwise.
  void slice(const std::string& process, const std::string& lane, const std::string& name,
             double start_ms, double end_ms, OwnedJson args = {});
  /// Adds an arrow from a time on one lane to a time on another of the same process. It leaves the
  /// slice that runs at `from_ms` or ended last before it, and enters the slice that runs at
  /// `to_ms` or starts first after it; the slices may be added later.
  void arrow(const std::string& process, const std::string& from_lane, double from_ms,
             const std::string& to_lane, double to_ms, const std::string& name);
  Json json() const;

 private:
  struct Slice {
    std::string name;
    double start_ms = 0, end_ms = 0;
    OwnedJson args = {};
  };
  struct Lane {
    std::size_t process = 0;
    std::string name;
    std::vector<Slice> slices;
  };
  struct Arrow {
    std::string name;
    std::size_t from_lane = 0;
    double from_ms = 0;
    std::size_t to_lane = 0;
    double to_ms = 0;
  };

  std::size_t process_index(const std::string& process);
  std::size_t lane_index(const std::string& process, const std::string& lane);
  static double departure_ms(const Lane& lane, double moment_ms);
  static double arrival_ms(const Lane& lane, double moment_ms);
  Json event(const char* phase, std::size_t lane, const std::string& name, double moment_ms) const;
  void append_names(Json& events) const;
  void append_slices(Json& events) const;
  void append_arrows(Json& events) const;

  std::vector<std::string> processes_;
  std::vector<Lane> lanes_;
  std::vector<Arrow> arrows_;
};

}  // namespace hios
