#include "hios/flight/explain.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

#include "hios/base/error.h"

namespace hios::flight {
namespace {

std::string seconds_text(double ms) {
  char text[48];
  std::snprintf(text, sizeof text, ms < 1000 ? "%.3g ms" : "%.1f s", ms < 1000 ? ms : ms / 1000);
  return text;
}

std::string rank_text(std::size_t rank) { return "rank " + std::to_string(rank); }

/// "ranks 0, 2 and 3".
std::string ranks_text(const std::vector<std::size_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

void check_one_job(std::vector<Flight>& flights) {
  for (const Flight& flight : flights) {
    if (!flight.rank)
      throw InputError("the record of process " + std::to_string(flight.process) + " on " +
                       flight.host + " says no rank: the process ended before it had one");
    if (flight.job != flights.front().job)
      throw InputError("these records are of different jobs: that of " + rank_text(*flight.rank) +
                       " is of " + quote(flight.job) + ", that of " +
                       rank_text(*flights.front().rank) + " of " + quote(flights.front().job));
  }
  std::sort(flights.begin(), flights.end(),
            [](const Flight& a, const Flight& b) { return *a.rank < *b.rank; });
  for (std::size_t i = 1; i < flights.size(); ++i) {
    if (flights[i].rank == flights[i - 1].rank)
      throw InputError("two records are of " + rank_text(*flights[i].rank));
  }
}

/// The time of an event, in seconds since 1970.
double time_of(const Flight& flight, const Event& event) {
  return flight.written_s - event.age_ms / 1000;
}

/// What ranks did after the first of them had ended is no cause of that: a stopped rank goes on for
/// a moment before the launcher ends it. Compares the hosts' clocks, as near as those agree.
void cut_after_the_end(std::vector<Flight>& flights) {
  constexpr double kClocksAgreeS = 0.05;
  double end_s = std::numeric_limits<double>::infinity();
  for (const Flight& flight : flights) {
    const bool first = flight.ending == Ending::kTimeOut || flight.ending == Ending::kError;
    if (first) end_s = std::min(end_s, flight.written_s + kClocksAgreeS);
  }
  for (Flight& flight : flights) {
    std::erase_if(flight.events,
                  [&](const Event& event) { return time_of(flight, event) > end_s; });
  }
}

/// How long the rank had been at what it did last.
double standing_ms(const Flight& flight) {
  const Standing standing = standing_of(flight);
  if (standing.collective) return standing.collective->age_ms;
  if (!standing.running.empty()) return standing.running.front()->age_ms;
  if (standing.event) return standing.event->age_ms;
  return 0;
}

class Explanation {
 public:
  explicit Explanation(std::vector<Flight> flights) : flights_(std::move(flights)) {
    check_one_job(flights_);
    cut_after_the_end(flights_);
    ranks_ = flights_.front().ranks.value_or(0);
    for (const Flight& flight : flights_) ranks_ = std::max(ranks_, *flight.rank + 1);
  }

  std::string text() const {
    std::string text;
    for (std::size_t rank = 0; rank < ranks_; ++rank) text += line_of(rank);
    return text + "\n" + conclusion();
  }

 private:
  const Flight* flight(std::size_t rank) const {
    for (const Flight& each : flights_) {
      if (each.rank == rank) return &each;
    }
    return nullptr;
  }

  std::string line_of(std::size_t rank) const {
    const Flight* const record = flight(rank);
    if (!record) return rank_text(rank) + ": no record\n";
    std::string text = rank_text(rank) + " on " + record->host + ": " + standing_text(*record) +
                       ", for " + seconds_text(standing_ms(*record));
    switch (record->ending) {
      case Ending::kRunning:
      case Ending::kInOrder:
        break;
      case Ending::kTimeOut:
        text += "; ended by its time-out: " + record->reason;
        break;
      case Ending::kError:
        text += "; ended by an error: " + record->reason;
        break;
      case Ending::kSignal:
        text += "; ended by " + record->reason;
        break;
      case Ending::kKilled:
        text += "; " + record->reason;
    }
    return text + "\n";
  }

  /// The rank that this one waits for by a tensor.
  std::optional<std::size_t> awaited_rank(std::size_t rank) const {
    const Flight* const record = flight(rank);
    if (!record) return std::nullopt;
    const Standing standing = standing_of(*record);
    if (standing.collective || !standing.event) return std::nullopt;
    const EventKind kind = standing.event->kind;
    const bool waits = kind == EventKind::kAwaitReceive || kind == EventKind::kAwaitSend;
    return waits ? standing.event->peer : std::nullopt;
  }

  bool in_collective(std::size_t rank) const {
    const Flight* const record = flight(rank);
    return record && standing_of(*record).collective != nullptr;
  }

  /// Whether a rank ended by itself and not because others made it.
  bool failed(const Flight& record) const {
    const bool told = record.ending == Ending::kSignal && record.reason == kTold;
    return record.ending == Ending::kError || record.ending == Ending::kKilled ||
           (record.ending == Ending::kSignal && !told);
  }

  std::string conclusion() const {
    std::string text;
    for (std::size_t rank = 0; rank < ranks_; ++rank) text += waits_of(rank);
    return text + look_first();
  }

  std::string waits_of(std::size_t rank) const {
    const auto peer = awaited_rank(rank);
    if (!peer) return {};
    const Event& wait = *standing_of(*flight(rank)).event;
    std::string text = rank_text(rank) + " waits for " + rank_text(*peer);
    if (const Event* const sent = matching_send(rank, *peer, wait)) {
      text += ", which began to send " + wait.op + " in iteration " +
              std::to_string(sent->iteration) +
              ": the message is under way, or was lost by the network";
    } else if (wait.kind == EventKind::kAwaitReceive && flight(*peer)) {
      text += ", which has not sent " + wait.op + " in iteration " + std::to_string(wait.iteration);
    }
    return text + "\n";
  }

  /// That the peer sent what this rank waits for, if its record reaches back as far.
  const Event* matching_send(std::size_t rank, std::size_t peer, const Event& wait) const {
    const Flight* const record = flight(peer);
    if (!record || wait.kind != EventKind::kAwaitReceive) return nullptr;
    for (const Event& event : record->events) {
      if (event.kind == EventKind::kSend && event.op == wait.op && event.peer == rank &&
          event.iteration == wait.iteration)
        return &event;
    }
    return nullptr;
  }

  /// Follows who waits for whom by tensors. Empty: it ends at a rank that waits for none.
  std::vector<std::size_t> circle_from(std::size_t rank) const {
    std::vector<std::size_t> way;
    std::optional<std::size_t> next = rank;
    while (next) {
      const auto seen = std::find(way.begin(), way.end(), *next);
      if (seen != way.end()) return {seen, way.end()};
      way.push_back(*next);
      next = awaited_rank(*next);
    }
    return {};
  }

  std::string look_first() const {
    std::vector<std::size_t> without, failures, busy;
    std::vector<std::size_t> circle;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const Flight* const record = flight(rank);
      if (!record) {
        without.push_back(rank);
      } else if (failed(*record)) {
        failures.push_back(rank);
      } else if (!awaited_rank(rank) && !in_collective(rank)) {
        busy.push_back(rank);
      }
      if (circle.empty()) circle = circle_from(rank);
    }
    if (!failures.empty()) return "look first at " + earliest(failures) + ", which failed\n";
    if (!circle.empty())
      return "look first at " + ranks_text(circle) +
             ": each waits for a tensor of the next, the last for one of the first\n";
    if (!without.empty())
      return "look first at " + ranks_text(without) +
             ", which left no record: killed with its host, or never started\n";
    if (!busy.empty() && busy.size() < ranks_)
      return "look first at " + ranks_text(busy) + ", which waited for nobody\n";
    if (busy.empty()) return all_wait();
    return "no rank waited for another\n";
  }

  /// The failure that came first by the hosts' clocks, as near as those agree.
  std::string earliest(const std::vector<std::size_t>& failures) const {
    const auto when = [&](std::size_t rank) {
      const Flight& record = *flight(rank);
      return record.events.empty() ? record.written_s : time_of(record, record.events.back());
    };
    return rank_text(
        *std::min_element(failures.begin(), failures.end(),
                          [&](std::size_t a, std::size_t b) { return when(a) < when(b); }));
  }

  std::string all_wait() const {
    std::vector<std::size_t> in_call, for_tensor;
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      (in_collective(rank) ? in_call : for_tensor).push_back(rank);
    if (for_tensor.empty())
      return "all ranks were in a call that waits for all: look at the network between them\n";
    if (in_call.empty()) return "all ranks waited for tensors: look at the messages above\n";
    return "look first at " + ranks_text(for_tensor) + ": the others wait for " +
           (for_tensor.size() == 1 ? "it" : "them") + " in a call that all ranks make\n";
  }

  std::vector<Flight> flights_;
  std::size_t ranks_ = 0;
};

}  // namespace

std::string explain(std::vector<Flight> flights) { return Explanation(std::move(flights)).text(); }

}  // namespace hios::flight
