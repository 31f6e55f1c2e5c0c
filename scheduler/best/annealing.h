#pragma once

#include <cstdint>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/best/moves/moves.h"
#include "scheduler/best/state/arrangement.h"
#include "scheduler/best/state/message_timing.h"
#include "scheduler/best/state/timing.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::best {

/// An island of the search: simulated annealing in cycles of cooling, each from the best so far. In
/// a large graph a cycle of few moves an operator is a sweep: it cools in one neighbourhood of the
/// sequence after the other. One thread at a time may use it.
class Annealing {
 public:
  /// `problem` outlives the island. REQUIRES: `start` is valid.
  Annealing(const SearchProblem& problem, const Schedule& start, std::uint64_t seed);

  /// Begins to cool from hot to cold over the next `length` moves of run(). end_cycle() must
  /// follow, also after fewer moves.
  void begin_cycle(std::int64_t length);
  void end_cycle();
  /// Makes `moves` moves; fewer if the deadline (asked every few moves) expires or the best is at
  /// most `good_enough_ms`.
  void run(std::int64_t moves, double good_enough_ms, const Deadline& deadline);

  /// Returns the least latency of a valid schedule so far, as simulate() gives it up to rounding.
  /// Gains of a sweep count from the cycle's end.
  double best_ms() const { return best_ms_; }
  /// Where links contend, the schedule lists the order of transfers if it is a decided one.
  Schedule best() const { return schedule_with_order(best_); }

  /// Lets the next cycle begin with another island's best, whatever this island's best is.
  void adopt(const Annealing& other);
  /// Lets the next cycle begin with any valid schedule.
  void restart(const Schedule& schedule);

 private:
  double energy_ms(double latency_ms) const;
  void begin_sweep();
  void end_sweep();
  void enter_neighbourhood(Neighbourhood neighbourhood);
  void leave_neighbourhood();
  void confine(Neighbourhood neighbourhood);
  double left_of_cooling() const;
  void step();
  void cool();
  void weigh_memory();
  void reorder();
  void save_best();
  void copy_to_best();
  static void order_as_in(const Schedule& schedule, Arrangement& arrangement);

  const SearchProblem& problem_;
  StageCosts stage_costs_;
  Random random_;
  Arrangement now_;
  Arrangement best_;
  Timing timing_;
  Moves proposals_;
  double hottest_ms_ = 0;            ///< temperature at the begin of a long cycle
  double hot_ms_ = 0, cold_ms_ = 0;  ///< temperatures at the ends of this cycle
  double now_energy_ms_ = 0;
  double ms_per_excess_byte_ = 0, ms_per_overfull_device_ = 0;  ///< costs in the energy
  double best_ms_ = 0;
  double least_ms_ = 0;       ///< of best_; in a sweep, of the neighbourhood's longest path
  bool now_is_best_ = false;  ///< and best_ may not yet be up to date
  double temperature_ms_ = 0;
  bool sweeps_do_all_ = true;  ///< no move needs more than a neighbourhood
  bool swept_ = false;         ///< the last cycle was a sweep
  std::int64_t cycle_length_ = 1;
  std::int64_t cooling_ = 1,
               in_cooling_ = 0;  ///< moves: of the cycle, or of the neighbourhood's share
  std::vector<Neighbourhood> neighbourhoods_;  ///< the sweep's; empty in other cycles
  std::size_t next_neighbourhood_ = 0;
};

}  // namespace hios::scheduler::best
