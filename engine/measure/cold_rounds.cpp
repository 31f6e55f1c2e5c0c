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

std::optional<ColdWalls> ColdRounds::walls(std::size_t rounds) const {
  const std::size_t count = std::min(rounds, load_ms_.size());
  if (count == 0) return {};
  return ColdWalls{last_of(resident_ms_, count), last_of(load_ms_, count)};
}

}  // namespace hios
