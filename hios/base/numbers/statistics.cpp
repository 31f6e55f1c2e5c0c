#include "hios/base/numbers/statistics.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace hios {
namespace {

/// Returns a quarter, rounded up: at least one of any number of samples.
std::size_t quarter(std::size_t count) { return (count + 3) / 4; }

double nearest_rank(std::span<const double> sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  const auto position = static_cast<std::size_t>(std::max(rank, 1.0));
  return sorted[std::min(position, sorted.size()) - 1];
}

double middle(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// Returns the samples that count: those that were not disturbed, where these are enough.
std::vector<std::size_t> usable(std::size_t count, const std::vector<bool>& disturbed) {
  constexpr std::size_t kFewest = 8;
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (disturbed.empty()) return all;
  std::vector<std::size_t> quiet;
  for (const std::size_t i : all) {
    if (!disturbed[i]) quiet.push_back(i);
  }
  const std::size_t enough = std::max(quarter(count), std::min(kFewest, count / 2));
  return quiet.size() < enough ? all : quiet;
}

}  // namespace

Statistics summarize(std::span<const double> samples_ms, const std::vector<bool>& disturbed) {
  const std::vector<double> sorted = sorted_copy(samples_ms);
  const std::span<const double> all(sorted);
  Statistics statistics;
  statistics.min = sorted.front();
  std::vector<double> fastest;
  for (const std::size_t i : fastest_quarter(samples_ms, disturbed)) {
    fastest.push_back(samples_ms[i]);
  }
  statistics.best_quarter = middle(sorted_copy(fastest));
  statistics.median = middle(all);
  statistics.p95 = nearest_rank(all, 95);
  statistics.p99 = nearest_rank(all, 99);
  statistics.mean =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  statistics.samples = sorted.size();
  statistics.disturbed =
      static_cast<std::size_t>(std::count(disturbed.begin(), disturbed.end(), true));
  return statistics;
}

double percentile(std::span<const double> samples_ms, double percent) {
  return nearest_rank(sorted_copy(samples_ms), percent);
}

std::vector<std::size_t> fastest_quarter(std::span<const double> totals,
                                         const std::vector<bool>& disturbed) {
  std::vector<std::size_t> indices = usable(totals.size(), disturbed);
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return totals[a] < totals[b]; });
  indices.resize(quarter(totals.size()));
  std::sort(indices.begin(), indices.end());
  return indices;
}

Json to_json(const Statistics& statistics) {
  return {{"min", statistics.min},         {"best_quarter", statistics.best_quarter},
          {"median", statistics.median},   {"p95", statistics.p95},
          {"p99", statistics.p99},         {"mean", statistics.mean},
          {"samples", statistics.samples}, {"disturbed", statistics.disturbed}};
}

}  // namespace hios
