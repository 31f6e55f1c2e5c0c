#include "hios/flight/explain.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/rank_list.h"
#include "hios/flight/recorder.h"

namespace hios::flight {
namespace {

std::string seconds_text(double ms) {
  char text[48];
  std::snprintf(text, sizeof text, ms < 1000 ? "%.3g ms" : "%.1f s", ms < 1000 ? ms : ms / 1000);
  return text;
}

std::string rank_text(std::size_t rank) { return "rank " + std::to_string(rank); }

std::string name_of(const Flight& flight) {
  return flight.file.empty() ? "the record of process " + std::to_string(flight.process)
                             : flight.file;
}

void check_ranks_known(const std::vector<Flight>& flights) {
  for (const Flight& flight : flights) {
    if (!flight.rank)
      throw InputError(name_of(flight) + ": says no rank: the process ended before it had one");
  }
}

/// Leaves out the records of other jobs than that of the record that was written last, since a
/// folder may keep those of larger jobs before. Returns a line with their names, empty for none. A
/// rank that ended before it met the others knows neither the job nor the number of ranks.
std::string leave_out_other_jobs(std::vector<Flight>& flights) {
  const Flight* last = nullptr;
  for (const Flight& flight : flights) {
    if (!flight.job.empty() && (!last || flight.written_s > last->written_s)) last = &flight;
  }
  if (!last) return {};
  const std::string job = last->job;
  const auto ranks = last->ranks;
  std::string names;
  std::erase_if(flights, [&](const Flight& flight) {
    const bool other = !flight.job.empty() && (flight.job != job || flight.ranks != ranks);
    if (other) names += (names.empty() ? "" : ", ") + name_of(flight);
    return other;
  });
  return names.empty() ? names : "left out, since they are of earlier jobs: " + names + "\n\n";
}

void sort_by_rank(std::vector<Flight>& flights) {
  std::sort(flights.begin(), flights.end(),
            [](const Flight& a, const Flight& b) { return *a.rank < *b.rank; });
  for (std::size_t i = 1; i < flights.size(); ++i) {
    if (flights[i].rank == flights[i - 1].rank)
      throw InputError(name_of(flights[i - 1]) + " and " + name_of(flights[i]) + ": are both of " +
                       rank_text(*flights[i].rank) + "; give one of each rank");
  }
}

/// Returns the time of an event, in seconds since 1970.
double time_of(const Flight& flight, const Event& event) {
  return flight.written_s - event.age_ms / 1000;
}

/// Removes events after the first rank's end, which cannot be its cause: a stopped rank goes on for
/// a moment before the launcher ends it. Compares the hosts' clocks, as closely as those agree.
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

/// Returns the time since the start of the rank's last step.
double standing_ms(const Flight& flight) {
  const Standing standing = standing_of(flight);
  if (standing.collective) return standing.collective->age_ms;
  if (!standing.running.empty()) return standing.running.front()->age_ms;
  if (standing.event) return standing.event->age_ms;
  return 0;
}

/// Returns true if the rank has ended in its last step or has been in it for a second. Records of a
/// job that runs on are of different moments, so a shorter wait proves nothing.
bool is_stalled(const Flight& flight) {
  return flight.ending != Ending::kRunning || standing_ms(flight) >= 1000;
}

/// Returns true if a rank ended by itself and not because others made it.
bool failed(const Flight& flight) {
  const bool asked = flight.ending == Ending::kSignal && flight.reason == kAskedToEnd;
  return flight.ending == Ending::kError || flight.ending == Ending::kKilled ||
         (flight.ending == Ending::kSignal && !asked);
}

bool in_collective(const Flight& flight) { return standing_of(flight).collective != nullptr; }

/// Returns the rank whose tensor this one waits for.
std::optional<std::size_t> awaited_rank(const Flight& flight) {
  const Standing standing = standing_of(flight);
  if (standing.collective || !standing.event || !is_stalled(flight)) return std::nullopt;
  const EventKind kind = standing.event->kind;
  const bool waits = kind == EventKind::kAwaitReceive || kind == EventKind::kAwaitSend;
  return waits ? standing.event->peer : std::nullopt;
}

std::string ending_text(const Flight& flight) {
  switch (flight.ending) {
    case Ending::kRunning:
    case Ending::kInOrder:
      return {};
    case Ending::kTimeOut:
      return "; ended by its time-out: " + flight.reason;
    case Ending::kError:
      return "; ended by an error: " + flight.reason;
    case Ending::kSignal:
      return "; ended by " + flight.reason;
    case Ending::kKilled:
      return "; " + flight.reason;
  }
  return {};
}

/// Describes, by the sender's record, the tensor that `rank` waits for.
std::string sender_text(const Flight& sender, std::size_t rank, const Event& wait) {
  bool reaches_back = sender.events.size() + 1 < kEvents;  // nothing was overwritten
  bool is_later = false;
  for (const Event& event : sender.events) {
    if (event.kind == EventKind::kSend && event.op == wait.op && event.peer == rank &&
        event.iteration == wait.iteration)
      return ", which began to send " + wait.op + " in iteration " +
             std::to_string(event.iteration) +
             ": the message is under way, or was lost by the network";
    const bool in_iteration = event.kind != EventKind::kPhase &&
                              event.kind != EventKind::kCollective &&
                              event.kind != EventKind::kCollectiveEnd;
    if (!in_iteration) continue;
    reaches_back = reaches_back || event.iteration < wait.iteration;
    is_later = is_later || event.iteration > wait.iteration;
  }
  if (is_later)
    return ", which is in a later iteration: its record does not reach back to the send";
  if (!reaches_back && wait.iteration > 0) return ", whose record does not say whether it sent it";
  return ", which has not sent " + wait.op + " in iteration " + std::to_string(wait.iteration);
}

class Explanation {
 public:
  explicit Explanation(std::vector<Flight> flights) : flights_(std::move(flights)) {
    check_ranks_known(flights_);
    left_out_ = leave_out_other_jobs(flights_);
    sort_by_rank(flights_);
    cut_after_the_end(flights_);
    for (const Flight& flight : flights_)
      ranks_ = std::max({ranks_, flight.ranks.value_or(0), *flight.rank + 1});
  }

  std::string text() const {
    std::string text = left_out_;
    for (const Flight& flight : flights_) text += line_of(flight);
    const std::string absent = absent_text();
    if (!absent.empty()) text += absent + ": no record\n";
    text += "\n";
    for (const Flight& flight : flights_) text += waits_of(flight);
    return text + look_first() + "\n";
  }

 private:
  const Flight* flight(std::size_t rank) const {
    const auto found = std::lower_bound(
        flights_.begin(), flights_.end(), rank,
        [](const Flight& each, std::size_t number) { return *each.rank < number; });
    return found != flights_.end() && found->rank == rank ? &*found : nullptr;
  }

  static std::string line_of(const Flight& flight) {
    return rank_text(*flight.rank) + " on " + flight.host + ": " + standing_text(flight) +
           ", for " + seconds_text(standing_ms(flight)) + ending_text(flight) + "\n";
  }

  /// Returns "ranks 0 and 4 to 63"; empty where every rank left a record.
  std::string absent_text() const {
    std::string text;
    std::size_t next = 0;
    const auto add = [&](std::size_t end) {  // next … end − 1
      if (next >= end) return;
      text += (text.empty() ? "" : ", ") + std::to_string(next);
      if (end - next > 1) text += " to " + std::to_string(end - 1);
    };
    for (const Flight& flight : flights_) {
      add(*flight.rank);
      next = *flight.rank + 1;
    }
    add(ranks_);
    const bool one = text.find_first_of(" ,") == std::string::npos;
    return text.empty() ? text : (one ? "rank " : "ranks ") + text;
  }

  std::string waits_of(const Flight& waiting) const {
    const auto peer = awaited_rank(waiting);
    if (!peer) return {};
    const Event& wait = *standing_of(waiting).event;
    std::string text = rank_text(*waiting.rank) + " waits for " + rank_text(*peer);
    const Flight* const sender = flight(*peer);
    if (sender && wait.kind == EventKind::kAwaitReceive)
      text += sender_text(*sender, *waiting.rank, wait);
    return text + "\n";
  }

  /// Follows from rank to rank who waits for whose tensor. Returns the cycle that it meets; empty
  /// where it ends at a rank that waits for none.
  std::vector<std::size_t> cycle_from(const Flight& begin) const {
    std::vector<std::size_t> path;
    const Flight* next = &begin;
    while (next) {
      const auto seen = std::find(path.begin(), path.end(), *next->rank);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(*next->rank);
      const auto awaited = awaited_rank(*next);
      next = awaited ? flight(*awaited) : nullptr;
    }
    return {};
  }

  std::string look_first() const {
    std::vector<const Flight*> failures;
    std::vector<std::size_t> busy, in_call, for_tensor, cycle;
    for (const Flight& each : flights_) {
      if (failed(each)) failures.push_back(&each);
      (in_collective(each)  ? in_call
       : awaited_rank(each) ? for_tensor
                            : busy)
          .push_back(*each.rank);
      if (cycle.empty()) cycle = cycle_from(each);
    }
    if (!failures.empty()) return "look first at " + cause(failures) + ", which failed";
    if (!cycle.empty())
      return "look first at " + rank_list(cycle) +
             ": each waits for a tensor of the next, the last for one of the first";
    const bool none_stalled = std::none_of(flights_.begin(), flights_.end(), is_stalled);
    if (none_stalled) return "the job runs: no rank had been stalled for a second";
    const std::string absent = absent_text();
    if (!absent.empty()) return "look first at " + absent + ", which left no record";
    if (busy.size() == flights_.size()) return "no rank waited for another";
    if (!busy.empty()) return "look first at " + rank_list(busy) + ", which waited for nobody";
    if (for_tensor.empty())
      return "all ranks were in a call that waits for all: look at the network between them";
    if (in_call.empty()) return "all ranks waited for tensors: look at the messages above";
    return "look first at " + rank_list(for_tensor) + ": the others wait for " +
           (for_tensor.size() == 1 ? "it" : "them") + " in a call that all ranks make";
  }

  /// Returns the failure that is no consequence of another: that of a rank that waited for nobody,
  /// or the first by the hosts' clocks.
  static std::string cause(const std::vector<const Flight*>& failures) {
    const auto when = [](const Flight& flight) {
      const bool waited = awaited_rank(flight) || in_collective(flight);
      return std::pair(
          waited, flight.events.empty() ? flight.written_s : time_of(flight, flight.events.back()));
    };
    const Flight* const first =
        *std::min_element(failures.begin(), failures.end(),
                          [&](const Flight* a, const Flight* b) { return when(*a) < when(*b); });
    return rank_text(*first->rank);
  }

  std::vector<Flight> flights_;
  std::string left_out_;
  std::size_t ranks_ = 0;
};

}  // namespace

std::string explain(std::vector<Flight> flights) { return Explanation(std::move(flights)).text(); }

}  // namespace hios::flight
