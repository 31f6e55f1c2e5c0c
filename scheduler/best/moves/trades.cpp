#include "scheduler/best/moves/trades.h"

#include <algorithm>

// The sequence of an arrangement is a topological order whatever the devices are. So any set of
// operators may change devices, each to a stage of its own at its own position, or elsewhere within
// its range.
//
// A trade moves one operator, a run of consecutive stages of a device, or operators that edges
// connect there, which move without a transfer between them. Operators that make room are picked
// one at a time from the overfull device: randomly, or the one of a few whose bytes are closest to
// the excess.
//
// Tests: tests/scheduler/best/state/timing_test.cpp (undone bit for bit, valid but for memory),
// tests/scheduler/best/memory_test.cpp.

namespace hios::scheduler::best {
namespace {

// Redistribution finds the few valid placements of a small graph. In a large one bytes are finer,
// and other trades cost less.
constexpr double kRepack = 0.5;      ///< share of trades that redistribute operators, at most
constexpr double kMinRepack = 0.03;  ///< at least
constexpr double kRepackOperators =
    12;  ///< divided by the number of operators, clamped to these two
constexpr std::uint64_t kRepacked = 8;       ///< the most operators of a redistribution
constexpr std::uint64_t kManyRepacked = 14;  ///< the same for large ones
constexpr double kMany = 0.1;                ///< share of large ones
constexpr std::int64_t kRepackSteps = 1000;
constexpr double kAlone = 0.6;                 ///< share of trades that move one operator
constexpr double kRun = 0.5;                   ///< share of the others that move a run
constexpr std::size_t kMaxGo = 6;              ///< operators, and more with their labels
constexpr double kAnywhere = 0.5;              ///< share of operators that move within their range
constexpr std::int64_t kReachOfExchange = 64;  ///< the largest distance then
constexpr double kBestOfSome = 0.5;            ///< share of operators picked by their bytes
constexpr int kSome = 4;                       ///< candidates of such a pick
constexpr double kElsewhere = 0.2;             ///< share of operators that go to a third device
constexpr int kDraws = 4;  ///< draws for each device, until one of the full device is met

}  // namespace

Trades::Trades(Arrangement& arrangement, Random& random)
    : arrangement_(arrangement),
      random_(random),
      repack_share_(
          std::clamp(kRepackOperators / static_cast<double>(arrangement.problem().operators()),
                     kMinRepack, kRepack)),
      has_gone_(arrangement.problem().operators(), false) {}

bool Trades::propose(OpId op) {
  const bool found = below(repack_share_) ? redistribute(op) : trade(op);
  for (OpId gone : gone_) has_gone_[gone.index()] = false;
  gone_.clear();
  return found;
}

bool Trades::trade(OpId op) {
  const DeviceId from = arrangement_.device_of(op);
  const DeviceId to = arrangement_.problem().any_device(random_);
  if (to == from) return false;
  gather(op);
  for (OpId going : going_) {
    if (!send(going, to)) return false;
  }
  return make_room(to, from, going_.size() + 1);
}

/// Divides the operator and some others among the devices that they are on.
bool Trades::redistribute(OpId op) {
  const SearchProblem& problem = arrangement_.problem();
  draw_some(op);
  Repacking packing;
  for (OpId going : going_) packing.items.push_back(item(going));
  std::vector<Bytes> held;
  for (std::size_t d = 0; d < problem.devices(); ++d) {
    held.push_back(arrangement_.held_bytes(DeviceId(d)));
  }
  for (const Repacking::Item& item : packing.items) held[item.now.index()] -= item.bytes;
  for (std::size_t d = 0; d < problem.devices(); ++d) {
    const Bytes limit = problem.memory_limit(DeviceId(d));
    if (held[d] > limit) return false;
    packing.room.push_back(limit - held[d]);
  }
  const std::vector<DeviceId> devices = repack(std::move(packing), kRepackSteps, random_);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] == arrangement_.device_of(going_[i])) continue;
    if (!send(going_[i], devices[i])) return false;
  }
  return !devices.empty();
}

/// Draws other operators, one of each label.
void Trades::draw_some(OpId op) {
  const SearchProblem& problem = arrangement_.problem();
  going_.assign(1, op);
  const std::uint64_t most = 3 + random_.below((below(kMany) ? kManyRepacked : kRepacked) - 2);
  for (std::uint64_t i = 1; i < most; ++i) {
    const OpId other(random_.below(problem.operators()));
    const auto met = [&](OpId known) {
      const auto companions = problem.companions(known);
      return known == other ||
             std::find(companions.begin(), companions.end(), other) != companions.end();
    };
    if (std::none_of(going_.begin(), going_.end(), met)) going_.push_back(other);
  }
}

Repacking::Item Trades::item(OpId op) const {
  const SearchProblem& problem = arrangement_.problem();
  const auto companions = problem.companions(op);
  const auto members = companions.empty() ? std::span<const OpId>(&op, 1) : companions;
  Repacking::Item item{0, arrangement_.device_of(op), {}};
  for (OpId member : members) item.bytes += problem.held_bytes(member);
  for (OpId other : going_) {
    const DeviceId device = arrangement_.device_of(other);
    const bool able = std::all_of(members.begin(), members.end(), [&](OpId member) {
      return problem.costs().can_run(member, device);
    });
    const bool known = std::find(item.may.begin(), item.may.end(), device) != item.may.end();
    if (able && !known) item.may.push_back(device);
  }
  return item;
}

void Trades::gather(OpId op) {
  going_.assign(1, op);
  if (below(kAlone)) return;
  const std::size_t most = 2 + random_.below(kMaxGo - 1);
  below(kRun) ? gather_run(op, most) : gather_neighbours(op, most);
}

void Trades::gather_run(OpId op, std::size_t most) {
  Slot slot = arrangement_.slot_of(op);
  going_.clear();
  for (; slot != kNoSlot && going_.size() < most; slot = arrangement_.after(slot)) {
    const auto members = arrangement_.operators(slot);
    going_.insert(going_.end(), members.begin(), members.end());
  }
}

/// Gathers operators along edges, as long as the device is the same.
void Trades::gather_neighbours(OpId op, std::size_t most) {
  const SearchProblem& problem = arrangement_.problem();
  const DeviceId device = arrangement_.device_of(op);
  const auto meet = [&](OpId other) {
    if (going_.size() >= most || arrangement_.device_of(other) != device) return;
    if (std::find(going_.begin(), going_.end(), other) == going_.end()) going_.push_back(other);
  };
  for (std::size_t i = 0; i < going_.size() && going_.size() < most; ++i) {
    const OpId reached = going_[i];
    for (const SearchProblem::Link& input : problem.inputs(reached)) meet(input.op);
    for (const SearchProblem::Link& output : problem.outputs(reached)) meet(output.op);
  }
}

/// Sends the operator and all of its label, unless it has gone before.
bool Trades::send(OpId op, DeviceId device) {
  if (has_gone_[op.index()]) return true;
  const auto companions = arrangement_.problem().companions(op);
  if (companions.empty()) return send_one(op, device);
  return std::all_of(companions.begin(), companions.end(),
                     [&](OpId member) { return send_one(member, device); });
}

bool Trades::send_one(OpId op, DeviceId device) {
  if (!arrangement_.problem().costs().can_run(op, device)) return false;
  const PositionRange range = arrangement_.range(op);
  if (range.first >= range.last) return false;  // its stage holds a producer and a consumer of it
  const std::int64_t here = arrangement_.position(arrangement_.slot_of(op));
  std::int64_t low = range.first, high = range.last - 1;
  if (below(kAnywhere)) {
    low = std::max(low, here - kReachOfExchange);
    high = std::min(high, here + kReachOfExchange);
  } else {
    low = high = std::clamp(here - 1, low, high);
  }
  const auto width = static_cast<std::uint64_t>(high - low + 1);
  arrangement_.isolate(op, device, low + static_cast<std::int64_t>(random_.below(width)));
  has_gone_[op.index()] = true;
  gone_.push_back(op);
  return true;
}

/// Sends up to `most` operators away, which may not suffice. Returns false where one cannot go.
bool Trades::make_room(DeviceId full, DeviceId other, std::size_t most) {
  const std::size_t devices = arrangement_.problem().usable().size();
  for (std::size_t i = 0; i < most && arrangement_.overfull(full); ++i) {
    const std::optional<OpId> leaving = pick_leaving(full);
    if (!leaving) return true;
    DeviceId to = other;
    if (devices > 2 && below(kElsewhere)) to = arrangement_.problem().any_device(random_);
    if (to != full && !send(*leaving, to)) return false;
  }
  return true;
}

/// Picks an operator that has not gone yet; nothing if the draws met none.
std::optional<OpId> Trades::pick_leaving(DeviceId device) {
  const SearchProblem& problem = arrangement_.problem();
  const Bytes excess = arrangement_.excess_bytes(device);
  const auto misfit = [&](OpId op) {
    const Bytes bytes = problem.held_bytes(op);
    return bytes >= excess ? bytes - excess : excess - bytes;
  };
  const int wanted = below(kBestOfSome) ? kSome : 1;
  std::optional<OpId> best;
  int met = 0;
  for (std::size_t draw = 0; draw < kDraws * problem.usable().size() && met < wanted; ++draw) {
    const OpId op(random_.below(problem.operators()));
    if (arrangement_.device_of(op) != device || has_gone_[op.index()]) continue;
    ++met;
    if (!best || misfit(op) < misfit(*best)) best = op;
  }
  return best;
}

}  // namespace hios::scheduler::best
