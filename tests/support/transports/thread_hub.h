#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "hios/base/numbers/random.h"
#include "support/transports/thread_transport.h"

// All ranks share a Hub with one mutex and one condition variable: slow, but easy to verify. A
// message is matched when both its send and its receive have been started, in the order of their
// starts on each (from, to, tag). It is delivered once its delay is over, by the first thread that
// looks. Every wait is recorded as data, so a rank that is about to sleep can see whether any rank
// is left that could wake it. That is the deadlock test, and it uses no clock.
namespace hios::test {

using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;

struct ChannelMessage;

/// Transfers of one (from, to, tag) that were started and not matched, oldest first.
struct Unmatched {
  Rank from, to;
  int tag = 0;
  std::vector<ChannelMessage*> sends, receives;
  std::size_t sent = 0;
};

/// One message of a channel.
struct ChannelMessage {
  mpi::Message posted;
  Unmatched* unmatched = nullptr;
  bool is_send = false;
  bool under_way = false;
};

struct Transfer {
  ChannelMessage* send;
  ChannelMessage* receive;
  Clock::time_point due;
};

/// The state of a rank, for the deadlock test.
struct RankState {
  enum class Kind { kRuns, kAwaitsMessage, kAwaitsRanks, kEnded };
  Kind kind = Kind::kRuns;
  const ChannelMessage* message = nullptr;
  std::uint64_t collective = 0;
};

class Hub {
 public:
  Hub(std::size_t ranks, const ThreadOptions& options)
      : options_(options), random_(options.seed), states_(ranks), calls_(ranks), texts_(ranks) {}

  std::size_t size() const { return states_.size(); }

  std::vector<std::string> exchange(Rank rank, const char* name, const std::string& text);
  void open(std::vector<ChannelMessage>& messages, Rank rank, bool sends);
  void close(std::vector<ChannelMessage>& messages);
  void start(Rank rank, ChannelMessage& message);
  void await(Rank rank, ChannelMessage& message);
  void poll(Rank rank);
  bool ended(const ChannelMessage& message);

  [[noreturn]] void abort(Rank rank, int exit_status);
  void fail(const std::string& why);
  void end(Rank rank);

 private:
  void enter(Rank rank);
  void match(Unmatched& unmatched);
  void deliver_due();
  void wait(Lock& lock, Rank rank, const RankState& state);
  bool satisfied(const RankState& state) const;
  void look_for_deadlock();
  std::string words(Rank rank) const;

  const ThreadOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Random random_;
  std::vector<RankState> states_;
  std::vector<std::size_t> calls_;
  std::map<std::tuple<Rank, Rank, int>, Unmatched> unmatched_;
  std::vector<Transfer> transfers_;
  std::size_t open_messages_ = 0;
  std::string failure_;
  bool deadlock_ = false;
  // The current collective: the ranks that called it, its name, and the answer to the last one.
  std::uint64_t collective_ = 0;
  std::size_t arrived_ = 0;
  const char* collective_name_ = "";
  std::vector<std::string> texts_, answer_;
};

}  // namespace hios::test
