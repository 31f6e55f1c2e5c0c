#include "scheduler/cold/shared/keeping_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hios/base/numbers/random.h"
#include "scheduler/cold/shared/keepings.h"
#include "scheduler/structures/saturating_sum.h"

// Greedy: while something fits, the next parameters of each model, in the order of use, are tried
// on each device, and those that save the most expected latency a byte are kept. In the order of
// use, since the loads of the rest then overlap the operators whose parameters are there. Where no
// step saves anything, longer ones are tried: the last byte that two buses bring decides, so that
// one bus alone may have to be relieved of much.
//
// An exchange frees some parameters of one model on a device and fills the room with those of
// another, or moves some to another device. It is kept unless the expected latency grows.
//
// Cost: a judgement of each model and device a step, of which there are at most kGreedySteps for
// each doubling of the steps' length.
//
// Tests: tests/scheduler/cold/shared/plan_server_test.cpp.

namespace hios::scheduler::cold {
namespace {

constexpr Bytes kGreedySteps = 48;
constexpr int kDoublings = 6;

class KeepingSearch {
 public:
  KeepingSearch(KeepingJudge& judge, Keeping start, std::uint64_t seed, const Deadline& deadline)
      : judge_(judge),
        server_(judge.server()),
        random_(seed, "keeping"),
        deadline_(deadline),
        best_(std::move(start)),
        best_ms_(judge.expected_ms(best_)) {}

  void be_greedy() {
    Keeping keeping(server_);
    double ms = judge_.expected_ms(keeping);
    Bytes step = std::max<Bytes>(1, most_bytes() / kGreedySteps);
    for (int doublings = 0; doublings <= kDoublings && !deadline_.expired();) {
      auto next = best_step(keeping, ms, step);
      if (!next) {
        ++doublings;
        step = saturating_sum(step, step);
        continue;
      }
      keeping = std::move(next->first);
      ms = next->second;
    }
    take_if_shorter(keeping, ms);
  }

  void exchange(std::int64_t exchanges) {
    if (server_.sets().empty()) return;
    for (std::int64_t i = 0; i < exchanges && !deadline_.expired(); ++i) {
      Keeping next = best_;
      const DeviceId device(random_.below(server_.platform().size()));
      const std::vector<std::size_t> freed = free_some(next, device);
      if (random_.below(3) == 0) {
        refill(next, device, freed);
      } else {
        fill(next, device);
      }
      if (next == best_) continue;
      const double ms = judge_.expected_ms(next);
      if (ms > best_ms_) continue;
      best_ = std::move(next);
      best_ms_ = ms;
    }
  }

  const Keeping& best() const { return best_; }

 private:
  /// Returns the bytes that can be kept at most.
  Bytes most_bytes() const {
    Bytes all = 0;
    for (const SharedSet& set : server_.sets()) all = saturating_sum(all, set.size_bytes);
    return std::min(all, server_.all_limits());
  }

  /// Returns the keeping that saves the most a byte, and its expected latency.
  std::optional<std::pair<Keeping, double>> best_step(const Keeping& keeping, double ms,
                                                      Bytes step) {
    std::optional<std::pair<Keeping, double>> best;
    double most_saved = 0;
    for (std::size_t m = 0; m < server_.models().size(); ++m) {
      for (std::size_t d = 0; d < server_.platform().size(); ++d) {
        if (deadline_.expired()) return best;
        Keeping next = keeping;
        const Bytes added = keep_next(next, judge_, m, DeviceId(d), step);
        if (added == 0) continue;
        const double next_ms = judge_.expected_ms(next);
        const double saved = (ms - next_ms) / static_cast<double>(added);
        if (!(saved > most_saved)) continue;
        most_saved = saved;
        best.emplace(std::move(next), next_ms);
      }
    }
    return best;
  }

  void take_if_shorter(const Keeping& keeping, double ms) {
    if (!(ms < best_ms_)) return;
    best_ = keeping;
    best_ms_ = ms;
  }

  /// Frees a random number of a model's sets that follow each other in use. Returns them.
  std::vector<std::size_t> free_some(Keeping& keeping, DeviceId device) {
    const auto& order = judge_.order_of_use(random_.below(server_.models().size()));
    std::vector<std::size_t> freed;
    if (order.empty()) return freed;
    const std::size_t most = std::size_t{1} << random_.below(7);
    for (std::size_t i = random_.below(order.size()); i < order.size() && freed.size() < most;
         ++i) {
      if (!keeping.has(device, order[i])) continue;
      keeping.release(device, order[i]);
      freed.push_back(order[i]);
    }
    return freed;
  }

  /// Fills the room of a device with sets of a random model, from the first or any one on.
  void fill(Keeping& keeping, DeviceId device) {
    const std::size_t model = random_.below(server_.models().size());
    const std::size_t sets = judge_.order_of_use(model).size();
    if (sets == 0) return;
    const std::size_t from = random_.below(2) == 0 ? 0 : random_.below(sets);
    keep_next(keeping, judge_, model, device, keeping.room(device), from);
  }

  /// Lets another device have the sets, in exchange for some of its own.
  void refill(Keeping& keeping, DeviceId device, const std::vector<std::size_t>& freed) {
    const DeviceId other(random_.below(server_.platform().size()));
    const std::vector<std::size_t> back =
        other == device ? std::vector<std::size_t>() : free_some(keeping, other);
    for (const std::size_t set : freed) keeping.keep(other, set);
    for (const std::size_t set : back) keeping.keep(device, set);
  }

  KeepingJudge& judge_;
  const Server& server_;
  Random random_;
  const Deadline& deadline_;
  Keeping best_;
  double best_ms_;
};

}  // namespace

Keeping search_keeping(KeepingJudge& judge, const Keeping& start, std::int64_t exchanges,
                       std::uint64_t seed, const Deadline& deadline) {
  KeepingSearch search(judge, start, seed, deadline);
  search.be_greedy();
  search.exchange(exchanges);
  return search.best();
}

}  // namespace hios::scheduler::cold
