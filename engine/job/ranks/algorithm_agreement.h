#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/base/json/owned_json.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/report/report.h"
#include "mpi/transport.h"

namespace hios::job {

/// The algorithms of a profile's device (Profile::algorithms).
struct KnownAlgorithms {
  OwnedJson algorithms = {};
  std::string file = {};  ///< the profile's file, for messages only; empty: there is no profile
};

/// The algorithms by which a rank computes from now on.
struct AgreedAlgorithms {
  OwnedJson algorithms;     ///< empty where the backend has no choice, or makes none
  ReportAlgorithms origin;  ///< of these; `source` names the rank that chose
  bool by_all = false;      ///< every rank of the job computes by these: all have rank 0's choice
  /// Operators that were cut and whose shards have other bits than the whole by all algorithms;
  /// none where they were not certified.
  std::vector<std::string> uncertified = {};
};

/// Lets all ranks with the same backend and arithmetic, on the same kind of GPU, compute by the
/// same algorithms, so that N of them give the bits of one. The first of them chooses for all
/// operators that its backend supports, `known` first, and the others adopt its choice.
/// Collective: an algorithm that some rank's backend does not know ends all ranks with the same
/// InputError. With `certified_streams` or Choosing::kByTiming, the shards of each operator that
/// was cut are certified for stages of up to so many groups, or one
/// (engine/backend/certification.h); where the algorithms chosen fail, those that depend on the
/// image least are taken, and in the end blocks of rows that the whole and its shards share. Where
/// a rank tries candidates, which takes seconds for some operators, all ranks hear of each other
/// after each operator, and after each that is certified. Rank 0 shows its progress. REQUIRES:
/// nothing is bound yet.
AgreedAlgorithms agree_on_algorithms(mpi::Transport& transport, Backend& backend,
                                     const CoarseGraph& coarse, const Model& model,
                                     const KnownAlgorithms& known, Choosing how,
                                     std::optional<int> certified_streams = {});

/// Throws InputError that names an operator, the place of its cut, the backend and its version if
/// some operator was not certified.
void require_certified(const AgreedAlgorithms& agreed, const Backend& backend, const Cuts& cuts);

}  // namespace hios::job
