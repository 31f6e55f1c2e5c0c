// Chooses the tensors and ranks, and sums the times; charge_of_transfer() measures one transfer.
#include "engine/measure/transfers/charges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/measure/block_run.h"
#include "engine/measure/transfers/transfer_charge.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/base/log.h"
#include "hios/evaluate/blocks.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

/// The work of ranks meanwhile: enough operators to be like the whole network.
constexpr double kWorkMs = 5;
constexpr std::size_t kMostOperators = 24;
// By ChargeEffort::kQuick.
constexpr std::size_t kFewTransfers = 6, kFewTensors = 4;
constexpr int kFewRounds = 7;
/// Transfers alone find all in caches: 0.06 ms per MB on two cores, where a receiver that computes
/// was busy for 0.11.
constexpr double kMostOfQuick = 3;

/// Returns three sizes, such that tensors of about each size have a third of the bytes of all
/// tensors. Larger tensors than those of measured transfers count as the largest.
std::vector<Bytes> typical_sizes(const Graph& graph) {
  std::vector<Bytes> sizes;
  double all = 0;
  for (const OpId op : graph.topological()) {
    if (graph.out_edges(op).empty() || tensor_bytes(graph, op) == 0) continue;
    sizes.push_back(std::min(tensor_bytes(graph, op), kLargestMessage));
    all += static_cast<double>(sizes.back());
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<Bytes> typical;
  double below = 0;
  constexpr std::array kShares = {1.0 / 6, 3.0 / 6, 5.0 / 6};
  std::size_t next = 0;
  for (const Bytes size : sizes) {
    below += static_cast<double>(size);
    for (; next < kShares.size() && below >= kShares[next] * all; ++next) {
      if (typical.empty() || typical.back() != size) typical.push_back(size);
    }
  }
  return typical;
}

/// The block that ranks compute meanwhile, from the middle of the network on.
struct Work {
  NetworkBlock block;
  double operator_ms = 0;  ///< on average
  static auto fields(auto& self) { return std::tie(self.block, self.operator_ms); }
};

Work choose_work(const Graph& graph, const Configuration& configuration) {
  const auto order = graph.topological();
  const auto ms_of = [&](std::size_t i) {
    return configuration.operators.at(graph.op(order[i]).signature).ms;
  };
  std::size_t first = order.size() / 2, end = first;
  double sum_ms = 0;
  const auto enough = [&] { return sum_ms >= kWorkMs || end - first >= kMostOperators; };
  while (end < order.size() && !enough()) sum_ms += ms_of(end++);
  while (first > 0 && !enough()) sum_ms += ms_of(--first);
  return {{first, end - first}, sum_ms / static_cast<double>(end - first)};
}

/// Returns the profile's time of a tensor from one rank to another; empty where it has no such
/// curve.
std::optional<double> transfer_ms(const ProfilerContext& context,
                                  std::span<Configuration* const> into, Rank from, Rank to,
                                  Bytes size_bytes) {
  for (const TransferCurve& curve : into[context.team_of(from)]->transfers) {
    if (curve.from == from.index() && curve.to == to.index() && !curve.points.empty())
      return curve.transfer_ms(size_bytes);
  }
  return {};
}

/// Returns the transfers to be measured.
std::vector<TransferToCharge> transfers_to_charge(const ProfilerContext& context,
                                                  std::span<Configuration* const> into,
                                                  double operator_ms) {
  std::vector<TransferToCharge> all;
  const std::size_t ranks = context.transport.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Rank from(rank), to((rank + 1) % ranks);
    for (const Bytes size : typical_sizes(context.coarse.graph)) {
      const auto ms = transfer_ms(context, into, from, to, size);
      if (ms && *ms > 0) all.push_back({from, to, size, *ms, operator_ms});
    }
  }
  return all;
}

/// Keeps a few of the transfers, of all ranks and sizes in turn, of few tensors each.
void make_few(std::vector<TransferToCharge>& transfers) {
  const std::size_t step = (transfers.size() + kFewTransfers - 1) / kFewTransfers;
  std::vector<TransferToCharge> few;
  for (std::size_t i = 0; i < transfers.size(); i += step) {
    few.push_back(transfers[i]);
    few.back().most_tensors = kFewTensors;
  }
  transfers = std::move(few);
}

/// Returns the repetitions of each transfer.
Protocol rounds_of(const Protocol& protocol, ChargeEffort effort) {
  Protocol rounds = protocol;
  if (effort == ChargeEffort::kWhole) return rounds;
  rounds.warmup = std::min(rounds.warmup, 1);
  rounds.iterations = std::min(rounds.iterations, kFewRounds);
  return rounds;
}

/// Sums over the transfers that the ranks of a team sent and received, in ms.
struct Sums {
  double send_ms = 0, sent_ms = 0;         ///< the senders' own time; that of the transfers alone
  double receive_ms = 0, received_ms = 0;  ///< the same for receivers
  std::int64_t samples = 0;
  Json measured = Json::array();

  /// Returns the receivers' share of the transfers' time.
  double received() const { return receive_ms / received_ms; }

  std::optional<MeasuredCharge> charge() const {
    if (sent_ms <= 0 || received_ms <= 0) return {};
    return MeasuredCharge{{std::clamp(send_ms / sent_ms, 0.0, kMostIoCharge),
                           std::clamp(received(), 0.0, kMostIoCharge)},
                          samples};
  }
};

void add(const ProfilerContext& context, const TransferToCharge& transfer,
         const ChargedTransfer& charged, std::vector<Sums>& by_team) {
  Sums& sender = by_team[context.team_of(transfer.from)];
  Sums& receiver = by_team[context.team_of(transfer.to)];
  sender.send_ms += charged.send_ms;
  sender.sent_ms += transfer.transfer_ms;
  sender.samples += charged.samples;
  receiver.receive_ms += charged.receive_ms;
  receiver.received_ms += transfer.transfer_ms;
  sender.measured.push_back({{"from", transfer.from.index()},
                             {"to", transfer.to.index()},
                             {"bytes", transfer.size_bytes},
                             {"transfer_ms", transfer.transfer_ms},
                             {"send_ms", charged.send_ms},
                             {"receive_ms", charged.receive_ms}});
}

/// Returns true if the receivers' time cannot be; then one line on rank 0 says so.
bool refused(const ProfilerContext& context, const Sums& sums) {
  if (sums.received_ms <= 0 || (sums.received() >= 0 && sums.received() <= kMostOfQuick))
    return false;
  if (context.leader()) {
    const auto percent = static_cast<int>(std::lround(100 * sums.received()));
    log::info("receiving seemed to take " + std::to_string(percent) +
              " % of the transfers' time from ranks that compute, which cannot be (noise): it "
              "counts as nothing");
  }
  return true;
}

}  // namespace

Measured measure_charges(const ProfilerContext& context, std::span<Configuration* const> into,
                         ChargeEffort effort) {
  const Stopwatch stopwatch;
  // Those of the whole protocol are listed; they replace those that were measured quickly.
  const bool all_known = std::ranges::all_of(into, [&](const Configuration* known) {
    return known->io_charge &&
           (effort == ChargeEffort::kQuick || known->protocol->contains("charges"));
  });
  if (mpi::broadcast(context.transport, all_known) || context.transport.size() < 2 ||
      context.any_asynchronous()) {
    return {};
  }
  // Rank 0 decides for all.
  Work work;
  std::vector<TransferToCharge> transfers;
  if (context.leader()) {
    work = choose_work(context.coarse.graph, *into.front());
    transfers = transfers_to_charge(context, into, work.operator_ms);
    if (effort == ChargeEffort::kQuick && !transfers.empty()) make_few(transfers);
  }
  work = mpi::broadcast(context.transport, work);
  transfers = mpi::broadcast(context.transport, transfers);
  if (transfers.empty()) return {};
  Measured measured{.missing = transfers.size()};
  std::optional<log::Progress> progress;
  if (context.leader())
    progress.emplace("measuring the time that transfers take from computing ranks");
  BlockRun block(context, work.block);
  const Protocol rounds = rounds_of(context.protocol, effort);
  std::vector<Sums> by_team(into.size());
  const Stopwatch since_ready;
  for (const TransferToCharge& transfer : transfers) {
    const double left = static_cast<double>(transfers.size() - measured.done);
    if (progress) {
      progress->update(measured.done, transfers.size(),
                       measured.done == 0
                           ? -1
                           : since_ready.seconds() * left / static_cast<double>(measured.done));
    }
    const Rank rank = context.transport.rank();
    const bool takes_part = rank == transfer.from || rank == transfer.to;
    const auto charged =
        charge_of_transfer(context, takes_part ? &block : nullptr, transfer, rounds);
    measured.stopped = !charged;
    if (measured.stopped) return measured;
    add(context, transfer, *charged, by_team);
    ++measured.done;
  }
  for (std::size_t team = 0; team < into.size(); ++team) {
    if (effort == ChargeEffort::kQuick && refused(context, by_team[team])) continue;
    into[team]->io_charge = by_team[team].charge();
    if (effort == ChargeEffort::kWhole) into[team]->protocol["charges"] = by_team[team].measured;
    context.describe(*into[team], stopwatch, team);
  }
  return measured;
}

}  // namespace hios
