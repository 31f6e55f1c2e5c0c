// Chooses the pairs of ranks and stores their curves; transfer_times() measures one pair.
#include "engine/measure/transfers/transfers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/measure/transfers/shared_share.h"
#include "engine/measure/transfers/shared_times.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/base/log.h"
#include "mpi/exchange.h"
#include "mpi/shared/shared_arena.h"

namespace hios {
namespace {

using RankPair = std::pair<Rank, Rank>;

bool share(std::span<const std::size_t> sharers, Rank a, Rank b) {
  return !sharers.empty() && sharers[a.index()] == sharers[b.index()];
}

std::vector<RankPair> missing_pairs(const ProfilerContext& context,
                                    std::span<Configuration* const> into,
                                    std::span<const std::size_t> sharers) {
  const auto known = [&](std::size_t from, std::size_t to) {
    const auto& curves = into[context.team_of(Rank(from))]->transfers;
    return std::any_of(curves.begin(), curves.end(), [&](const TransferCurve& curve) {
      return curve.from == from && curve.to == to &&
             (!curve.shared.empty() || !share(sharers, Rank(from), Rank(to)));
    });
  };
  std::vector<RankPair> missing;
  for (std::size_t from = 0; from < context.transport.size(); ++from) {
    for (std::size_t to = from + 1; to < context.transport.size(); ++to) {
      if (!known(from, to) || !known(to, from)) missing.emplace_back(from, to);
    }
  }
  return mpi::broadcast(context.transport, missing);
}

/// Adds the times in shared memory to a pair's curve, or takes it away where the measurement ended
/// early.
void measure_shared(const ProfilerContext& context, std::byte* arena, Bytes largest,
                    std::optional<TransferCurve>& curve) {
  const Rank from(curve->from), to(curve->to), me = context.transport.rank();
  std::byte* const mine = me == from || me == to ? arena : nullptr;
  const auto shared =
      shared_times(context.transport, context.backend, context.protocol, context.disturbance,
                   {from, to, mine, curve->points.front().second}, largest);
  if (shared) {
    curve->shared = *shared;
  } else {
    curve.reset();
  }
}

/// Replaces the pair's curve; curves are in the order of their ranks.
void put(const TransferCurve& curve, std::vector<TransferCurve>& curves) {
  std::erase_if(curves, [&](const TransferCurve& old) {
    return old.from == curve.from && old.to == curve.to;
  });
  curves.push_back(curve);
  std::sort(curves.begin(), curves.end(), [](const TransferCurve& a, const TransferCurve& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
}

/// Returns true if a curve is of one of these pairs, in either direction, with shared memory.
bool is_shared_of(const TransferCurve& curve, const std::vector<RankPair>& pairs) {
  const RankPair pair(Rank(std::min(curve.from, curve.to)), Rank(std::max(curve.from, curve.to)));
  return !curve.shared.empty() && std::ranges::count(pairs, pair) > 0;
}

/// Returns the share by which known curves were scaled; empty where there is none.
std::optional<SharedShare> known_share(std::span<Configuration* const> into) {
  for (const Configuration* const each : into) {
    if (!each->protocol->is_object() || !each->protocol->contains("shared")) continue;
    const Json& shared = each->protocol->at("shared");
    const auto has = [&](const char* key) {
      return shared.is_object() && shared.contains(key) && shared.at(key).is_number();
    };
    if (!has("share") || !has("samples")) continue;
    return SharedShare{std::clamp(shared.at("share").get<double>(), 0.0, 1.0),
                       shared.at("samples").get<std::int64_t>()};
  }
  return {};
}

/// Scales the curves of these pairs by the share that operators lose: the known one, or one that is
/// measured for all curves. Returns false where the measurement ended early.
bool scale_shared(const ProfilerContext& context, std::span<Configuration* const> into,
                  std::span<const std::size_t> sharers, const std::vector<RankPair>& pairs) {
  const std::optional<SharedShare> known = known_share(into);
  const auto share = known ? known : measure_shared_share(context, into, sharers);
  if (!share) return false;
  for (Configuration* const each : into) {
    for (TransferCurve& curve : each->transfers) {
      if (known ? !is_shared_of(curve, pairs) : curve.shared.empty()) continue;
      const double signal_ms = curve.points.front().second;
      for (auto& [size, ms] : curve.shared) ms = signal_ms + share->share * (ms - signal_ms);
      if (share->samples == 0) continue;
      each->protocol["shared"] = {{"share", share->share}, {"samples", share->samples}};
    }
  }
  return true;
}

/// Removes curves that were not scaled; returns their number. The next profile measures them.
std::size_t remove_shared(std::span<Configuration* const> into,
                          const std::vector<RankPair>& pairs) {
  std::size_t removed = 0;
  for (Configuration* const each : into) {
    removed += std::erase_if(
        each->transfers, [&](const TransferCurve& curve) { return is_shared_of(curve, pairs); });
  }
  return removed;
}

}  // namespace

Measured measure_transfers(const ProfilerContext& context, std::span<Configuration* const> into,
                           Bytes largest, std::span<const std::size_t> sharers) {
  const Stopwatch stopwatch;
  const std::vector<RankPair> missing = missing_pairs(context, into, sharers);
  if (missing.empty()) return {};
  Measured measured{.missing = 2 * missing.size()};
  const auto arena =
      mpi::open_shared_arena(context.transport, sharers, sharers.empty() ? 0 : largest);
  std::optional<log::Progress> progress;
  if (context.leader()) progress.emplace("measuring transfers, pair of ranks");
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const auto [from, to] = missing[i];
    const double left = static_cast<double>(missing.size() - i);
    if (progress) {
      progress->update(i, missing.size(),
                       i == 0 ? -1 : stopwatch.seconds() * left / static_cast<double>(i));
    }
    std::optional<TransferCurve> curve =
        transfer_times(context.transport, context.backend, context.protocol, context.disturbance,
                       from, to, largest);
    if (curve && share(sharers, from, to)) {
      measure_shared(context, arena ? arena->data() : nullptr, largest, curve);
    }
    measured.stopped = !curve;
    if (measured.stopped) break;
    for (int direction = 0; direction < 2; ++direction, std::swap(curve->from, curve->to)) {
      put(*curve, into[context.team_of(Rank(curve->from))]->transfers);
      ++measured.done;
    }
  }
  progress.reset();
  const bool some_share = std::ranges::any_of(
      missing, [&](const RankPair& pair) { return share(sharers, pair.first, pair.second); });
  if (some_share && !measured.stopped)
    measured.stopped = !scale_shared(context, into, sharers, missing);
  if (measured.stopped) measured.done -= remove_shared(into, missing);
  for (std::size_t team = 0; team < into.size(); ++team) {
    context.describe(*into[team], stopwatch, team);
  }
  return measured;
}

}  // namespace hios
