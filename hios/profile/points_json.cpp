#include "hios/profile/points_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace hios {

std::vector<std::pair<Bytes, double>> read_points(const JsonView& view) {
  std::vector<std::pair<Bytes, double>> points;
  for (const JsonView& point : view.array()) {
    const std::vector<JsonView> pair = point.array();
    if (pair.size() != 2) point.fail("a point is [bytes, ms]");
    const auto bytes = static_cast<Bytes>(pair[0].integer(0, kMaxBytes));
    if (!points.empty() && bytes <= points.back().first) {
      point.fail("points must be in order of increasing bytes; sort them");
    }
    points.emplace_back(bytes, pair[1].number(0, kMaxMs));
  }
  if (points.empty()) view.fail("one point at least is needed");
  return points;
}

Json points_json(const std::vector<std::pair<Bytes, double>>& points) {
  Json json = Json::array();
  for (const auto& [bytes, ms] : points) json.push_back(Json::array({bytes, ms}));
  return json;
}

}  // namespace hios
