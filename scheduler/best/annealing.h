#pragma once

#include <cstdint>

#include "hios/base/numbers/random.h"
#include "scheduler/best/moves/moves.h"
#include "scheduler/best/state/arrangement.h"
#include "scheduler/best/state/timing.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// One island of the search: simulated annealing in cycles of cooling, each from the best so far.
/// In a large graph a cycle of few moves an operator is a sweep: it goes from window to window of
/// the sequence, and cools in each. One thread at a time.
class Annealing {
 public:
  /// `problem` outlives the island. REQUIRES: `start` is valid.
  Annealing(const SearchProblem& problem, const Schedule& start, std::uint64_t seed);

  /// From hot to cold over the next `length` moves of run(). end_cycle() follows, also where they
  /// were fewer.
  void begin_cycle(std::int64_t length);
  void end_cycle();
  /// Makes `moves` moves; fewer where the deadline (asked every few moves) expires or the best is
  /// at most `good_enough_ms`.
  void run(std::int64_t moves, double good_enough_ms, const Deadline& deadline);

  /// The least latency of a valid schedule so far, as simulate() gives it up to rounding. Of what
  /// a sweep has found, not before the cycle ends.
  double best_ms() const { return best_ms_; }
  Schedule best() const { return best_.schedule(); }

  /// The next cycle begins with another island's best, whatever its own is.
  void adopt(const Annealing& other);
  /// The same for any valid schedule.
  void restart(const Schedule& schedule);

 private:
  double energy_ms(double latency_ms) const;
  void begin_sweep();
  void end_sweep();
  void enter_window(Window window);
  void leave_window();
  void confine(Window window);
  double left_of_cooling() const;
  void step();
  void cool();
  void weigh_memory();
  void reorder();
  void save_best();
  void copy_to_best();

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
  double least_ms_ = 0;       ///< best_'s; in a sweep that of the longest path through the window
  bool now_is_best_ = false;  ///< and best_ may not yet be up to date
  double temperature_ms_ = 0;
  bool sweeps_do_all_ = true;  ///< there are no moves that a window has no room for
  bool swept_ = false;         ///< the last cycle was a sweep
  std::int64_t cycle_length_ = 1;
  std::int64_t cooling_ = 1, in_cooling_ = 0;  ///< moves: of the cycle, or of the window's share
  std::vector<Window> windows_;                ///< of the sweep; none in other cycles
  std::size_t next_window_ = 0;
};

}  // namespace hios::scheduler::best
