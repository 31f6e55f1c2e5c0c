#include "engine/measure/sweep_times.h"

#include <algorithm>

#include "hios/base/json_io.h"
#include "hios/base/statistics.h"

namespace hios {

SweepTimes::SweepTimes(std::size_t things) : things_(things) {}

void SweepTimes::begin_sweep() { sweeps_.emplace_back(things_); }

void SweepTimes::add(std::size_t thing, double ms) {
  Thing& entry = sweeps_.back()[thing];
  entry.sum_ms += ms;
  ++entry.occurrences;
  entry.min_ms = std::min(entry.min_ms, ms);
}

void SweepTimes::drop_first(std::size_t sweeps) {
  sweeps_.erase(sweeps_.begin(), sweeps_.begin() + static_cast<std::ptrdiff_t>(sweeps));
}

const char* SweepTimes::statistic() {
  return "median over the sweeps in the fastest quarter of whole sweeps (by the maximum over "
         "ranks), mean over ranks and over occurrences in a sweep";
}

std::vector<Measurement> SweepTimes::merge(mpi::Transport& transport,
                                           std::span<const double> totals, const Team& team) const {
  const bool counts = std::find(team.begin(), team.end(), transport.rank()) != team.end();
  const std::vector<std::string> of_ranks =
      transport.all_gather(counts ? of_this_rank(totals).dump() : "");
  std::vector<Measurement> merged(things_);
  for (const Rank rank : team) {
    const std::string& text = of_ranks[rank.index()];
    const Json theirs = parse_json(text, "a rank's measurements", {.max_bytes = text.size()});
    for (std::size_t thing = 0; thing < things_; ++thing) {
      const Json& entry = theirs[thing];
      Measurement& result = merged[thing];
      result.ms += entry[0].get<double>() / static_cast<double>(team.size());
      const double min = entry[1].get<double>();
      result.min_ms = result.samples == 0 ? min : std::min(result.min_ms, min);
      result.samples += entry[2].get<std::int64_t>();
    }
  }
  return merged;
}

Json SweepTimes::of_this_rank(std::span<const double> totals) const {
  const std::vector<std::size_t> fastest = fastest_quarter(totals);
  Json mine = Json::array();
  std::vector<double> times(fastest.size());
  for (std::size_t thing = 0; thing < things_; ++thing) {
    for (std::size_t i = 0; i < fastest.size(); ++i) {
      const Thing& entry = sweeps_[fastest[i]][thing];
      times[i] = entry.sum_ms / static_cast<double>(entry.occurrences);
    }
    Thing all;
    for (const auto& sweep : sweeps_) {
      all.min_ms = std::min(all.min_ms, sweep[thing].min_ms);
      all.occurrences += sweep[thing].occurrences;
    }
    mine.push_back({summarize(times).median, all.min_ms, all.occurrences});
  }
  return mine;
}

}  // namespace hios
