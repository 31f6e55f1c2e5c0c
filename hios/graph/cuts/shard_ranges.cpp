#include "hios/graph/cuts/shard_ranges.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "hios/base/error.h"
#include "hios/graph/cuts/layer_range.h"

namespace hios {
namespace {

/// Returns the beginnings of all shards but the first, each of which has at least one unit.
std::vector<std::int64_t> divided(const std::vector<std::int64_t>& parts, std::int64_t units) {
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  const auto count = std::ssize(parts);
  std::vector<std::int64_t> at;
  double before = 0;
  for (std::int64_t i = 1; i < count; ++i) {
    before += static_cast<double>(parts[static_cast<std::size_t>(i - 1)]);
    const auto wanted = static_cast<std::int64_t>(before / all * static_cast<double>(units) + 0.5);
    const std::int64_t least = at.empty() ? 1 : at.back() + 1;
    at.push_back(std::clamp(wanted, least, units - (count - i)));
  }
  return at;
}

std::vector<std::int64_t> beginnings(const Cut& cut, std::int64_t extent, const std::string& has) {
  const bool channels = cut.axis == Axis::kC;
  if (extent == 1) {
    throw InputError(has + ": it cannot be cut by " + (channels ? "channels" : "rows"));
  }
  if (cut.parts.empty()) {
    if (!cut.at.empty() && cut.at.front() >= 1 && cut.at.back() < extent &&
        std::ranges::is_sorted(cut.at, std::less_equal<>{})) {
      return cut.at;
    }
    throw InputError(has + ": shards begin at ascending " + (channels ? "channels" : "rows") +
                     " from 1 to " + std::to_string(extent - 1));
  }
  const std::int64_t unit = channels ? kChannelBlock : 1;
  const std::int64_t units = (extent + unit - 1) / unit;
  if (std::ssize(cut.parts) > units) {
    throw InputError(has + ", " + std::to_string(units) + (channels ? " blocks of 16" : "") +
                     ": fewer than its " + std::to_string(cut.parts.size()) + " parts");
  }
  std::vector<std::int64_t> at = divided(cut.parts, units);
  for (std::int64_t& begin : at) begin *= unit;
  return at;
}

}  // namespace

std::vector<AxisRange> shard_ranges(const Cut& cut, const Shape& output) {
  const std::int64_t extent = whole_range(output, cut.axis).end;
  const std::string has = cut.where + ": operator " + quote(cut.op) + " has " +
                          std::to_string(extent) + (cut.axis == Axis::kC ? " channels" : " rows");
  if (cut.axis == Axis::kC && cut.overlap > 0) {
    throw InputError(has + ", which cannot overlap; leave out \"overlap\"");
  }
  std::vector<std::int64_t> ends = beginnings(cut, extent, has);
  ends.push_back(extent);
  std::vector<AxisRange> shards;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    shards.push_back({cut.axis, std::max<std::int64_t>(begin - cut.overlap, 0),
                      std::min(end + cut.overlap, extent)});
    begin = end;
  }
  return shards;
}

}  // namespace hios
