#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios {

/// What makes devices unlike, and what ties operators to them.
struct RandomDevices {
  /// By device: an operator's time there is the network's over this. Empty: 1 on all.
  std::vector<double> speeds = {};
  /// Of how much operators' times on a device differ from those: each is multiplied by a number of
  /// its own, lognormal with the mean 1 and this standard deviation of the logarithm. By the C
  /// library's exp, log and cos: the last digit may be another on another machine.
  double spread = 0;
  /// All devices' memory over what all operators hold, from 1 on. Absent: no bytes, no limits.
  std::optional<double> memory = {};
  double allowed = 0;   ///< share of operators that some of the devices may not run
  double colocate = 0;  ///< share of operators that share a label with one to three others
  bool operator==(const RandomDevices&) const = default;
};

/// Modules in a row (RandomDag::Family::kModules).
struct RandomModules {
  /// How operators of a module are joined, before its ends are: a random graph without directions,
  /// then every edge from the earlier operator to the later.
  enum class Wiring {
    kErdosRenyi,     ///< each two with the chance p
    kWattsStrogatz,  ///< a ring of k neighbours, each edge led elsewhere with the chance p
    kBarabasiAlbert  ///< each operator behind the first k to k of those before it, to the joined
  };
  /// Which of a module's inputs its paths begin at, and at which outputs they end.
  enum class Ends {
    kStrong,  ///< all at one, but for those of the other inputs and outputs
    kWeak     ///< each at one that is drawn
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

/// A network by chance, of one of several families. That of the HIOS paper, and the default, is
/// kLayered (Kundu and Shu, "HIOS: Hierarchical Inter-Operator Scheduler for Real-Time Inference of
/// DAG-Structured Deep Learning Models on Multiple GPUs", section V-A).
struct RandomDag {
  enum class Family {
    /// Layers, operators spread over them, at least one each; edges that lead to a later layer, no
    /// two between the same operators; every operator behind the first layer reads one of the layer
    /// before it, and none of the first is unread.
    kLayered,
    /// Blocks in a row, each a fork, branches of one to three operators and a join, which is the
    /// next block's fork. The last block has what is left.
    kForkJoin,
    /// A random recursive tree: each operator reads one of those before it, all alike likely; or
    /// its mirror image.
    kTree,
    /// Chains side by side, every operator at the end of one of them, all alike likely.
    kChain,
    /// The tasks of a tiled Cholesky factorization: as many tiles as `operators` have room for.
    kCholesky,
    kIndependent,  ///< no edges
    kDense,        ///< an edge between each two operators with the same chance
    /// Modules in a row, each wired by chance, with costs of their own: on gpu0 U[0.2, 1.4] ms, on
    /// gpu1 that times a lognormal number of mean 1.26 and deviation 0.5 (of its logarithm), on
    /// devices of the kind cpu of mean 7.1 and deviation 1; a transfer U[0.08, 0.22] ms; stages
    /// cost their sum (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping
    /// Neural Networks onto Heterogeneous Platforms", section V; Table II has the means).
    kModules,
    /// A graph without directions, edges then along an order that is drawn; tensors N(50, 10) MB, a
    /// transfer a millisecond a megabyte, operators as expensive as what they read and make and a
    /// share
    /// |N(0, 0.1)| of all tensors; stages cost their sum (Archer, Fahrbach, Liu and Prabhu,
    /// "Practical Performance Guarantees for Pipelined DNN Inference", appendix C.2).
    kRegal,
    /// A transformer encoder, an operator a head, and layers of LSTM cells, unrolled: no chance in
    /// them. Of a device with 1 TFLOP/s and 100 GB/s and a link with 10 GB/s.
    kBert,
    kLstm,
  };
  /// Of kRegal: G(n, 0.05); each joined to 2 before it; a ring of 4 neighbours, 0.3 of them led
  /// elsewhere; 4 blocks, 0.3 inside and 0.01 between.
  enum class Base { kErdosRenyi, kBarabasiAlbert, kWattsStrogatz, kBlocks };
  /// Whose time a transfer is a share of: its producer's in the paper, its consumer's in the
  /// simulator that was published with it.
  enum class Transfer { kProducer, kConsumer };
  /// Of a tree: from the root to the leaves, or from the leaves to the root.
  enum class Direction { kOut, kIn };

  std::size_t operators = 200;  ///< of kCholesky at most, of the others exactly
  /// Of kLayered. Absent: 2n, as in the paper, or as many as the layers have room for.
  std::optional<std::size_t> edges = {};
  std::size_t layers = 14;  ///< of kLayered, kBert and kLstm
  double p = 0.8;           ///< transfer time over that operator's time, at least 0.1 ms
  std::uint64_t seed = 0;
  Transfer transfer = Transfer::kProducer;
  Family family = Family::kLayered;
  std::size_t width = 4;                  ///< of kChain: chains; of kForkJoin: branches of a fork
  Direction direction = Direction::kOut;  ///< of kTree
  double density = 0.5;                   ///< of kDense: the chance of an edge
  RandomModules modules = {};             ///< of kModules, whose `operators` are all nodes
  Base base = Base::kErdosRenyi;          ///< of kRegal
  std::size_t heads = 12;                 ///< of kBert, whose `operators` these say, as of kLstm's
  std::size_t hidden = 768;               ///< of kBert and kLstm: numbers of a token or a state
  std::size_t length = 128;               ///< of kBert: tokens; of kLstm: steps
  RandomDevices devices = {};

  /// The most edges that there may be; of kDense ten standard deviations above the mean.
  std::size_t edges_at_most() const;
  /// How often operators name a device, in times and in lists of those allowed: about.
  std::size_t device_names(std::size_t device_count) const;
};

/// A network and the devices that it is for.
struct RandomProblem {
  Graph graph;
  Platform platform;
};

/// "n=200,edges=400,layers=14,p=0.8,seed=3,transfer=producer", "family=chain,width=8,n=50",
/// "modules=10,nodes=32,wiring=ws4-0.75,channels=2,ends=weak" (er0.2, ws4-0.75, ba5),
/// "family=regal,base=sbm,n=120" (er, ba, ws, sbm), "family=bert,layers=12,heads=12",
/// "family=lstm,layers=4,length=32,hidden=1024"; `kind` is another word for `family`;
/// "speeds=1x4:0.25,memory=1.02,allowed=0.2,colocate=0.1" (1x4 is 1:1:1:1). Of absent keys, layers
/// and width are as many of their defaults as there are operators for (of bert 12 layers, of lstm 4
/// with 32 steps); the others keep their defaults. Throws InputError that names the key: unknown,
/// given twice, no such value, one that the family has not, or one that the others make impossible.
RandomDag parse_random_dag(std::string_view text);

/// The network alone. But for kModules, kRegal, kBert and kLstm: times U[0.1, 4] ms, utilization
/// U[0.6, 1], transfer = max(0.1, p × time), stage cost `overlap` 0.5: the last two and the
/// utilization are not in the paper but in the published simulator. Depends on the parameters
/// alone, on any machine. Throws InputError where there is no such network (layers: more operators
/// than one need two) or where `devices` says anything: random_problem() is for that.
Graph random_dag(const RandomDag& parameters);

/// The same network for devices that are told by name. Labels are drawn first: groups of two to
/// four operators. Who is not allowed everywhere has a part of the devices, at least one and not
/// all, the same for all that share a label. Operators hold whole MiB, 1 to 8 of output (then the
/// size of the edges that carry it) and 0 to 16 of parameters. Memory fits: operators are dealt out
/// to the devices that may run them, one that holds the least each time, and a device's limit is
/// what it got and its share of the rest; so that there is a placement, even where nothing is to
/// spare. Transfers are shares of the time at speed 1.
/// Throws InputError as random_dag(), and where the devices are not as many as speeds, only one
/// where some are not allowed, or have limits of their own that differ from those drawn.
RandomProblem random_problem(const RandomDag& parameters, const Platform& platform);

}  // namespace hios
