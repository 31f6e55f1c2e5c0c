#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios {

/// Differences between devices, and constraints of operators on them.
struct RandomDevices {
  /// Speeds by device: an operator's time there is the network's divided by it. Empty: 1 on all.
  std::vector<double> speeds = {};
  /// Deviation of operators' times on a device: each is multiplied by a lognormal number with the
  /// mean 1 and this standard deviation of the logarithm. It uses the C library's exp, log and cos,
  /// so the last digit may differ between machines.
  double spread = 0;
  /// All devices' memory divided by the bytes that all operators hold, from 1 on. Absent: no bytes,
  /// no limits.
  std::optional<double> memory = {};
  double allowed = 0;   ///< share of operators that some of the devices may not run
  double colocate = 0;  ///< share of operators that share a label with one to three others
  bool operator==(const RandomDevices&) const = default;
};

/// Parameters of operators, for cold starts.
struct RandomParameters {
  /// Limits of an operator's parameter_bytes, drawn uniformly. Absent: those of the family and of
  /// RandomDevices::memory, if any.
  std::optional<std::pair<Bytes, Bytes>> bytes = {};
  /// Share of the operators with parameters that can read them in place: their in_place_ms are
  /// their times multiplied by a number of their own, U[1, 4], the same on all devices.
  double in_place = 0;
  bool operator==(const RandomParameters&) const = default;
};

/// Modules in a row (RandomDag::Family::kModules).
struct RandomModules {
  /// The random graph inside a module, before its ends are joined: undirected, then every edge
  /// leads from the earlier operator to the later.
  enum class Wiring {
    kErdosRenyi,     ///< each pair with the probability p
    kWattsStrogatz,  ///< a lattice of k neighbours, each edge rewired with the probability p
    kBarabasiAlbert  ///< each operator after the first k to k earlier ones, by preferential
                     ///< attachment
  };
  /// The inputs at which a module's paths begin, and the outputs at which they end.
  enum class Ends {
    kStrong,  ///< all at one, except those of the other inputs and outputs
    kWeak     ///< each at a random one
  };

  std::size_t count = 10;
  std::size_t nodes = 10;  ///< operators of a module
  Wiring wiring = Wiring::kErdosRenyi;
  double p = 0.2;
  std::size_t k = 4;
  std::size_t channels = 1;  ///< tensors between two modules
  Ends ends = Ends::kStrong;
  bool operator==(const RandomModules&) const = default;
};

/// A random network of one of several families. That of the HIOS paper, and the default, is
/// kLayered (Kundu and Shu, "HIOS: Hierarchical Inter-Operator Scheduler for Real-Time Inference of
/// DAG-Structured Deep Learning Models on Multiple GPUs", section V-A).
struct RandomDag {
  enum class Family {
    /// Layers with at least one operator each; edges lead to later layers, no two between the same
    /// operators. Every operator after the first layer reads one of the layer before it, and every
    /// operator of the first layer has a consumer.
    kLayered,
    /// The shape of the networks in that paper's published simulation: layers as in kLayered, one
    /// operator in the first (the source) and one in the last (the sink). Every operator before the
    /// last layer has a consumer in the next one.
    kTwoTerminal,
    /// Blocks in a row, each a fork, branches of one to three operators and a join, which is the
    /// next block's fork. The last block has the remaining operators.
    kForkJoin,
    /// A random recursive tree: each operator reads a uniformly drawn earlier one; or its mirror
    /// image.
    kTree,
    /// Parallel chains: every operator is appended to a uniformly drawn chain.
    kChain,
    /// The steps of a stencil: rows of cells, each of which reads its neighbours, at most three, in
    /// the row before. The last row may be incomplete.
    kStencil,
    /// The tasks of a tiled Cholesky factorization: as many tiles as `operators` allows.
    kCholesky,
    kIndependent,  ///< no edges
    kDense,        ///< an edge between each pair of operators with the same probability
    /// Modules in a row, each wired randomly, with costs of their own: on gpu0 U[0.2, 1.4] ms, on
    /// gpu1 that times a lognormal number of mean 1.26 and deviation 0.5 (of its logarithm), on
    /// devices of the kind cpu of mean 7.1 and deviation 1; a transfer U[0.08, 0.22] ms; stages
    /// cost their sum (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping
    /// Neural Networks onto Heterogeneous Platforms", section V; Table II has the means).
    kModules,
    /// An undirected graph whose edges follow a random order; tensors N(50, 10) MB, transfers 1
    /// ms/MB.
    /// An operator costs the size of its inputs and output and a share |N(0, 0.1)| of all tensors;
    /// stages cost their sum (Archer, Fahrbach, Liu and Prabhu,
    /// "Practical Performance Guarantees for Pipelined DNN Inference", appendix C.2).
    kRegal,
    /// A transformer encoder with one operator a head; not random. Times are those of a device with
    /// 1 TFLOP/s and 100 GB/s and a link with 10 GB/s.
    kBert,
    kLstm,  ///< layers of LSTM cells, unrolled; not random, times as for kBert
  };
  /// The undirected graph of kRegal: G(n, 0.05); each operator joined to 2 earlier ones; a lattice
  /// of 4 neighbours with 0.3 of the edges rewired; 4 blocks, 0.3 inside and 0.01 between.
  enum class Base { kErdosRenyi, kBarabasiAlbert, kWattsStrogatz, kBlocks };
  /// The operator whose time decides that of a transfer: the producer in the paper, the consumer in
  /// the simulator that was published with it.
  enum class Transfer { kProducer, kConsumer };
  /// The direction of a tree: from the root to the leaves, or from the leaves to the root.
  enum class Direction { kOut, kIn };

  std::size_t operators = 200;  ///< an upper limit for kCholesky, exact for the others
  /// For kLayered and kTwoTerminal. Absent: 2n, as in the paper, or as many as the layers have room
  /// for.
  std::optional<std::size_t> edges = {};
  std::size_t layers = 14;  ///< for kLayered, kTwoTerminal, kBert and kLstm
  double p =
      0.8;  ///< transfer time divided by that operator's time; transfers take at least 0.1 ms
  std::uint64_t seed = 0;
  Transfer transfer = Transfer::kProducer;
  Family family = Family::kLayered;
  /// For kChain: chains; for kForkJoin: branches of a fork; for kStencil: cells of a row.
  std::size_t width = 4;
  Direction direction = Direction::kOut;  ///< for kTree
  double density = 0.5;                   ///< for kDense: the probability of an edge
  RandomModules modules = {};             ///< for kModules; `operators` is the number of all nodes
  Base base = Base::kErdosRenyi;          ///< for kRegal
  std::size_t heads = 12;    ///< for kBert; with `layers` and `length` it decides `operators`
  std::size_t hidden = 768;  ///< for kBert and kLstm: numbers of a token or a state
  std::size_t length = 128;  ///< for kBert: tokens; for kLstm: steps
  RandomDevices devices = {};
  RandomParameters parameters = {};

  /// Returns the largest number of edges; for kDense, ten standard deviations above the mean.
  std::size_t edges_at_most() const;
  /// Returns about how often operators name a device, in times and in lists of allowed devices.
  std::size_t device_names(std::size_t device_count) const;
};

/// A network and its devices.
struct RandomProblem {
  Graph graph;
  Platform platform;
};

/// Returns the network alone. Except for kModules, kRegal, kBert and kLstm, times are U[0.1, 4] ms,
/// utilization U[0.6, 1], transfer = max(0.1, p × time), stage cost `overlap` 0.5; the last two and
/// the utilization are not in the paper but in the published simulator. The result depends on the
/// parameters only, on any machine. Throws InputError where there is no such network (layers: more
/// operators than one need two, with source and sink three), or where `devices` is not the default:
/// see random_problem().
Graph random_dag(const RandomDag& parameters);

/// Returns the same network for the platform's devices (devices.cpp). Labels are drawn first:
/// groups of two to four operators. A restricted operator has a subset of the devices, at least one
/// and not all, the same for all that share a label. Operators hold whole MiB, 1 to 8 of output
/// (also the size of its edges) and 0 to 16 of parameters. Limits are derived from a placement:
/// each operator goes to the allowed device that holds the least, and a device's limit is what it
/// got and its share of the spare memory. So there is a placement, even with nothing to spare.
/// Transfers are shares of the time at speed 1. Throws InputError as random_dag(), and where the
/// number of devices is not that of speeds, is one although some devices shall not be allowed, or
/// where devices have limits that differ from those drawn.
RandomProblem random_problem(const RandomDag& parameters, const Platform& platform);

}  // namespace hios
