#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace hios::scheduler {

/// Calls `work` once for each of 0 … count − 1, started in this order, on up to `threads` threads
/// including the caller's. Returns when all calls are done, and then rethrows the exception of the
/// lowest number, if any.
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
      // The system has no more threads: fewer threads do the same work.
    }
    take_turns();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace hios::scheduler
