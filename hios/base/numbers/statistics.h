#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/base/json/json_io.h"

namespace hios {

/// The summary of repeated measurements, in ms ("latency_ms" of a report: docs/formats.md).
struct Statistics {
  double min = 0;
  double best_quarter = 0;  ///< the median of the fastest quarter of the samples
  double median = 0;
  double p95 = 0;
  double p99 = 0;
  double mean = 0;
  std::size_t samples = 0;
  std::size_t disturbed = 0;  ///< of the samples
};

/// REQUIRES: samples not empty. `disturbed` marks those during which the machine did something else
/// (empty: none); best_quarter leaves them out as fastest_quarter() does. A median is the middle
/// sample or the mean of the two there; percentiles are by the nearest rank.
Statistics summarize(std::span<const double> samples_ms, const std::vector<bool>& disturbed = {});
double percentile(std::span<const double> samples_ms, double percent);

/// The indices of the fastest of `totals`, as many as a quarter of all (at least one), ascending.
/// None that is `disturbed` (empty: none is) while a quarter of all, and eight (or half of fewer),
/// are not; else all count.
std::vector<std::size_t> fastest_quarter(std::span<const double> totals,
                                         const std::vector<bool>& disturbed = {});

Json to_json(const Statistics& statistics);

}  // namespace hios
