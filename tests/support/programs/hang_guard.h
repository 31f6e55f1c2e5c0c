#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace hios::test {

/// Ends the program where one step of a long test does not end, with a line that says which: a
/// thread that hangs cannot be ended alone. The limit is there to catch hangs, not slowness.
class HangGuard {
 public:
  explicit HangGuard(std::chrono::seconds limit = std::chrono::seconds(120))
      : limit_(limit), thread_([this] { watch(); }) {}
  ~HangGuard() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  HangGuard(const HangGuard&) = delete;
  HangGuard& operator=(const HangGuard&) = delete;

  /// A new step begins.
  void step(std::string what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    ++steps_;
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      const std::size_t seen = steps_;
      const auto over = [&] { return ended_ || steps_ != seen; };
      // Woken at the end only: a step costs no more than a count.
      const auto deadline = std::chrono::steady_clock::now() + limit_;
      while (!ended_ && std::chrono::steady_clock::now() < deadline) {
        changed_.wait_until(lock, deadline);
      }
      if (over()) continue;
      std::fprintf(stderr, "no end after %lld s: %s\n", static_cast<long long>(limit_.count()),
                   what_.c_str());
      std::abort();
    }
  }

  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::size_t steps_ = 0;
  std::string what_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace hios::test
