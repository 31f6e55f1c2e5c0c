#include "hios/report/cold_walls.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "hios/base/numbers/statistics.h"

namespace hios {
namespace {

Json statistics_json(const std::vector<double>& samples) {
  const Statistics all = summarize(samples);
  return {{"min", all.min}, {"median", all.median}, {"p95", all.p95}, {"samples", all.samples}};
}

}  // namespace

double ColdWalls::perfect_overlap_ms() const {
  return std::max(summarize(resident_ms).median, summarize(load_ms).median);
}

Json to_json(const ColdWalls& walls) {
  return {{"resident_ms", statistics_json(walls.resident_ms)},
          {"load_ms", statistics_json(walls.load_ms)},
          {"perfect_overlap_ms", walls.perfect_overlap_ms()}};
}

std::string cold_walls_text(const ColdWalls& walls, double median_ms) {
  char text[256];
  std::snprintf(text, sizeof text,
                "cold start, median %.3f ms: with all parameters there it takes %.3f ms, the loads "
                "alone %.3f ms; perfect overlap is the larger, and this is %.2fx of it",
                median_ms, summarize(walls.resident_ms).median, summarize(walls.load_ms).median,
                median_ms / walls.perfect_overlap_ms());
  return text;
}

}  // namespace hios
