#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "engine/run/executor.h"
#include "hios/report/cold_walls.h"
#include "mpi/transport.h"

namespace hios {

/// The runs before each measured cold inference, off its clock: the loads alone, and an inference
/// with all parameters there. So a disturbance that lasts a while meets all three times alike. Then
/// all that was loaded is forgotten.
class ColdRounds {
 public:
  /// `stop` (Protocol::stop) is asked after each run; it may be empty. All arguments outlive this.
  ColdRounds(mpi::Transport& transport, Executor& executor, const std::function<bool()>& stop)
      : transport_(transport), executor_(executor), stop_(stop) {}

  /// Measures the two walls, and forgets the parameters. Does nothing once a rank was asked to stop.
  /// Collective.
  void before_inference();
  /// Forgets the parameters only.
  void forget() { executor_.forget_parameters(); }
  /// Returns the walls of the last rounds, at most so many, the same on all ranks; nothing where
  /// none ended.
  std::optional<ColdWalls> walls(std::size_t rounds) const;

 private:
  template <class Once>
  double slowest_ms(Once&& once);

  mpi::Transport& transport_;
  Executor& executor_;
  const std::function<bool()>& stop_;
  bool stopped_ = false;
  std::vector<double> resident_ms_, load_ms_;  // by round
};

}  // namespace hios
