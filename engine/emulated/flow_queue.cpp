// Whoever looks moves all flows up to now, from change to change: a flow's latency is over, or its
// bytes have moved. Between two changes rates are constant. They are found by filling: the rates
// of all flows grow together until a bus is full or a flow at its route's limit; those flows keep
// that rate, and the others go on. So an idle queue costs nothing, and nobody serves it.
//
// A thread that waits for its flow sleeps until the next change of any flow, after which rates
// differ, or until another flow starts, which brings changes of its own. Ranks may be killed at any
// time, and the others' jobs must still end. So the lock of a dead rank goes to the next one (a
// robust mutex), which finds the rates again, and waits watch a count of starts (a futex): a
// condition variable would keep waiting for a waiter that died.
//
// This is on purpose not the code of hios/evaluate/cold, with which its times are compared. Tests:
// tests/engine/emulated/flow_queue_test.cpp.
#include "engine/emulated/flow_queue.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <limits>
#include <new>
#include <utility>

#include "engine/host/clock.h"

namespace hios::emulated {
namespace {

constexpr double kNeverMs = std::numeric_limits<double>::infinity();
constexpr double kNoBytes = 1e-3;  // what is left of a flow that has ended
constexpr double kLookMs = 50;     // between two looks at a request to stop

// Other locks would be this process's own.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<double>::is_always_lock_free);

std::vector<double> rates_of(const Topology& topology) {
  std::vector<double> rates;
  for (const Bus& bus : topology.buses()) rates.push_back(bus.gb_per_s * kBytesPerMsOfGb);
  return rates;
}

}  // namespace

/// A flow's state. All but `ended` belong to the holder of the lock.
struct FlowQueue::Moving {
  enum class State : std::uint32_t { kIdle, kLatency, kMoves };
  std::atomic<std::uint64_t> ended;
  State state;
  double until_ms;  // the end of its latency
  double left_bytes;
  double bytes_per_ms;
};

/// Times are since the queue was made, so that rounding stays far below a byte.
struct FlowQueue::Shared {
  pthread_mutex_t mutex;
  std::atomic<std::uint32_t> starts, arrivals;
  double made_ms;  // on the host's clock
  double at_ms;    // up to which all flows have moved
  std::atomic<double> next_change_ms;
};

/// The lock of a queue, held while this lives. Takes over that of a rank that died.
class FlowQueue::Lock {
 public:
  explicit Lock(FlowQueue& queue) : mutex_(queue.shared().mutex) {
    if (pthread_mutex_lock(&mutex_) != EOWNERDEAD) return;
    pthread_mutex_consistent(&mutex_);
    queue.find_rates();
    queue.find_next_change();
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

namespace {

void make_lock(pthread_mutex_t& mutex) {
  pthread_mutexattr_t of_mutex;
  pthread_mutexattr_init(&of_mutex);
  pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&of_mutex, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &of_mutex);
  pthread_mutexattr_destroy(&of_mutex);
}

// Ranks map the same memory, so the word is not private to this process.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                 nullptr, 0);
}

/// Sleeps for less than a second while the word has this value.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value, double ms) {
  const timespec timeout{0, static_cast<long>(std::clamp(ms, 0.0, 999.0) * 1e6)};
  futex(word, FUTEX_WAIT, value, &timeout);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  futex(word, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr);
}

}  // namespace

double FlowQueue::host_clock() { return ms_between({}, Clock::now()); }

std::size_t FlowQueue::bytes_for(std::size_t flows) const {
  return sizeof(Shared) + flows * sizeof(Moving);
}

FlowQueue::FlowQueue(std::span<const Flow> flows, const Topology& topology, ReadClock clock)
    : flows_(flows),
      clock_(std::move(clock)),
      bus_bytes_per_ms_(rates_of(topology)),
      memory_(bytes_for(flows.size())),
      left_(bus_bytes_per_ms_.size()),
      users_(bus_bytes_per_ms_.size()) {
  unfixed_.reserve(flows.size());
  auto* const shared = new (memory_.data()) Shared{};
  make_lock(shared->mutex);
  shared->made_ms = clock_();
  shared->next_change_ms = kNeverMs;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    new (memory_.data() + sizeof(Shared) + i * sizeof(Moving)) Moving{};
  }
}

FlowQueue::FlowQueue(std::span<const Flow> flows, const Topology& topology, const std::string& name)
    : flows_(flows),
      clock_(host_clock),
      bus_bytes_per_ms_(rates_of(topology)),
      memory_(name, bytes_for(flows.size())),
      left_(bus_bytes_per_ms_.size()),
      users_(bus_bytes_per_ms_.size()) {
  unfixed_.reserve(flows.size());
}

FlowQueue::Shared& FlowQueue::shared() const {
  return *std::launder(reinterpret_cast<Shared*>(memory_.data()));
}

FlowQueue::Moving* FlowQueue::moving() const {
  return std::launder(reinterpret_cast<Moving*>(memory_.data() + sizeof(Shared)));
}

std::uint64_t FlowQueue::ended(std::size_t flow) const {
  return moving()[flow].ended.load(std::memory_order_acquire);
}

double FlowQueue::now_ms() const { return clock_() - shared().made_ms; }

double FlowQueue::next_change_ms() const {
  return shared().next_change_ms.load(std::memory_order_acquire);
}

/// Gives each flow that moves its rate.
void FlowQueue::find_rates() {
  left_ = bus_bytes_per_ms_;
  unfixed_.clear();
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    if (moving()[i].state == Moving::State::kMoves) unfixed_.push_back(i);
  }
  while (!unfixed_.empty()) {
    std::ranges::fill(users_, 0.0);
    for (const std::size_t flow : unfixed_) {
      for (const std::size_t bus : flows_[flow].buses) ++users_[bus];
    }
    const auto share = [&](std::size_t flow) {
      double rate = flows_[flow].most_bytes_per_ms;
      for (const std::size_t bus : flows_[flow].buses) {
        rate = std::min(rate, left_[bus] / users_[bus]);
      }
      return rate;
    };
    double least = kNeverMs;
    for (const std::size_t flow : unfixed_) least = std::min(least, share(flow));
    constexpr double kEqual = 1 + 1e-12;
    const auto open = std::partition(unfixed_.begin(), unfixed_.end(), [&](std::size_t flow) {
      return share(flow) <= least * kEqual;
    });
    for (auto fixed = unfixed_.begin(); fixed != open; ++fixed) {
      moving()[*fixed].bytes_per_ms = least;
      for (const std::size_t bus : flows_[*fixed].buses) {
        left_[bus] = std::max(0.0, left_[bus] - least);
      }
    }
    unfixed_.erase(unfixed_.begin(), open);
  }
}

/// Returns the time of the next change at these rates.
double FlowQueue::find_next_change() {
  double next_ms = kNeverMs;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Moving& flow = moving()[i];
    if (flow.state == Moving::State::kLatency) next_ms = std::min(next_ms, flow.until_ms);
    if (flow.state == Moving::State::kMoves) {
      next_ms = std::min(next_ms, shared().at_ms + flow.left_bytes / flow.bytes_per_ms);
    }
  }
  shared().next_change_ms.store(next_ms, std::memory_order_release);
  return next_ms;
}

/// REQUIRES: the queue is locked.
void FlowQueue::advance_to(double now_ms) {
  double next_ms = next_change_ms();
  while (next_ms <= now_ms) {
    const double passed_ms = next_ms - shared().at_ms;
    shared().at_ms = next_ms;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      Moving& flow = moving()[i];
      if (flow.state == Moving::State::kMoves) {
        flow.left_bytes -= flow.bytes_per_ms * passed_ms;
      } else if (flow.state == Moving::State::kLatency && flow.until_ms <= next_ms) {
        flow.state = Moving::State::kMoves;
      }
      // A byte that rounding leaves would never move: the clock is too coarse for it.
      const double least = std::max(kNoBytes, flow.bytes_per_ms * 1e-6);
      if (flow.state != Moving::State::kMoves || flow.left_bytes > least) continue;
      flow.state = Moving::State::kIdle;
      flow.ended.fetch_add(1, std::memory_order_release);
    }
    find_rates();
    next_ms = find_next_change();
  }
}

void FlowQueue::start(std::size_t flow) {
  start_now(flow);
  wake_all(shared().starts);
}

void FlowQueue::start_now(std::size_t number) {
  Lock lock(*this);
  const double now_ms = this->now_ms();
  advance_to(now_ms);
  // The flows under way have moved up to the last change only.
  const double passed_ms = std::max(0.0, now_ms - shared().at_ms);
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Moving& other = moving()[i];
    if (other.state == Moving::State::kMoves) other.left_bytes -= other.bytes_per_ms * passed_ms;
  }
  shared().at_ms = std::max(shared().at_ms, now_ms);
  Moving& flow = moving()[number];
  flow.state = Moving::State::kLatency;
  flow.until_ms = now_ms + flows_[number].latency_ms;
  flow.left_bytes = static_cast<double>(flows_[number].size_bytes);
  flow.bytes_per_ms = 0;
  find_next_change();
  shared().starts.fetch_add(1, std::memory_order_release);
}

void FlowQueue::advance() {
  const double now_ms = this->now_ms();
  if (next_change_ms() > now_ms) return;
  Lock lock(*this);
  advance_to(now_ms);
}

// Counts may overflow: their difference is that of ranks.
void FlowQueue::meet(std::size_t ranks, double longest_ms) {
  std::atomic<std::uint32_t>& arrivals = shared().arrivals;
  expected_ += static_cast<std::uint32_t>(ranks);
  const auto all = [&](std::uint32_t arrived) {
    return static_cast<std::int32_t>(arrived - expected_) >= 0;
  };
  std::uint32_t arrived = arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (all(arrived)) return wake_all(arrivals);
  const double end_ms = now_ms() + longest_ms;
  for (; !all(arrived) && now_ms() < end_ms; arrived = arrivals.load(std::memory_order_acquire)) {
    sleep_while(arrivals, arrived, std::min(end_ms - now_ms(), kLookMs));
  }
}

void FlowQueue::wait(std::size_t flow, const std::atomic<bool>* stop) {
  while (stop == nullptr || !*stop) {
    std::uint32_t starts = 0;
    double next_ms = 0;
    {
      Lock lock(*this);
      advance_to(now_ms());
      if (moving()[flow].state == Moving::State::kIdle) return;
      starts = shared().starts.load(std::memory_order_acquire);
      next_ms = next_change_ms();
    }
    sleep_while(shared().starts, starts, std::min(next_ms - now_ms(), kLookMs));
  }
}

}  // namespace hios::emulated
