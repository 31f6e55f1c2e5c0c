#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hios/graph/graph.h"

namespace hios {

/// The random networks of the HIOS paper (Kundu and Shu, "HIOS: Hierarchical Inter-Operator
/// Scheduler for Real-Time Inference of DAG-Structured Deep Learning Models on Multiple GPUs",
/// section V-A).
struct RandomDag {
  /// Whose time a transfer is a share of: its producer's in the paper, its consumer's in the
  /// simulator that was published with it.
  enum class Transfer { kProducer, kConsumer };

  std::size_t operators = 200;
  /// Absent: 2n, as in the paper, or as many as the layers have room for.
  std::optional<std::size_t> edges = {};
  std::size_t layers = 14;
  double p = 0.8;  ///< transfer time over that operator's time, at least 0.1 ms
  std::uint64_t seed = 0;
  Transfer transfer = Transfer::kProducer;

  /// The most edges that there may be.
  std::size_t edges_at_most() const { return edges.value_or(2 * operators); }
};

/// "n=200,edges=400,layers=14,p=0.8,seed=3,transfer=producer". Of absent keys, layers are as many
/// of the 14 as there are operators for; the others keep their defaults. Throws InputError that
/// names the key: unknown, given twice, no such value, or one that the others make impossible.
RandomDag parse_random_dag(std::string_view text);

/// Layers, operators spread over them, at least one each; edges that lead to a later layer, no two
/// between the same operators; every operator behind the first layer reads one of the layer before
/// it, and none of the first is unread. Times U[0.1, 4] ms, utilization U[0.6, 1], transfer =
/// max(0.1, p × time), stage cost `overlap` 0.5: the last two and the utilization are not in the
/// paper but in the published simulator. Depends on the parameters alone, on any machine.
/// Throws InputError where there is no such network (more operators than one need two layers).
Graph random_dag(const RandomDag& parameters);

}  // namespace hios
