#include "support/transports/thread_hub.h"

#include <algorithm>
#include <cstring>

namespace hios::test {
namespace {

/// However a wait ends, its message must not be read any more: the caller may be unwinding.
class Restored {
 public:
  explicit Restored(RankState& state) : state_(state) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { state_ = {}; }

 private:
  RankState& state_;
};

}  // namespace

/// Begins each call, under the lock.
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
    wait(lock, rank, {RankState::Kind::kAwaitsRanks, nullptr, mine});
  }
  return answer_;  // the next collective cannot end before this rank has joined it
}

void Hub::open(std::vector<ChannelMessage>& messages, Rank rank, bool sends) {
  const Lock lock(mutex_);
  for (ChannelMessage& message : messages) {
    const Rank peer = message.posted.peer;
    if (peer.index() >= size()) {
      throw RunError("no rank " + std::to_string(peer.index()) + " in a job of " +
                     std::to_string(size()));
    }
    const Rank from = sends ? rank : peer, to = sends ? peer : rank;
    Unmatched& unmatched = unmatched_[{from, to, message.posted.tag}];
    unmatched.from = from;
    unmatched.to = to;
    unmatched.tag = message.posted.tag;
    message.unmatched = &unmatched;
    message.is_send = sends;
    ++open_messages_;
    // Memory for all transfers that can be under way at once: no later call allocates.
    unmatched.sends.reserve(open_messages_);
    unmatched.receives.reserve(open_messages_);
  }
  transfers_.reserve(open_messages_);
}

void Hub::close(std::vector<ChannelMessage>& messages) {
  const Lock lock(mutex_);
  for (ChannelMessage& message : messages) {
    if (message.unmatched == nullptr) continue;
    --open_messages_;
    std::erase(message.unmatched->sends, &message);
    std::erase(message.unmatched->receives, &message);
    std::erase_if(transfers_, [&](const Transfer& transfer) {
      return transfer.send == &message || transfer.receive == &message;
    });
  }
}

void Hub::start(Rank rank, ChannelMessage& message) {
  const Lock lock(mutex_);
  enter(rank);
  if (message.under_way) throw RunError("a message was started twice: " + words(rank));
  message.under_way = true;
  Unmatched& unmatched = *message.unmatched;
  if (message.is_send) {
    const std::size_t occurrence = unmatched.sent++;
    const std::optional<LostMessage>& lost = options_.lost;
    if (lost && lost->from == unmatched.from && lost->to == unmatched.to &&
        lost->tag == unmatched.tag && lost->occurrence == occurrence) {
      message.under_way = false;  // the sender takes it for delivered
      return;
    }
    unmatched.sends.push_back(&message);
  } else {
    unmatched.receives.push_back(&message);
  }
  match(unmatched);
}

void Hub::match(Unmatched& unmatched) {
  while (!unmatched.sends.empty() && !unmatched.receives.empty()) {
    const std::chrono::duration<double, std::milli> delay(random_.uniform() *
                                                          options_.max_delay_ms);
    transfers_.push_back({unmatched.sends.front(), unmatched.receives.front(),
                          Clock::now() + std::chrono::duration_cast<Clock::duration>(delay)});
    unmatched.sends.erase(unmatched.sends.begin());
    unmatched.receives.erase(unmatched.receives.begin());
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
    const mpi::Message& from = transfer.send->posted;
    const mpi::Message& to = transfer.receive->posted;
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

void Hub::await(Rank rank, ChannelMessage& message) {
  Lock lock(mutex_);
  enter(rank);
  wait(lock, rank, {RankState::Kind::kAwaitsMessage, &message, 0});
}

void Hub::poll(Rank rank) {
  const Lock lock(mutex_);
  enter(rank);
  deliver_due();
  if (!failure_.empty()) throw PeerFailed(failure_);
}

bool Hub::ended(const ChannelMessage& message) {
  const Lock lock(mutex_);
  return !message.under_way;
}

bool Hub::satisfied(const RankState& state) const {
  switch (state.kind) {
    case RankState::Kind::kAwaitsMessage:
      return !state.message->under_way;
    case RankState::Kind::kAwaitsRanks:
      return collective_ != state.collective;
    case RankState::Kind::kRuns:
    case RankState::Kind::kEnded:
      break;
  }
  return false;
}

void Hub::wait(Lock& lock, Rank rank, const RankState& state) {
  RankState& mine = states_[rank.index()];
  mine = state;
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

/// Detects a deadlock: no message travels, and no rank runs or can continue. Then nothing ever
/// happens again.
void Hub::look_for_deadlock() {
  if (!options_.detect_deadlock || !failure_.empty() || !transfers_.empty()) return;
  bool anybody_waits = false;
  for (const RankState& state : states_) {
    if (state.kind == RankState::Kind::kRuns || satisfied(state)) return;
    anybody_waits = anybody_waits || state.kind != RankState::Kind::kEnded;
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
  const RankState& state = states_[rank.index()];
  switch (state.kind) {
    case RankState::Kind::kRuns:
      return who + " runs";
    case RankState::Kind::kEnded:
      return who + " has ended";
    case RankState::Kind::kAwaitsRanks:
      return who + " waits in " + collective_name_;
    case RankState::Kind::kAwaitsMessage:
      break;
  }
  const ChannelMessage& message = *state.message;
  return who + " waits for its " + (message.is_send ? "send to rank " : "message from rank ") +
         std::to_string(message.posted.peer.index()) + ", tag " +
         std::to_string(message.posted.tag);
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
  states_[rank.index()] = {RankState::Kind::kEnded, nullptr, 0};
  look_for_deadlock();
}

}  // namespace hios::test
