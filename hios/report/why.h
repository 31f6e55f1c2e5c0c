#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/base/json/json.h"
#include "hios/evaluate/limits/gains.h"
#include "hios/evaluate/limits/limits.h"
#include "hios/evaluate/limits/more_threads.h"
#include "hios/evaluate/limits/waits.h"
#include "hios/graph/graph.h"

/// The reasons for a latency, as numbers and in words ("why": docs/numbers.md).
namespace hios {

/// A latency that exceeds its bound by this share at most is the shortest one: the digits that are
/// shown are the same.
inline constexpr double kNearBound = 0.005;

/// The reasons for the latency of one schedule, planned or measured.
struct Why {
  std::string algorithm;  ///< the schedule's
  bool measured = false;
  std::vector<std::string> devices;  ///< their names: "cpu0", "rank 0"
  std::vector<double> operator_ms;   ///< by operator; empty: not known, and neither are the limits
  std::optional<Limits> limits;
  double latency_ms = 0;           ///< the one that `times` add up to
  std::vector<DeviceTimes> times;  ///< by device; measured: means (RecordedWaits)
  double bound_ms = 0;             ///< no schedule of the same devices is shorter; 0: not known
  std::string bound;               ///< the bound's name
  bool proven = false;             ///< the plan's own latency is that bound's, or nearly so
  std::optional<Gains> gains;
  std::optional<OneRankOfThreads> threads;
};

/// Returns the reasons in words (why_text.cpp): at most 5 sentences, which end with no full stop.
std::vector<std::string> sentences(const Why& why, const Graph& graph);

/// Returns the sentences, each folded into lines of at most so many columns.
std::string why_text(const Why& why, const Graph& graph, std::size_t columns = 80);

/// Returns numbers and sentences (docs/formats.md).
Json to_json(const Why& why, const Graph& graph);

}  // namespace hios
