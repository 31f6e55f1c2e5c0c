#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "engine/measure/protocol.h"
#include "hios/profile/profile.h"
#include "mpi/transport.h"

namespace hios {

/// Ranks that measure alike, so that one configuration describes them all. The first decides for
/// the others.
using Team = std::vector<Rank>;

/// The times of many items (operators, stages), measured in sweeps over all of them. An item may
/// occur several times in a sweep. Each rank has a SweepTimes, all with the same sweeps.
class SweepTimes {
 public:
  explicit SweepTimes(std::size_t items);

  void begin_sweep();
  /// Adds one occurrence in the current sweep.
  void add(std::size_t item, double ms);
  /// Removes the first `sweeps`, which were warm-up.
  void drop_first(std::size_t sweeps);

  /// Returns the times by item, the same on every rank. An item's time in a sweep is the mean over
  /// its occurrences; on a rank, the median over the sweeps in the fastest quarter of `totals`
  /// (disturbed ones left out while enough others remain); in all, the mean over the ranks of
  /// `team`. `min_ms` is the smallest time of any of these ranks and occurrences, `samples` the
  /// number of occurrences on all of them. Collective among all ranks of the transport; sweeps of
  /// ranks outside the team do not count. REQUIRES: a total for each sweep, the same on every rank
  /// of the team; every item occurs in every sweep.
  std::vector<Measurement> merge(mpi::Transport& transport, const Samples& totals,
                                 const Team& team) const;

  /// Returns the statistic of merge() in words, for the profile's protocol.
  static const char* statistic();

 private:
  struct Item {
    double sum_ms = 0;
    double min_ms = std::numeric_limits<double>::infinity();
    std::int64_t occurrences = 0;
  };
  /// An item's times on one rank.
  struct RankTimes {
    double median_ms = 0;
    double min_ms = 0;
    std::int64_t occurrences = 0;
    static auto fields(auto& self) {
      return std::tie(self.median_ms, self.min_ms, self.occurrences);
    }
  };
  std::vector<RankTimes> of_this_rank(const Samples& totals) const;

  std::size_t items_;
  std::vector<std::vector<Item>> sweeps_;
};

}  // namespace hios
