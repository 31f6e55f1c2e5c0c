#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/executor.h"
#include "hios/base/files/direct_file.h"
#include "hios/report/cold_walls.h"
#include "mpi/transport.h"

namespace hios {

/// The runs before each measured cold inference, off its clock: the loads alone, and an inference
/// with all parameters there. So a disturbance that lasts a while meets all three times alike. Then
/// all that was loaded is forgotten.
class ColdRounds {
 public:
  /// `stop` (Protocol::stop) is asked after each run; it may be empty. `file`: the one that this
  /// rank loads from; null: it loads from memory. All arguments outlive this.
  ColdRounds(mpi::Transport& transport, Executor& executor, const std::function<bool()>& stop,
             const DirectFile* file = nullptr)
      : transport_(transport), executor_(executor), stop_(stop), file_(file) {}

  /// Measures the two walls, and forgets the parameters. Does nothing once a rank was asked to
  /// stop. Collective.
  void before_inference();
  /// Forgets the parameters only, and drops the file from the page cache.
  void forget();
  /// Returns the walls of the last rounds, at most so many, the same on all ranks; nothing where
  /// none ended. `file_name`: the file's, on all ranks. Collective.
  std::optional<ColdWalls> walls(std::size_t rounds, const std::string& file_name) const;

 private:
  template <class Once>
  double slowest_ms(Once&& once);

  mpi::Transport& transport_;
  Executor& executor_;
  const std::function<bool()>& stop_;
  const DirectFile* const file_;
  Bytes cached_bytes_ = 0;  // the most that stayed in the page cache
  bool stopped_ = false;
  std::vector<double> resident_ms_, load_ms_;  // by round
};

}  // namespace hios
