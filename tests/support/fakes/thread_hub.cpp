#include "support/fakes/thread_hub.h"

#include <algorithm>
#include <cstring>

namespace hios::test {
namespace {

/// However a wait ends, its message must not be looked at any more: the caller may be unwinding.
class Restored {
 public:
  explicit Restored(Standing& standing) : standing_(standing) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { standing_ = {}; }

 private:
  Standing& standing_;
};

}  // namespace

/// The first thing in each call, under the lock.
void Hub::enter(Rank rank) {
  const std::size_t call = calls_[rank.index()]++;
  if (options_.death && options_.death->rank == rank && options_.death->call == call) {
    throw RankDied("rank " + std::to_string(rank.index()) + " died in its call " +
                   std::to_string(call));
  }
}

std::vector<std::string> Hub::exchange(Rank rank, const char* name, const std::string& text) {
  Lock lock(mutex_);
  enter(rank);
  if (arrived_ == 0) collective_name_ = name;
  if (std::strcmp(collective_name_, name) != 0) {
    throw RunError("rank " + std::to_string(rank.index()) + " calls " + name +
                   " while others are in " + collective_name_);
  }
  const std::uint64_t mine = collective_;
  texts_[rank.index()] = text;
  if (++arrived_ == size()) {
    answer_ = texts_;
    arrived_ = 0;
    ++collective_;
    changed_.notify_all();
  } else {
    wait(lock, rank, {Standing::Kind::kAwaitsRanks, nullptr, mine});
  }
  return answer_;  // the next collective cannot end before this rank has joined it
}

void Hub::open(std::vector<Part>& parts, Rank rank, bool sends) {
  const Lock lock(mutex_);
  for (Part& part : parts) {
    const Rank peer = part.message.peer;
    if (peer.index() >= size()) {
      throw RunError("no rank " + std::to_string(peer.index()) + " in a job of " +
                     std::to_string(size()));
    }
    const Rank from = sends ? rank : peer, to = sends ? peer : rank;
    Wire& wire = wires_[{from, to, part.message.tag}];
    wire.from = from;
    wire.to = to;
    wire.tag = part.message.tag;
    part.wire = &wire;
    part.is_send = sends;
    ++parts_open_;
    // Room for all that can be under way at once: no later call allocates.
    wire.sends.reserve(parts_open_);
    wire.receives.reserve(parts_open_);
  }
  transfers_.reserve(parts_open_);
}

void Hub::close(std::vector<Part>& parts) {
  const Lock lock(mutex_);
  for (Part& part : parts) {
    if (part.wire == nullptr) continue;
    --parts_open_;
    std::erase(part.wire->sends, &part);
    std::erase(part.wire->receives, &part);
    std::erase_if(transfers_, [&](const Transfer& transfer) {
      return transfer.send == &part || transfer.receive == &part;
    });
  }
}

void Hub::start(Rank rank, Part& part) {
  const Lock lock(mutex_);
  enter(rank);
  if (part.under_way) throw RunError("a message was started twice: " + words(rank));
  part.under_way = true;
  Wire& wire = *part.wire;
  if (part.is_send) {
    const std::size_t occurrence = wire.sent++;
    const std::optional<LostMessage>& lost = options_.lost;
    if (lost && lost->from == wire.from && lost->to == wire.to && lost->tag == wire.tag &&
        lost->occurrence == occurrence) {
      part.under_way = false;  // the sender believes that it is gone
      return;
    }
    wire.sends.push_back(&part);
  } else {
    wire.receives.push_back(&part);
  }
  match(wire);
}

void Hub::match(Wire& wire) {
  while (!wire.sends.empty() && !wire.receives.empty()) {
    const std::chrono::duration<double, std::milli> delay(random_.uniform() *
                                                          options_.max_delay_ms);
    transfers_.push_back({wire.sends.front(), wire.receives.front(),
                          Clock::now() + std::chrono::duration_cast<Clock::duration>(delay)});
    wire.sends.erase(wire.sends.begin());
    wire.receives.erase(wire.receives.begin());
    if (options_.max_delay_ms > 0) changed_.notify_all();  // sleepers must learn when to wake
  }
  deliver_due();
}

void Hub::deliver_due() {
  for (std::size_t i = 0; i < transfers_.size();) {
    const Transfer transfer = transfers_[i];
    if (options_.max_delay_ms > 0 && transfer.due > Clock::now()) {
      ++i;
      continue;
    }
    transfers_[i] = transfers_.back();
    transfers_.pop_back();
    const mpi::Message& from = transfer.send->message;
    const mpi::Message& to = transfer.receive->message;
    if (from.size_bytes != to.size_bytes) {
      throw RunError("tag " + std::to_string(from.tag) + ": " + std::to_string(from.size_bytes) +
                     " bytes were sent and " + std::to_string(to.size_bytes) + " awaited");
    }
    if (from.size_bytes > 0) std::memcpy(to.data, from.data, from.size_bytes);
    transfer.send->under_way = false;
    transfer.receive->under_way = false;
    changed_.notify_all();
  }
}

void Hub::await(Rank rank, Part& part) {
  Lock lock(mutex_);
  enter(rank);
  wait(lock, rank, {Standing::Kind::kAwaitsMessage, &part, 0});
}

void Hub::poll(Rank rank) {
  const Lock lock(mutex_);
  enter(rank);
  deliver_due();
  if (!failure_.empty()) throw PeerFailed(failure_);
}

bool Hub::ended(const Part& part) {
  const Lock lock(mutex_);
  return !part.under_way;
}

bool Hub::satisfied(const Standing& standing) const {
  switch (standing.kind) {
    case Standing::Kind::kAwaitsMessage:
      return !standing.part->under_way;
    case Standing::Kind::kAwaitsRanks:
      return collective_ != standing.collective;
    case Standing::Kind::kRuns:
    case Standing::Kind::kEnded:
      break;
  }
  return false;
}

void Hub::wait(Lock& lock, Rank rank, const Standing& standing) {
  Standing& mine = standing_[rank.index()];
  mine = standing;
  const Restored restored(mine);
  while (true) {
    deliver_due();
    if (satisfied(mine)) break;
    look_for_deadlock();
    if (!failure_.empty()) {
      if (deadlock_) throw Deadlock(failure_);
      throw PeerFailed(failure_);
    }
    const auto next =
        std::min_element(transfers_.begin(), transfers_.end(),
                         [](const Transfer& a, const Transfer& b) { return a.due < b.due; });
    if (next == transfers_.end()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, Clock::time_point(next->due));
    }
  }
}

/// Nothing travels, and no rank runs or has what it waits for: then nothing ever happens again.
void Hub::look_for_deadlock() {
  if (!options_.detect_deadlock || !failure_.empty() || !transfers_.empty()) return;
  bool anybody_waits = false;
  for (const Standing& standing : standing_) {
    if (standing.kind == Standing::Kind::kRuns || satisfied(standing)) return;
    anybody_waits = anybody_waits || standing.kind != Standing::Kind::kEnded;
  }
  if (!anybody_waits) return;
  failure_ = "deadlock";
  for (std::size_t rank = 0; rank < size(); ++rank) {
    failure_ += (rank == 0 ? ": " : "; ") + words(Rank(rank));
  }
  deadlock_ = true;
  changed_.notify_all();
}

std::string Hub::words(Rank rank) const {
  const std::string who = "rank " + std::to_string(rank.index());
  const Standing& standing = standing_[rank.index()];
  switch (standing.kind) {
    case Standing::Kind::kRuns:
      return who + " runs";
    case Standing::Kind::kEnded:
      return who + " has ended";
    case Standing::Kind::kAwaitsRanks:
      return who + " waits in " + collective_name_;
    case Standing::Kind::kAwaitsMessage:
      break;
  }
  const Part& part = *standing.part;
  return who + " waits for its " + (part.is_send ? "send to rank " : "message from rank ") +
         std::to_string(part.message.peer.index()) + ", tag " + std::to_string(part.message.tag);
}

void Hub::abort(Rank rank, int exit_status) {
  const std::string text = "rank " + std::to_string(rank.index()) +
                           " aborted the job with exit status " + std::to_string(exit_status);
  fail(text);
  throw JobAborted(text, exit_status);
}

void Hub::fail(const std::string& why) {
  const Lock lock(mutex_);
  if (failure_.empty()) failure_ = why;
  changed_.notify_all();
}

void Hub::end(Rank rank) {
  const Lock lock(mutex_);
  standing_[rank.index()] = {Standing::Kind::kEnded, nullptr, 0};
  look_for_deadlock();
}

}  // namespace hios::test
