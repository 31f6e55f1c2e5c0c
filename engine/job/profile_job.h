#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/job/ranks/ranks.h"
#include "engine/job/ranks/surroundings.h"
#include "engine/job/ranks/watch.h"
#include "engine/measure/profiler.h"
#include "engine/measure/protocol.h"
#include "hios/base/json/owned_json.h"
#include "hios/graph/network.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"
#include "mpi/routes/route.h"

/// A network's operators, stages and transfers measured on the ranks of a job, from plain values.
/// The program that measures (cli/profile) reads flags before this and writes files after it.
///
///   read      a network, the profile so far (or an empty one), ProfileOptions
///     │
///   agree     every rank holds the same, and their backends can do it                ┐
///     │                                                                              │
///     ProfileJob()
///   set up    cores and backend of each rank · routes of tensors · which ranks are   │
///     │       alike (teams) · algorithms                                             ┘
///     │
///   measure   operators · transfers · charges and operators in blocks, for many        measure()
///     │     inferences in flight · loads and operators in place, for cold starts ·
///     │     stages, as long as the program asks for more
///     │
///   report    profile(): for to_json and a file
///
/// Every step is taken by all ranks together. Input that is bad, on whichever rank, ends in the
/// same InputError on all, before anything is measured.
namespace hios::job {

/// The options of a profile job. The same on all ranks.
struct ProfileOptions {
  RankOptions ranks = {};
  const mpi::Route* route = nullptr;       ///< between devices; null: the best that works
  int threads = 1;                         ///< cores of each rank that computes on cores
  Precision precision = Precision::kFp32;  ///< see devices_of_ranks
  int streams = 1;                         ///< the most groups of operators at once on a rank
  /// Warm-up sweeps and measured ones; these go on until they have settled.
  Protocol protocol = {.settle_s = 20};
  std::uint64_t seed = 0;                   ///< seed of weights and input
  Bytes largest_message = kLargestMessage;  ///< transfers are measured from 1 KB up to this
  double stages_limit_s = 60;               ///< for measuring stages
  /// Measures also the costs of many inferences in flight: charges of transfers by the whole
  /// protocol, which are measured quickly between the ranks of one host in any case, and operators
  /// in blocks of the network (Profiler::measure_charges, measure_warm).
  bool throughput = false;
  /// Measures also the costs of cold starts: loads, and operators in place
  /// (Profiler::measure_loads, measure_in_place).
  bool cold_start = false;
  /// With `cold_start`: the parameters on a disk, packed for this backend; empty: none are there.
  std::filesystem::path packed_weights = {};
  /// Measures shards that do not give the bits of their whole operators, too, and lists their
  /// signatures in the machine of each configuration ("uncertified"), so that a search leaves these
  /// cuts out. False: they are refused.
  bool lists_uncertified = false;
  OwnedJson provenance = {};  ///< kept in the machine of each configuration
};

/// Returns the device of each rank, by rank. A rank whose backend lacks the wanted arithmetic
/// measures in fp32, if some other rank has that arithmetic and the elements of both are of one
/// size. Throws InputError where no backend has it, or element sizes differ.
std::vector<RankDevice> devices_of_ranks(const ProfileOptions& options, std::size_t ranks);

/// Stages to be measured, by the configuration of the profile that lacks them.
using WantedStages = std::map<const Configuration*, std::vector<Stage>>;

/// Returns the stages that the profile still lacks. Called on rank 0, repeatedly, until it returns
/// none. It should return within `time_limit_s`.
using AskStages = std::function<WantedStages(const Platform& platform, const Profile& profile,
                                             double time_limit_s)>;

/// The end of a measurement.
enum class Ended {
  kComplete,
  kOutOfTime,  ///< before all stages were measured; schedulers estimate the others
  kStopped,    ///< by Protocol::stop; some operators and transfers may have no times
};

/// The devices and routes of the job, known before anything is measured.
struct ProfileSetup {
  std::vector<RankDevice> devices;    ///< by rank
  std::string transfer_path;          ///< Transport::path() of the tensors
  std::string routes;                 ///< a table rank x rank, for people; empty: no devices
  std::vector<HostWarning> warnings;  ///< facts of the hosts that spoil times
};

/// One job, on each of its ranks. Used by the main thread; all calls are collective. `watch` (which
/// has the transport) and `network` outlive it.
class ProfileJob {
 public:
  /// Agrees and sets up. Measurements in `known` are not repeated. Throws InputError, the same on
  /// all ranks.
  ProfileJob(Watch& watch, const Network& network, Profile known, const ProfileOptions& options);
  ~ProfileJob();

  const ProfileSetup& setup() const;

  /// Measures operators, transfers, the costs of ProfileOptions::throughput and cold_start, and
  /// the stages that `ask` returns. Called once.
  Ended measure(const AskStages& ask = {});

  /// Returns all measurements so far, the same on every rank.
  const Profile& profile() const;
  /// Returns the configurations that this job fills.
  const std::vector<Configuration*>& configurations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios::job
