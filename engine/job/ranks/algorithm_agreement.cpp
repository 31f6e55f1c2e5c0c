#include "engine/job/ranks/algorithm_agreement.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "engine/backend/certification.h"
#include "engine/backend/operation.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/platform/device_identity.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {
namespace {

constexpr std::size_t kMostOfFileName = 200;

/// Returns the library that a backend computes with, and its version.
std::string named_library(const Backend& backend) {
  const Json facts = backend.describe();
  const auto library = facts.find("library");
  return library != facts.end() && library->is_string() ? library->get<std::string>()
                                                        : std::string("of its own");
}

void adopt(Backend& backend, const KnownAlgorithms& known) {
  try {
    backend.adopt(known.algorithms);
  } catch (const InputError& error) {
    if (known.file.empty()) throw;
    throw InputError(printable(known.file, kMostOfFileName) + ": " + error.what());
  }
}

/// The choice of one rank, for all ranks with the same backend.
struct Choice {
  Json algorithms = Json::object();
  ReportAlgorithms origin = {};
  std::vector<std::string> uncertified = {};

  static auto fields(auto& self) {
    auto& origin = self.origin;
    return std::tie(self.algorithms, origin.source, origin.from_profile, origin.chosen,
                    origin.by_default, origin.digest, self.uncertified);
  }
};

std::string source_text(const ReportAlgorithms& origin, const Backend& backend,
                        const std::string& profile, Rank rank) {
  const std::string file = printable(profile, kMostOfFileName);
  const std::string own = "rank " + std::to_string(rank.index()) + " chose";
  if (origin.from_profile > 0) {
    const std::string of_profile = "the algorithms of " + (profile.empty() ? "the profile" : file);
    if (origin.chosen == 0) return of_profile;
    return of_profile + " and, for operators that it lacks, those that " + own;
  }
  const std::string text = origin.chosen > 0
                               ? "the algorithms that " + own
                               : "backend " + std::string(backend.name()) + "'s default algorithms";
  return profile.empty() ? text : text + ", as " + file + " names none for this network";
}

/// Returns the number in which an operator with these algorithms counts.
std::size_t& origin_of(const Json& algorithms, const Json& known, ReportAlgorithms& origin) {
  if (algorithms.empty()) return origin.by_default;
  for (const auto& [key, name] : algorithms.items()) {
    if (!known.contains(key)) return origin.chosen;
  }
  return origin.from_profile;
}

/// Returns the algorithms of a shard: those of its whole operator, so that it gives its bits. On a
/// device whose algorithms have keys of their own, it has its own.
Json algorithms_of_shard(Backend& backend, const Operation& whole, const Operation& shard,
                         Choosing how) {
  const bool times = how == Choosing::kByTiming;
  Json algorithms = backend.algorithms(whole, times ? Choosing::kByTimingInParts : how);
  const auto found = algorithms.find(whole.signature);
  if (found == algorithms.end()) return backend.algorithms(shard, Choosing::kByRule);
  algorithms[shard.signature] = *found;
  return algorithms;
}

/// Returns the operators that were cut, by their shards.
std::map<OpId, const CutOperator*> by_shard(const Certification& certification) {
  std::map<OpId, const CutOperator*> wholes;
  for (const CutOperator& cut : certification.operators()) {
    for (const ShardOperator& shard : cut.shards) wholes[shard.op] = &cut;
  }
  return wholes;
}

/// Returns the rows of the blocks that both an operator and its shards consist of; 0 if they were
/// cut by channels, or the blocks would be much smaller than the shards.
std::int64_t block_rows(const CutOperator& cut) {
  std::int64_t rows = 0;
  for (const ShardOperator& shard : cut.shards) {
    if (shard.range.axis != Axis::kH) return 0;
    rows = std::gcd(rows, shard.range.begin);
  }
  const auto shards = static_cast<std::int64_t>(cut.shards.size());
  return rows * shards * 2 >= cut.shards.back().range.end ? rows : 0;
}

/// Sets the algorithms of an operator that was cut, and of its shards, to others, whose bits depend
/// on the image less: first those that do so least of all on whole images, then blocks of rows.
/// Returns false where there are no more.
bool take_other_algorithms(Backend& backend, const Certification& certification,
                           const CutOperator& cut, int attempt, Json& algorithms) {
  const Operation whole = certification.whole(cut);
  const std::int64_t rows = block_rows(cut);
  if (attempt > 1 || (attempt == 1 && rows == 0)) return false;
  const Json others = attempt == 0 ? backend.algorithms(whole, Choosing::kLikeParts)
                                   : backend.in_blocks_of_rows(whole, rows);
  algorithms.update(others);
  const auto found = others.find(whole.signature);
  for (std::size_t i = 0; found != others.end() && i < cut.shards.size(); ++i) {
    algorithms[certification.shard(cut, i).signature] = *found;
  }
  return true;
}

/// Lets operators that were cut, and their shards, compute by other algorithms where shards have
/// other bits by the timed ones; one operator after another, until none changes any more.
class Certifier {
 public:
  Certifier(Backend& backend, Certification& certification, Json& algorithms)
      : backend_(backend),
        certification_(certification),
        algorithms_(algorithms),
        progress_("certifying cut operators") {}

  /// Compares the next operator; returns false where there is none.
  bool certify_next() {
    const std::vector<CutOperator>& operators = certification_.operators();
    if (next_ == operators.size()) {
      if (!changed_) return false;
      next_ = 0;  // other cuts of an equal operator change with it
      changed_ = false;
    }
    if (next_ == 0) backend_.adopt(algorithms_);
    const CutOperator& cut = operators[next_++];
    progress_.update(next_, operators.size(), -1);
    if (failed_.contains(cut.name) || certification_.certifies(cut)) return true;
    changed_ = true;
    if (!take_other_algorithms(backend_, certification_, cut, attempts_[cut.name]++, algorithms_)) {
      failed_.insert(cut.name);
    }
    backend_.adopt(algorithms_);
    return true;
  }

  /// Returns the names of the operators for which no other algorithm helps.
  std::vector<std::string> uncertified() const { return {failed_.begin(), failed_.end()}; }

 private:
  Backend& backend_;
  Certification& certification_;
  Json& algorithms_;
  log::Progress progress_;
  std::size_t next_ = 0;
  bool changed_ = false;  ///< some algorithm, since the first operator
  std::map<std::string, int> attempts_;
  std::set<std::string> failed_;
};

/// The choice of one rank for all operators, one after another. The backend has adopted `known`.
class Chooser {
 public:
  Chooser(Backend& backend, const CoarseGraph& coarse, const Model& model,
          const KnownAlgorithms& known, Choosing how, int streams)
      : backend_(backend),
        coarse_(coarse),
        model_(model),
        known_(known),
        how_(how),
        certification_(backend, coarse, model, streams),
        wholes_(by_shard(certification_)) {
    progress_.emplace("choosing algorithms, operator");
    // Shards first: operators that equal their wholes then compute as these do.
    const auto topological = coarse.graph.topological();
    order_.assign(topological.begin(), topological.end());
    std::ranges::stable_partition(order_, [&](OpId op) { return wholes_.contains(op); });
  }

  /// Chooses for the operator of this position in an order of its own.
  void choose(std::size_t position) {
    progress_->update(position + 1, order_.size(), -1);
    const OpId op = order_[position];
    const Operation operation = operation_of(coarse_, model_, op);
    if (backend_.unsupported(operation)) return;
    const auto cut = wholes_.find(op);
    const Json of_one =
        cut == wholes_.end()
            ? backend_.algorithms(operation, how_)
            : algorithms_of_shard(backend_, certification_.whole(*cut->second), operation, how_);
    ++origin_of(of_one, known_.algorithms, all_.origin);
    all_.algorithms.update(of_one);
  }

  /// Certifies the next operator that was cut, by timed algorithms; returns false where there is
  /// none. REQUIRES: choose() was called for all positions.
  bool certify_next() {
    if (!certifier_) {
      progress_.reset();  // one line at a time
      certifier_.emplace(backend_, certification_, all_.algorithms);
    }
    return certifier_->certify_next();
  }

  /// Returns the choice. REQUIRES: choose() was called for all positions, and nothing is left to
  /// certify.
  Choice finish(Rank rank) {
    if (certifier_) all_.uncertified = certifier_->uncertified();
    all_.origin.source = source_text(all_.origin, backend_, known_.file, rank);
    all_.origin.digest = Digest().add(all_.algorithms.dump()).hex();
    return std::move(all_);
  }

 private:
  Backend& backend_;
  const CoarseGraph& coarse_;
  const Model& model_;
  const KnownAlgorithms& known_;
  Choosing how_;
  Certification certification_;
  std::map<OpId, const CutOperator*> wholes_;
  std::optional<log::Progress> progress_;
  std::vector<OpId> order_;
  Choice all_;
  std::optional<Certifier> certifier_;  // refers to all_
};

/// A rank's part in the agreement.
struct Chooses {
  std::string backend;  ///< ranks with equal texts compute by the same algorithms
  bool tries = false;   ///< its choices may take seconds each: it tries candidates
  static auto fields(auto& self) { return std::tie(self.backend, self.tries); }
};

}  // namespace

AgreedAlgorithms agree_on_algorithms(mpi::Transport& transport, Backend& backend,
                                     const CoarseGraph& coarse, const Model& model,
                                     const KnownAlgorithms& known, Choosing how,
                                     std::optional<int> certified_streams) {
  const Chooses mine{std::string(backend.name()) + " on " + std::string(backend.kind()) + " in " +
                         std::string(to_string(backend.precision())) + " " +
                         DeviceIdentity::of(backend.describe()).text(),
                     how == Choosing::kByTiming || backend.accelerator() != nullptr};
  const std::vector<Chooses> ranks = mpi::gather(transport, mine);
  const auto like_mine = [&](const Chooses& rank) { return rank.backend == mine.backend; };
  const auto first =
      static_cast<std::size_t>(std::ranges::find_if(ranks, like_mine) - ranks.begin());
  std::optional<Chooser> chooser;
  mpi::agreed(transport, [&] {
    if (first != transport.rank().index()) return;
    adopt(backend, known);
    chooser.emplace(backend, coarse, model, known, how, certified_streams.value_or(1));
  });
  const std::size_t operators = coarse.graph.size();
  const auto choose = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; chooser && i < end; ++i) chooser->choose(i);
  };
  // Watchdogs of all ranks see progress after each operator that is tried or certified.
  const std::size_t step = std::ranges::any_of(ranks, &Chooses::tries) ? 1 : operators;
  for (std::size_t i = 0; i < operators; i += step) {
    mpi::agreed(transport, [&] { choose(i, i + step); });
  }
  for (bool more = certified_streams || how == Choosing::kByTiming; more;) {
    const bool mine_too =
        mpi::agreed(transport, [&] { return chooser && chooser->certify_next(); });
    const std::vector<bool> by_rank = mpi::gather(transport, mine_too);
    more = std::ranges::find(by_rank, true) != by_rank.end();
  }
  const Choice chosen = mpi::agreed(
      transport, [&] { return chooser ? chooser->finish(transport.rank()) : Choice(); });
  chooser.reset();  // which ends the line of progress
  const Choice agreed = mpi::gather(transport, chosen)[first];
  mpi::agreed(transport, [&] { backend.adopt(agreed.algorithms); });
  return {.algorithms = agreed.algorithms,
          .origin = agreed.origin,
          .by_all = std::ranges::all_of(ranks, like_mine),
          .uncertified = agreed.uncertified};
}

void require_certified(const AgreedAlgorithms& agreed, const Backend& backend, const Cuts& cuts) {
  if (agreed.uncertified.empty()) return;
  const std::size_t others = agreed.uncertified.size() - 1;
  const auto cut = std::ranges::find(cuts, agreed.uncertified.front(), &Cut::op);
  throw InputError((cut == cuts.end() ? "cuts" : cut->where) + ": operator " +
                   quote(agreed.uncertified.front()) +
                   (others > 0 ? " and " + std::to_string(others) + " more" : std::string()) +
                   " cannot be cut here: its shards would give other bits on backend " +
                   std::string(backend.name()) + " (" + named_library(backend) +
                   "); leave it out of the cuts");
}

}  // namespace hios::job
