// A plan's loads must end when the engine's do, so a fit gives the whole time of a lane exactly;
// the latency, which few sizes determine badly, only shares that time between loads. Tests:
// tests/hios/profile/loads/load_fit_test.cpp.
#include "hios/profile/loads/load_fit.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "hios/platform/platform.h"

namespace hios {
namespace {

/// The least time together, as a share of the time alone, by which a slowdown is known.
constexpr double kLeastOverlap = 0.1;

/// The least time of a point, whose relative error would be infinite at 0.
constexpr double kLeastLineMs = 1e-6;

double rate(double bytes, double ms) {
  if (!(ms > 0)) return kMaxGbPerS;
  return std::clamp(bytes / (ms * 1e6), kMinGbPerS, kMaxGbPerS);
}

/// Sums of a weighted regression.
struct LineSums {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;

  void add(double weight, double bytes, double ms) {
    w += weight;
    x += weight * bytes;
    y += weight * ms;
    xx += weight * bytes * bytes;
    xy += weight * bytes * ms;
  }
  /// Returns the ms of a byte; 0 where all sizes are equal.
  double slope() const {
    const double spread = w * xx - x * x;
    return spread > 1e-12 * w * xx ? (w * xy - x * y) / spread : 0;
  }
};

/// Returns the time that loads of these sizes have whatever their bytes: at most half of the mean.
double latency_of(std::span<const Bytes> sizes, std::span<const double> ms) {
  LineSums sums;
  for (std::size_t i = 0; i < sizes.size(); ++i) sums.add(1, static_cast<double>(sizes[i]), ms[i]);
  const double slope = sums.slope();
  if (slope <= 0) return 0;
  return std::clamp((sums.y - slope * sums.x) / sums.w, 0.0, sums.y / sums.w / 2);
}

/// Returns the mean time of each size.
std::vector<std::pair<Bytes, double>> points_of(const LaneAlone& lane) {
  std::map<Bytes, std::pair<double, double>> sums;  // of times, and their number
  for (std::size_t i = 0; i < lane.sizes.size(); ++i) {
    sums[lane.sizes[i]].first += lane.ms[i];
    ++sums[lane.sizes[i]].second;
  }
  std::vector<std::pair<Bytes, double>> points;
  for (const auto& [bytes, sum] : sums) points.emplace_back(bytes, sum.first / sum.second);
  return points;
}

double bytes_of(std::span<const Bytes> sizes) {
  return static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), Bytes{0}));
}

double slowdown_of(double together_ms, double work_ms, double alone_ms) {
  if (together_ms < kLeastOverlap * alone_ms) return 1;  // noise decides
  if (work_ms * kMostSlowdown <= together_ms) return kMostSlowdown;
  return std::max(1.0, together_ms / work_ms);
}

}  // namespace

RateLine relative_line(std::span<const std::pair<Bytes, double>> points) {
  LineSums sums;
  for (const auto& [bytes, measured_ms] : points) {
    const double ms = std::max(measured_ms, kLeastLineMs);
    sums.add(1 / (ms * ms), static_cast<double>(bytes), ms);
  }
  const double slope = std::max(0.0, sums.slope());
  const double latency_ms = (sums.y - slope * sums.x) / sums.w;
  // A line that would begin below 0 begins at 0.
  if (latency_ms < 0) return {0, rate(sums.xx, sums.xy)};
  return {latency_ms, rate(1, slope)};
}

MeasuredLoads fit_loads(const LaneAlone& lane) {
  const double all_bytes = bytes_of(lane.sizes);
  const double all_ms = std::accumulate(lane.ms.begin(), lane.ms.end(), 0.0);
  const auto loads = static_cast<double>(lane.sizes.size());
  const double later_bytes = all_bytes - static_cast<double>(lane.sizes.front());
  const double later_ms = all_ms - lane.ms.front();
  MeasuredLoads fit{.start_ms = lane.lead_ms, .points = points_of(lane)};
  if (lane.sizes.size() > 1) {
    fit.latency_ms = latency_of(std::span(lane.sizes).subspan(1), std::span(lane.ms).subspan(1));
  }
  fit.gb_per_s = rate(all_bytes, all_ms - loads * fit.latency_ms);
  if (2 * later_bytes > all_bytes) {
    const double later_rate = rate(later_bytes, later_ms - (loads - 1) * fit.latency_ms);
    const double first_ms =
        fit.latency_ms + static_cast<double>(lane.sizes.front()) / (later_rate * 1e6);
    if (lane.ms.front() > first_ms) {
      fit.start_ms += lane.ms.front() - first_ms;
      fit.gb_per_s = later_rate;
    }
  }
  fit.together_gb_per_s = fit.gb_per_s;
  return fit;
}

double together_gb_per_s(const MeasuredLoads& alone, const LaneAlone& lane, double whole_ms) {
  const double moving_ms =
      whole_ms - alone.start_ms - static_cast<double>(lane.sizes.size()) * alone.latency_ms;
  return std::min(alone.gb_per_s, rate(bytes_of(lane.sizes), moving_ms));
}

Slowdowns slowdowns_of(const Overlapped& times) {
  const double both_ms = std::min(times.operators_ms, times.loads_ms);
  // The work of that time, in ms of the work alone.
  const double operators_ms = times.operators_alone_ms - (times.operators_ms - both_ms);
  const double loads_ms = times.loads_alone_ms - (times.loads_ms - both_ms);
  return {slowdown_of(both_ms, operators_ms, times.operators_alone_ms),
          slowdown_of(both_ms, loads_ms, times.loads_alone_ms)};
}

}  // namespace hios
