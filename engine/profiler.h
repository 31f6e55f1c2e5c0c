#pragma once

#include <vector>

#include "engine/backend.h"
#include "engine/tensor_source.h"
#include "engine/timing.h"
#include "hios/coarsen.h"
#include "hios/profile.h"
#include "hios/schedule.h"
#include "mpi/transport.h"

/// Measures operators, stages and transfers the way the executor runs them, on all ranks at the
/// same time, because they share memory and clocks. All functions are collective and give every
/// rank the same result.
namespace hios {

class Profiler {
 public:
  /// All arguments outlive the profiler. Binds every operator of the network to buffers of its own.
  Profiler(const CoarseGraph& coarse, const Model& model, Backend& backend,
           mpi::Transport& transport, TensorSource& source, const Protocol& protocol);
  ~Profiler();

  /// Sweeps over the whole network in topological order, each operator with all cores of the rank;
  /// writes those signatures that `into` lacks.
  void measure_operators(Configuration& into);

  /// Stages with their groups really concurrent, in sweeps over all of them; skips those that
  /// `into` has. Stops after `time_limit_s` with what is whole.
  void measure_stages(const std::vector<Stage>& stages, Configuration& into, double time_limit_s);

  /// Every ordered pair of ranks, 1 KB to 16 MB by powers of two, through the transport that runs.
  void measure_transfers(Configuration& into);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
