#include "hios/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hios {
namespace {

/// A quarter, rounded up: at least one of any number of samples.
std::size_t quarter(std::size_t count) { return (count + 3) / 4; }

/// The smallest sample that at least `percent` of all do not exceed.
double nearest_rank(std::span<const double> sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  const auto position = static_cast<std::size_t>(std::max(rank, 1.0));
  return sorted[std::min(position, sorted.size()) - 1];
}

/// The middle sample, or the mean of the two in the middle.
double middle(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

Statistics summarize(std::span<const double> samples_ms) {
  const std::vector<double> sorted = sorted_copy(samples_ms);
  const std::span<const double> all(sorted);
  Statistics statistics;
  statistics.min = sorted.front();
  statistics.best_quarter = middle(all.first(quarter(all.size())));
  statistics.median = middle(all);
  statistics.p95 = nearest_rank(all, 95);
  statistics.p99 = nearest_rank(all, 99);
  statistics.mean =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  statistics.samples = sorted.size();
  return statistics;
}

double percentile(std::span<const double> samples_ms, double percent) {
  return nearest_rank(sorted_copy(samples_ms), percent);
}

std::vector<std::size_t> fastest_quarter(std::span<const double> totals) {
  std::vector<std::size_t> indices(totals.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return totals[a] < totals[b]; });
  indices.resize(quarter(indices.size()));
  std::sort(indices.begin(), indices.end());
  return indices;
}

Json to_json(const Statistics& statistics) {
  return {{"min", statistics.min},        {"best_quarter", statistics.best_quarter},
          {"median", statistics.median},  {"p95", statistics.p95},
          {"p99", statistics.p99},        {"mean", statistics.mean},
          {"samples", statistics.samples}};
}

}  // namespace hios
