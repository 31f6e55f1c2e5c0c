// Chooses the pairs of ranks and stores their curves; transfer_times() measures one pair.
#include "engine/measure/transfers/transfers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/measure/transfers/transfer_times.h"
#include "hios/base/log.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

using RankPair = std::pair<Rank, Rank>;

std::vector<RankPair> missing_pairs(const ProfilerContext& context,
                                    std::span<Configuration* const> into) {
  const auto known = [&](std::size_t from, std::size_t to) {
    const auto& curves = into[context.team_of(Rank(from))]->transfers;
    return std::any_of(curves.begin(), curves.end(),
                       [&](const auto& curve) { return curve.from == from && curve.to == to; });
  };
  std::vector<RankPair> missing;
  for (std::size_t from = 0; from < context.transport.size(); ++from) {
    for (std::size_t to = from + 1; to < context.transport.size(); ++to) {
      if (!known(from, to) || !known(to, from)) missing.emplace_back(from, to);
    }
  }
  return mpi::broadcast(context.transport, missing);
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

}  // namespace

Measured measure_transfers(const ProfilerContext& context, std::span<Configuration* const> into,
                           Bytes largest) {
  const Stopwatch stopwatch;
  const std::vector<RankPair> missing = missing_pairs(context, into);
  if (missing.empty()) return {};
  Measured measured{.missing = 2 * missing.size()};
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
    measured.stopped = !curve;
    if (measured.stopped) break;
    for (int direction = 0; direction < 2; ++direction, std::swap(curve->from, curve->to)) {
      put(*curve, into[context.team_of(Rank(curve->from))]->transfers);
      ++measured.done;
    }
  }
  for (std::size_t team = 0; team < into.size(); ++team) {
    context.describe(*into[team], stopwatch, team);
  }
  return measured;
}

}  // namespace hios
