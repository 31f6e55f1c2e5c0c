// The loads alone are measured on parameters that were forgotten, as those of the cold inference,
// so that the same core wrote what they overwrite; the inference in between lets caches forget the
// bytes that they have read.
#include "engine/measure/cold_rounds.h"

#include <algorithm>
#include <array>

namespace hios {
namespace {

std::vector<double> last_of(const std::vector<double>& values, std::size_t count) {
  return {values.end() - static_cast<std::ptrdiff_t>(count), values.end()};
}

}  // namespace

template <class Once>
double ColdRounds::slowest_ms(Once&& once) {
  transport_.barrier();
  const double ms = once();
  std::array<double, 2> result{ms, stop_ && stop_() ? 1.0 : 0.0};
  transport_.all_reduce_max(result);
  stopped_ = stopped_ || result[1] > 0;
  return result[0];
}

void ColdRounds::before_inference() {
  forget();
  if (stopped_) return;  // the inference that follows is the last, and cold, too
  const double load_ms = slowest_ms([&] { return executor_.load_alone(); });
  if (stopped_) return forget();
  executor_.start(Start::kResident);
  const double resident_ms = slowest_ms([&] { return executor_.run_once(); });
  executor_.start(Start::kCold);
  load_ms_.push_back(load_ms);
  resident_ms_.push_back(resident_ms);
  forget();
}

void ColdRounds::forget() {
  executor_.forget_parameters();
  if (!file_) return;
  file_->drop_cached();
  cached_bytes_ = std::max(cached_bytes_, file_->cached_bytes());
}

std::optional<ColdWalls> ColdRounds::walls(std::size_t rounds, const std::string& file_name) const {
  const std::size_t count = std::min(rounds, load_ms_.size());
  std::array<double, 3> disk{file_ ? 1.0 : 0.0, file_ && !file_->direct() ? 1.0 : 0.0,
                             static_cast<double>(cached_bytes_)};
  transport_.all_reduce_max(disk);
  if (count == 0) return {};
  ColdWalls walls{last_of(resident_ms_, count), last_of(load_ms_, count)};
  if (disk[0] > 0) walls.disk = {file_name, disk[1] == 0, static_cast<Bytes>(disk[2])};
  return walls;
}

}  // namespace hios
