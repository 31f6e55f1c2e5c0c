// The groups of a stage on the cores of a rank.
//
// One thread more than cores is enough to lose the gain of streams: a thread of an idle OpenMP team
// spins for work on the core that another stream's thread needs. So wherever possible there is one
// team with as many threads as cores. A stage of one group runs its operators on the whole team. A
// stage of k groups of one core each is one parallel region, in which member j runs group j. If
// there are more groups than cores, it then runs group j + T: queueing is better than time slices.
// Inside the region oneDNN and our kernels see core shares of one thread and open no team.
//
// Groups of several cores each need teams of their own sizes. libgomp keeps one pool of threads for
// each thread that opens teams, and ends those that a smaller team leaves over. So each such core
// share has a crew: a thread of its own, which sleeps between stages and whose teams always have
// one size. The main thread waits and polls meanwhile.
//
// Fork and join of a region take about 2 µs while the members spin (GOMP_SPINCOUNT), and after that
// a futex wake-up of some 10 to 50 µs. A crew is started through an atomic counter: it spins
// shortly, then waits by std::atomic::wait. run() allocates and locks nothing. Tests:
// tests/engine/cpu/streams_test.cpp.
#include "engine/cpu/streams.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {
namespace {

void pin_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  // If a core was taken away in the meantime, the thread stays where it is: slower, not wrong.
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/// Pins the members of this thread's team of `threads` to cores first, first + 1, … of `cores`.
void pin_members(const std::vector<int>& cores, int first, int threads) {
  if (cores.empty()) return;
  parallel(threads, [&](int worker, int) {
    pin_this_thread(cores[static_cast<std::size_t>(first + worker) % cores.size()]);
  });
}

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Returns when `counter` differs from `seen`.
void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen) {
  constexpr int kSpins = 2000;  // about 20 µs
  for (int i = 0; i < kSpins; ++i) {
    if (counter.load(std::memory_order_acquire) != seen) return;
    pause_briefly();
  }
  while (counter.load(std::memory_order_acquire) == seen) counter.wait(seen);
}

void announce(std::atomic<std::uint32_t>& counter) {
  counter.fetch_add(1, std::memory_order_release);
  counter.notify_one();
}

/// Runs a group; calls `between` between two operators.
template <class Between>
void run_group(const BoundGroup& group, Between&& between) {
  bool first = true;
  for (BoundOperator* op : group) {
    if (!first) between();
    first = false;
    op->run();
  }
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 1> kOpenMpEnvironment{
    {{"GOMP_SPINCOUNT", "5000"}}};

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> recommended_openmp_environment() {
  return kOpenMpEnvironment;
}

struct Streams::Affinity {
  cpu_set_t set;
};

/// The thread of a core share, with a team of the core share's size.
class Streams::Crew {
 public:
  Crew(const CoreShare& share, const std::vector<int>& cores)
      : first_core_(share.first_core), threads_(share.threads), thread_([this, &cores] {
          pin_members(cores, first_core_, threads_);
          announce(progress_);
          work();
        }) {
    await_change(progress_, 0);
  }
  ~Crew() {
    group_ = nullptr;
    announce(orders_);
    thread_.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool serves(const CoreShare& share) const {
    return share.first_core == first_core_ && share.threads == threads_;
  }

  void start(const BoundGroup& group) {
    group_ = &group;
    finished_.store(false, std::memory_order_relaxed);
    announce(orders_);
  }

  /// Returns when the group has ended; calls `poll` after each of its operators.
  template <class Between>
  void await(Between&& poll) {
    for (;;) {
      const std::uint32_t seen = progress_.load(std::memory_order_acquire);
      if (finished_.load(std::memory_order_acquire)) return;
      await_change(progress_, seen);
      poll();
    }
  }

  std::exception_ptr take_error() { return std::exchange(error_, nullptr); }

 private:
  void work() {
    for (std::uint32_t done = 0;; ++done) {
      await_change(orders_, done);
      if (group_ == nullptr) return;
      try {
        run_group(*group_, [this] { announce(progress_); });
      } catch (...) {
        error_ = std::current_exception();
      }
      finished_.store(true, std::memory_order_release);
      announce(progress_);
    }
  }

  int first_core_, threads_;
  std::atomic<std::uint32_t> orders_ = 0, progress_ = 0;
  const BoundGroup* group_ = nullptr;  // null: the thread ends
  std::exception_ptr error_;
  std::atomic<bool> finished_ = true;
  std::thread thread_;  // last member: it starts when all others exist
};

Streams::Streams(int threads, std::vector<int> cores)
    : threads_(threads), cores_(std::move(cores)), errors_(static_cast<std::size_t>(threads)) {
  if (cores_.empty()) return;
  original_ = std::make_unique<Affinity>();
  pthread_getaffinity_np(pthread_self(), sizeof(original_->set), &original_->set);
  pin_team();
}

Streams::~Streams() {
  crews_.clear();
  if (original_) {
    pthread_setaffinity_np(pthread_self(), sizeof(original_->set), &original_->set);
  }
}

void Streams::pin_team() { pin_members(cores_, 0, threads_); }

void Streams::prepare(const CoreShare& share) {
  pin_team();
  if (share.threads == threads_) return;
  // A core share of one core can also be combined with wider ones, but only with three cores or
  // more. It is never at the first core, since core_shares() gives the remainder to the first
  // groups.
  if (share.threads == 1 && (threads_ < 3 || share.first_core == 0)) return;
  for (const auto& known : crews_) {
    if (known->serves(share)) return;
  }
  crews_.push_back(std::make_unique<Crew>(share, cores_));
}

Streams::Crew& Streams::crew(const CoreShare& share) {
  for (const auto& known : crews_) {
    if (known->serves(share)) return *known;
  }
  throw std::logic_error("a stage runs on a core share for which nothing was bound");
}

void Streams::run(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                  void (*poll)(void*), void* poll_argument) {
  const Poll between{poll, poll_argument};
  const bool single_cores =
      std::ranges::all_of(shares, [](const CoreShare& share) { return share.threads == 1; });
  if (groups.size() == 1 && (single_cores || shares[0].threads == threads_)) {
    run_group(groups[0], between);
  } else if (single_cores) {
    run_in_team(groups, between);
  } else {
    run_in_crews(groups, shares, between);
  }
}

void Streams::run_in_team(std::span<const BoundGroup> groups, const Poll& poll) {
  parallel(threads_, [&](int worker, int workers) {
    const auto first = static_cast<std::size_t>(worker);
    try {
      for (std::size_t g = first; g < groups.size(); g += static_cast<std::size_t>(workers)) {
        run_group(groups[g], [&] {
          if (worker == 0) poll();
        });
      }
    } catch (...) {
      errors_[first] = std::current_exception();
    }
  });
  std::exception_ptr first_error;
  for (std::exception_ptr& error : errors_) {
    if (error && !first_error) first_error = error;
    error = nullptr;
  }
  if (first_error) std::rethrow_exception(first_error);
}

void Streams::run_in_crews(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                           const Poll& poll) {
  for (std::size_t g = 0; g < groups.size(); ++g) crew(shares[g]).start(groups[g]);
  std::exception_ptr first_error;
  for (const CoreShare& share : shares) {
    crew(share).await(poll);
    if (std::exception_ptr error = crew(share).take_error(); error && !first_error) {
      first_error = error;
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace hios::cpu
