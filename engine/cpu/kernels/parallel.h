#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hios::cpu {

/// Sets the size of OpenMP's (and so oneDNN's) teams on this thread to `threads` during its
/// lifetime.
class ThreadCount {
 public:
  explicit ThreadCount(int threads);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

/// A share of an even division: [begin, end) of `items` for worker `worker` of `workers`.
struct Share {
  std::size_t begin = 0, end = 0;
};

inline Share share_of(std::size_t items, int worker, int workers) {
  const auto w = static_cast<std::size_t>(worker), n = static_cast<std::size_t>(workers);
  return {items * w / n, items * (w + 1) / n};
}

/// Returns a / b, rounded up.
inline std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the number of `threads` that are worth starting for so many values.
inline int team_for(int threads, std::size_t values) {
  constexpr std::size_t kValuesPerThread = 2048;  // about the cost of a fork and join
  const auto most = static_cast<std::size_t>(std::max(1, threads));
  return static_cast<int>(std::clamp<std::size_t>(values / kValuesPerThread, 1, most));
}

/// Calls function(context, worker, workers) on a team of `threads` OpenMP threads, of which the
/// calling one is worker 0. Allocates nothing once the team exists. REQUIRES: the function does not
/// throw.
void run_team(int threads, void (*function)(void* context, int worker, int workers), void* context);

/// Does the same for a callable body(worker, workers); with one thread a plain call.
template <class Body>
void parallel(int threads, Body&& body) {
  if (threads <= 1) {
    body(0, 1);
    return;
  }
  run_team(
      threads,
      [](void* context, int worker, int workers) {
        (*static_cast<std::remove_reference_t<Body>*>(context))(worker, workers);
      },
      &body);
}

/// Calls body(begin, end) on each worker's even share of `items`.
template <class Body>
void parallel_shares(int threads, std::size_t items, Body&& body) {
  parallel(threads, [&](int worker, int workers) {
    const Share share = share_of(items, worker, workers);
    if (share.begin < share.end) body(share.begin, share.end);
  });
}

}  // namespace hios::cpu
