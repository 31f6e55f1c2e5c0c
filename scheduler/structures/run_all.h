#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace hios::scheduler {

/// Calls `work` for 0 … count − 1, each once, begun in this order, from up to `threads` threads of
/// which the caller's is one. Returns when all are done; then rethrows what one threw, the first by
/// number.
template <class Work>
void run_all(std::size_t count, std::size_t threads, Work work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(count);
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t t = 1; t < std::min(threads, count); ++t) helpers.emplace_back(take_turns);
    } catch (const std::system_error&) {
      // The system gives no more threads: fewer do the same work.
    }
    take_turns();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace hios::scheduler
