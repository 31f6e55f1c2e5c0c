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
#include "support/fakes/thread_transport.h"

// All ranks share a Hub with one mutex and one condition variable: slow, and easy to be sure of.
// A message is matched when both its send and its receive have been started, in the order of their
// starts on each (from, to, tag), and delivered once its delay is over, by whichever thread looks
// first. Because every wait is recorded as data, a rank that is about to sleep can see whether
// anybody is left who could wake it: that is the deadlock test, and no clock is in it.
namespace hios::test {

using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;

struct Part;

/// Started and unmatched, oldest first, of one (from, to, tag).
struct Wire {
  Rank from, to;
  int tag = 0;
  std::vector<Part*> sends, receives;
  std::size_t sent = 0;
};

/// One message of a channel.
struct Part {
  mpi::Message message;
  Wire* wire = nullptr;
  bool is_send = false;
  bool under_way = false;
};

struct Transfer {
  Part* send;
  Part* receive;
  Clock::time_point due;
};

/// What a rank does now, as the deadlock test sees it.
struct Standing {
  enum class Kind { kRuns, kAwaitsMessage, kAwaitsRanks, kEnded };
  Kind kind = Kind::kRuns;
  const Part* part = nullptr;
  std::uint64_t collective = 0;
};

class Hub {
 public:
  Hub(std::size_t ranks, const ThreadOptions& options)
      : options_(options), random_(options.seed), standing_(ranks), calls_(ranks), texts_(ranks) {}

  std::size_t size() const { return standing_.size(); }

  std::vector<std::string> exchange(Rank rank, const char* name, const std::string& text);
  void open(std::vector<Part>& parts, Rank rank, bool sends);
  void close(std::vector<Part>& parts);
  void start(Rank rank, Part& part);
  void await(Rank rank, Part& part);
  void poll(Rank rank);
  bool ended(const Part& part);

  [[noreturn]] void abort(Rank rank, int exit_status);
  void fail(const std::string& why);
  void end(Rank rank);

 private:
  void enter(Rank rank);
  void match(Wire& wire);
  void deliver_due();
  void wait(Lock& lock, Rank rank, const Standing& standing);
  bool satisfied(const Standing& standing) const;
  void look_for_deadlock();
  std::string words(Rank rank) const;

  const ThreadOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Random random_;
  std::vector<Standing> standing_;
  std::vector<std::size_t> calls_;
  std::map<std::tuple<Rank, Rank, int>, Wire> wires_;
  std::vector<Transfer> transfers_;
  std::size_t parts_open_ = 0;
  std::string failure_;
  bool deadlock_ = false;
  // The collective under way: who calls what, and the answer to the last one.
  std::uint64_t collective_ = 0;
  std::size_t arrived_ = 0;
  const char* collective_name_ = "";
  std::vector<std::string> texts_, answer_;
};

}  // namespace hios::test
