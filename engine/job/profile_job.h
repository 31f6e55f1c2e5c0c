#pragma once

#include <cstdint>
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
#include "hios/graph/network.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"
#include "mpi/routes/route.h"

/// A network's operators, stages and transfers measured on the ranks of a job, from plain values.
/// The program that measures (cli/profile) is this with flags in front and files behind.
///
///   read      a network, the profile so far (or an empty one), ProfileOptions
///     │
///   agree     every rank holds the same, and their backends can do it                ┐
///     │                                                                              │
///     ProfileJob()
///   set up    cores and backend of each rank · routes of tensors · which ranks are   │
///     │       alike (teams) · algorithms                                             ┘
///     │
///   measure   operators · transfers · what many inferences in flight need · stages,    measure()
///     │     for as long as somebody asks for more
///     │
///   report    profile(): for to_json and a file
///
/// Every step is taken by all ranks together. Input that is bad, on whichever rank, ends in the
/// same InputError on all, before anything is measured.
namespace hios::job {

/// The same on all ranks.
struct ProfileOptions {
  RankOptions ranks = {};
  const mpi::Route* route = nullptr;       ///< between devices; null: the best that works
  int threads = 1;                         ///< cores of each rank that computes on cores
  Precision precision = Precision::kFp32;  ///< see devices_of_ranks
  int streams = 1;                         ///< the most groups of operators at once on a rank
  /// Warm-up sweeps and measured ones; these go on until they have settled.
  Protocol protocol = {.settle_s = 20};
  std::uint64_t seed = 0;                   ///< of weights and input
  Bytes largest_message = kLargestMessage;  ///< transfers are measured from 1 KB up to this
  double stages_limit_s = 60;               ///< for measuring stages
  /// What many inferences in flight need besides: charges of transfers, and operators in parts of
  /// the network (Profiler::measure_charges, measure_warm).
  bool throughput = false;
  Json provenance = Json::object();  ///< kept in the machine of each configuration
};

/// What each rank measures with, by rank. A rank whose backend has not the arithmetic asked for
/// measures in fp32 beside one that has it, where their tensors' elements are of one size. Throws
/// InputError where no backend has it, or tensors would differ.
std::vector<RankDevice> devices_of_ranks(const ProfileOptions& options, std::size_t ranks);

/// Stages to be measured, by the configuration of the profile that lacks them.
using WantedStages = std::map<const Configuration*, std::vector<Stage>>;

/// Says which stages the profile still lacks; asked on rank 0, again and again, until it wants
/// nothing. It should answer within `time_limit_s`.
using AskStages = std::function<WantedStages(const Platform& platform, const Profile& profile,
                                             double time_limit_s)>;

/// How the measuring ended.
enum class Ended {
  kComplete,
  kOutOfTime,  ///< before all stages were measured; schedulers estimate the others
  kStopped,    ///< by Protocol::stop; there may be nothing at all of some operators and transfers
};

/// Who measures, known before anything is measured.
struct ProfileSetup {
  std::vector<RankDevice> devices;  ///< by rank
  std::string transfer_path;        ///< Transport::path() of the tensors
  std::string routes;               ///< a table rank x rank, for people; empty: no devices
  std::vector<Trouble> troubles;    ///< what of the surroundings spoils times
};

/// One job, on each of its ranks. Used by the main thread; all calls are collective. `watch` (which
/// has the transport) and `network` outlive it.
class ProfileJob {
 public:
  /// Agrees and sets up. `known`: what was measured before, and is not measured again. Throws
  /// InputError, the same on all ranks.
  ProfileJob(Watch& watch, const Network& network, Profile known, const ProfileOptions& options);
  ~ProfileJob();

  const ProfileSetup& setup() const;

  /// Measures operators, transfers, what ProfileOptions::throughput asks for, and the stages that
  /// `ask` wants. Once.
  Ended measure(const AskStages& ask = {});

  /// The same on every rank: all that is known by now.
  const Profile& profile() const;
  /// The configurations that this job fills.
  const std::vector<Configuration*>& configurations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios::job
