#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/base/json/json.h"

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
  std::size_t disturbed = 0;  ///< samples that were disturbed
};

/// Summarises samples. `disturbed` marks those during which the machine did something else (empty:
/// none); best_quarter leaves them out as fastest_quarter() does. A median is the middle sample or
/// the mean of the two in the middle; percentiles are by the nearest rank. REQUIRES: samples not
/// empty.
Statistics summarize(std::span<const double> samples_ms, const std::vector<bool>& disturbed = {});
/// Returns the smallest sample that at least `percent` of all do not exceed. REQUIRES: not empty.
double percentile(std::span<const double> samples_ms, double percent);

/// Returns the indices of the fastest quarter of `totals` (at least one), ascending. Disturbed ones
/// are left out (empty: none is disturbed) while those that remain are at least a quarter of all
/// and at least eight (half of fewer than 16); otherwise all count.
std::vector<std::size_t> fastest_quarter(std::span<const double> totals,
                                         const std::vector<bool>& disturbed = {});

Json to_json(const Statistics& statistics);

}  // namespace hios
