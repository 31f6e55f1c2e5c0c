#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/cold/kept_parameters.h"
#include "engine/cold/loader.h"
#include "engine/measure/block_run.h"

namespace hios {

/// The loads of a whole network to one rank from one store, in the order of use.
std::vector<PlannedLoad> loads_of_all(const Graph& graph, StoreId store);

/// Throws InputError, with need::PackedWeights, where the file lacks parameters of the network as
/// this rank computes with them.
void require_packed(const RankContext& rank, const PackedParameters& packed);

/// A network whose parameters are there, and one lane that loads the same parameters to other
/// memory, by the engine's loader: so operators and loads run alone, or at the same time. Host
/// backends only. Used by the main thread.
class LoadRun {
 public:
  /// The times of a lane alone, in ms.
  struct Alone {
    double lead_ms = 0;      ///< from begin() to the start of the first load
    std::vector<double> ms;  ///< of the first pass, by load
    double pass_ms = 0;      ///< from begin() to the end of the first pass
    double all_ms = 0;       ///< to the end of all passes
  };
  /// The times of operators and loads that begin together, in ms.
  struct Both {
    double operators_ms = 0, loads_ms = 0;
  };

  /// `network`: the whole network, on this rank. `options`: the cores of the lane, and the file
  /// that is read; null: the store is this rank's memory. All arguments outlive this. Throws as
  /// KeptParameters and Loader do. REQUIRES: an operator with parameters.
  LoadRun(const RankContext& rank, BlockRun& network, const LoadOptions& options);
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  /// Returns the sizes of the loads, as the graph counts them.
  const std::vector<Bytes>& sizes() const { return sizes_; }
  /// Lets the lane load everything so many times, one pass after the other; first once. From a disk
  /// each pass goes to memory of its own, at most a GiB in all where more than one goes.
  void set_passes(std::size_t passes);

  /// Overwrites what loads bring, as before a cold start.
  void forget();
  /// Both drop the file from the page cache first, off the clock.
  Alone load();
  Both load_and_run();
  /// Runs the network once, without loads. Returns its time in ms.
  double run();

 private:
  /// Gives the lane's copies their places from `to` on.
  void place(std::byte* to);
  const DirectFile* file() const;
  void drop_cached() const;

  BlockRun& network_;
  const LoadOptions& options_;
  std::unique_ptr<KeptParameters> kept_;
  std::function<std::unique_ptr<Buffer>()> make_room_;  // for a pass
  std::vector<std::unique_ptr<Buffer>> arrived_;
  Bytes most_passes_ = 1;       // from a disk
  Loader::LaneOfCopies lane_;   // one pass
  std::vector<Bytes> offsets_;  // of its copies in the memory of a pass
  std::vector<Bytes> sizes_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace hios
