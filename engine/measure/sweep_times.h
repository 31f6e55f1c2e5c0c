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

/// Ranks that measure alike, so that one configuration describes them; the first speaks for them.
using Team = std::vector<Rank>;

/// The times of many things (operators, stages), measured in sweeps over all of them; a thing may
/// occur several times in a sweep. One on each rank, all with the same sweeps.
class SweepTimes {
 public:
  explicit SweepTimes(std::size_t things);

  void begin_sweep();
  /// One occurrence in the current sweep.
  void add(std::size_t thing, double ms);
  /// Forgets the first `sweeps`, which were warm-up.
  void drop_first(std::size_t sweeps);

  /// By thing, the same on every rank. A thing's time in a sweep is the mean over its occurrences;
  /// on a rank, the median over those sweeps that are in the fastest quarter of `totals` (disturbed
  /// ones left out while enough others remain); in all,
  /// the mean over the ranks of `team`. `min_ms` is the least of any of these ranks and occurrence,
  /// `samples` counts the occurrences on all of them. Collective among all ranks of the transport;
  /// what those beyond the team have swept does not count. REQUIRES: a total, the same on every
  /// rank of the team, for each sweep; every thing occurs in every sweep.
  std::vector<Measurement> merge(mpi::Transport& transport, const Samples& totals,
                                 const Team& team) const;

  /// How these numbers came about, for the profile's protocol.
  static const char* statistic();

 private:
  struct Thing {
    double sum_ms = 0;
    double min_ms = std::numeric_limits<double>::infinity();
    std::int64_t occurrences = 0;
  };
  /// A thing as one rank measured it.
  struct OfRank {
    double median_ms = 0;
    double min_ms = 0;
    std::int64_t occurrences = 0;
    static auto fields(auto& self) {
      return std::tie(self.median_ms, self.min_ms, self.occurrences);
    }
  };
  std::vector<OfRank> of_this_rank(const Samples& totals) const;

  std::size_t things_;
  std::vector<std::vector<Thing>> sweeps_;
};

}  // namespace hios
