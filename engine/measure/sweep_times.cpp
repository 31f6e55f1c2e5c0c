#include "engine/measure/sweep_times.h"

#include <algorithm>

#include "hios/base/numbers/statistics.h"
#include "mpi/exchange.h"

namespace hios {

SweepTimes::SweepTimes(std::size_t items) : items_(items) {}

void SweepTimes::begin_sweep() { sweeps_.emplace_back(items_); }

void SweepTimes::add(std::size_t item, double ms) {
  Item& entry = sweeps_.back()[item];
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

std::vector<Measurement> SweepTimes::merge(mpi::Transport& transport, const Samples& totals,
                                           const Team& team) const {
  const bool counts = std::find(team.begin(), team.end(), transport.rank()) != team.end();
  const std::vector<std::vector<RankTimes>> of_ranks =
      mpi::gather(transport, counts ? of_this_rank(totals) : std::vector<RankTimes>());
  std::vector<Measurement> merged(items_);
  for (const Rank rank : team) {
    const std::vector<RankTimes>& theirs = of_ranks[rank.index()];
    for (std::size_t item = 0; item < items_; ++item) {
      const RankTimes& entry = theirs.at(item);
      Measurement& result = merged[item];
      result.ms += entry.median_ms / static_cast<double>(team.size());
      result.min_ms = result.samples == 0 ? entry.min_ms : std::min(result.min_ms, entry.min_ms);
      result.samples += entry.occurrences;
    }
  }
  return merged;
}

std::vector<SweepTimes::RankTimes> SweepTimes::of_this_rank(const Samples& totals) const {
  const std::vector<std::size_t> fastest = fastest_quarter(totals.ms, totals.disturbed);
  std::vector<RankTimes> mine;
  std::vector<double> times(fastest.size());
  for (std::size_t item = 0; item < items_; ++item) {
    for (std::size_t i = 0; i < fastest.size(); ++i) {
      const Item& entry = sweeps_[fastest[i]][item];
      times[i] = entry.sum_ms / static_cast<double>(entry.occurrences);
    }
    Item all;
    for (const auto& sweep : sweeps_) {
      all.min_ms = std::min(all.min_ms, sweep[item].min_ms);
      all.occurrences += sweep[item].occurrences;
    }
    mine.push_back({summarize(times).median, all.min_ms, all.occurrences});
  }
  return mine;
}

}  // namespace hios
