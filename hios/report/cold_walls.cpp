#include "hios/report/cold_walls.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "hios/base/numbers/statistics.h"
#include "hios/base/size_text.h"

namespace hios {
namespace {

Json statistics_json(const std::vector<double>& samples) {
  const Statistics all = summarize(samples);
  return {{"min", all.min}, {"median", all.median}, {"p95", all.p95}, {"samples", all.samples}};
}

std::string disk_text(const DiskReads& disk) {
  std::string text = "loads are read from " + printable(disk.file, 200);
  if (disk.direct) return text + ", past the page cache";
  text += ", whose file system reads through the page cache only";
  if (disk.cached_bytes == 0) return text + ": it was dropped before each cold start";
  return text + ", and " + size_text(disk.cached_bytes) +
         " of it stayed there: these loads are from memory, not from a disk";
}

}  // namespace

double ColdWalls::perfect_overlap_ms() const {
  return std::max(summarize(resident_ms).median, summarize(load_ms).median);
}

Json to_json(const ColdWalls& walls) {
  Json json = {{"resident_ms", statistics_json(walls.resident_ms)},
               {"load_ms", statistics_json(walls.load_ms)},
               {"perfect_overlap_ms", walls.perfect_overlap_ms()}};
  if (walls.disk) {
    json["disk"] = {{"file", walls.disk->file},
                    {"direct", walls.disk->direct},
                    {"cached_bytes", walls.disk->cached_bytes}};
  }
  return json;
}

std::string cold_walls_text(const ColdWalls& walls, double median_ms) {
  char text[256];
  std::snprintf(text, sizeof text,
                "cold start, median %.3f ms: with all parameters there it takes %.3f ms, the loads "
                "alone %.3f ms; perfect overlap is the larger, and this is %.2fx of it",
                median_ms, summarize(walls.resident_ms).median, summarize(walls.load_ms).median,
                median_ms / walls.perfect_overlap_ms());
  return text + (walls.disk ? "\n" + disk_text(*walls.disk) : std::string());
}

}  // namespace hios
