#pragma once

#include <cstddef>
#include <span>

#include "hios/base/json_io.h"

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
};

/// REQUIRES: samples not empty. A median is the middle sample or the mean of the two there;
/// percentiles are by the nearest rank.
Statistics summarize(std::span<const double> samples_ms);
double percentile(std::span<const double> samples_ms, double percent);

/// The indices of those of `totals` that are in the fastest quarter (at least one), ascending.
std::vector<std::size_t> fastest_quarter(std::span<const double> totals);

Json to_json(const Statistics& statistics);

}  // namespace hios
