#pragma once

#include <cstdint>
#include <functional>

#include "hios/base/random.h"
#include "scheduler/best/arrangement.h"
#include "scheduler/best/moves.h"
#include "scheduler/best/timing.h"

namespace hios::scheduler::best {

/// One island of the search: simulated annealing in cycles of cooling, each from the best so far.
/// One thread at a time.
class Annealing {
 public:
  /// `problem` outlives the island. REQUIRES: `start` is valid.
  Annealing(const SearchProblem& problem, const Schedule& start, std::uint64_t seed);

  /// From hot to cold over the next `length` moves of run().
  void begin_cycle(std::int64_t length);
  /// Makes `moves` moves; fewer where `stop` (may be empty; asked every few moves) says so or the
  /// best is at most `good_enough_ms`.
  void run(std::int64_t moves, double good_enough_ms, const std::function<bool()>& stop);

  /// The least latency of a valid schedule so far, as simulate() gives it up to rounding.
  double best_ms() const { return best_ms_; }
  Schedule best() const { return best_.schedule(); }

  /// The next cycle begins with another island's best, whatever its own is.
  void adopt(const Annealing& other);
  /// The same for any valid schedule.
  void restart(const Schedule& schedule);

 private:
  double energy_ms(double latency_ms) const;
  void step();
  void cool();
  void weigh_memory();
  void reorder();
  void save_best();

  const SearchProblem& problem_;
  StagePricer pricer_;
  Random random_;
  Arrangement now_;
  Arrangement best_;
  Timing timing_;
  Moves proposals_;
  double hottest_ms_ = 0;            ///< temperature at the begin of a long cycle
  double hot_ms_ = 0, cold_ms_ = 0;  ///< temperatures at the ends of this one
  double now_energy_ms_ = 0;
  double ms_per_excess_byte_ = 0, ms_per_overfull_device_ = 0;  ///< in the energy
  double best_ms_ = 0;
  bool now_is_best_ = false;  ///< and best_ is not yet up to date
  double temperature_ms_ = 0;
  std::int64_t cycle_length_ = 1;
  std::int64_t in_cycle_ = 0;
};

}  // namespace hios::scheduler::best
