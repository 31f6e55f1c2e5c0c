#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/emulated_cuda/cuda_runtime_api.h"

/// The device that runs queued work, one piece after another, under one lock. Hosts run it where
/// they wait; a thread of the device's own runs what has waited for a while, since another process
/// may wait for that.
namespace hios::cuda_emulation {

/// A failure of work while it runs. From then on every call returns it, as CUDA's sticky errors.
struct Fault {
  cudaError_t error;
};

/// The progress of an event, in memory that processes may share. Each record has the next number,
/// from 1. Records on different queues may end in another order than that of their numbers.
struct EventState {
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<double> ms{0};  ///< the device's clock at the last completed record

  /// Returns the number of a record that begins. REQUIRES: fewer than 4,096 are under way.
  std::uint64_t begin() {
    const std::uint64_t number = recorded + 1;
    if (!ended(number)) {
      std::fputs("emulated CUDA: an event has more records under way than are counted\n", stderr);
      std::abort();
    }
    word_of(number) |= bit_of(number);
    return recorded = number;
  }
  void end(std::uint64_t number) { word_of(number) &= ~bit_of(number); }
  bool ended(std::uint64_t number) const {
    return number == 0 || (under_way_[number / 64 % kWords] & bit_of(number)) == 0;
  }

 private:
  static constexpr std::size_t kWords = 64;
  static std::uint64_t bit_of(std::uint64_t number) { return std::uint64_t{1} << number % 64; }
  std::atomic<std::uint64_t>& word_of(std::uint64_t number) {
    return under_way_[number / 64 % kWords];
  }

  std::array<std::atomic<std::uint64_t>, kWords> under_way_{};  // a bit for each record
};

/// A piece of work: a kernel, copy or call of a library; or the record of an event, or the wait for
/// one, each with the record's number.
struct Work {
  std::string name;
  std::function<void()> run;  ///< may throw Fault
  std::shared_ptr<EventState> records{}, waits_for{};
  std::uint64_t number = 0;
  std::vector<std::size_t> after{};  ///< in a graph: indices of earlier work
  std::function<bool()> may_run{};   ///< true once another process has done its part; null: always
  std::string range{};               ///< in which it was queued (ranges.h)
  std::shared_ptr<void> holds{};     ///< in a graph: what its library must keep until then
};

/// An element of a queue: one piece of work, or a graph of them.
struct Item {
  std::vector<Work> works;
  std::chrono::steady_clock::time_point queued{};
  std::vector<bool> ended{};
  std::size_t left = 0;
};

struct Queue {
  std::deque<Item> items;
};

class Device {
 public:
  static Device& get();

  std::mutex& lock() { return mutex_; }

  // REQUIRES, of all below: the lock is held.
  std::shared_ptr<Queue> make_queue();
  /// Adds work. A record gets its number now.
  void push(const std::shared_ptr<Queue>& queue, std::vector<Work> works);
  /// Runs work of no queue now; returns its fault.
  cudaError_t run_now(Work& work);
  /// Runs work until the queue is empty or a fault occurs. Releases the lock while another process
  /// is to do something first.
  void drain(std::unique_lock<std::mutex>& held, const std::shared_ptr<Queue>& queue);
  void drain_all(std::unique_lock<std::mutex>& held);
  /// Asks whether a record has completed; a host that asks often enough makes the device run.
  bool completed(const EventState& state, std::uint64_t number);
  cudaError_t sticky() const { return sticky_; }
  double clock_ms() const { return clock_ms_; }

 private:
  Device();
  void run_old_work();
  /// Returns the indices of the item's works that can run now.
  static std::vector<std::size_t> free_works(const Item& item);
  static bool ready(const Item& item) { return !free_works(item).empty(); }
  /// Runs one piece of the item at the front of the queue. REQUIRES: ready.
  void step(Queue& queue);
  void run(Work& work);
  /// Returns true if the settings let this work fault.
  bool faults(const Work& work);
  /// Runs one piece of work that brings the queue, or the event, nearer to its end; returns false
  /// if there is none.
  bool step_towards(Queue& queue);
  bool step_towards(const EventState& state, std::uint64_t number);
  bool step_any();
  Queue* queue_that_records(const EventState& state, std::uint64_t number);

  std::mutex mutex_;
  std::vector<std::shared_ptr<Queue>> queues_;
  cudaError_t sticky_ = cudaSuccess;
  double clock_ms_ = 0;
  unsigned questions_ = 0;
  int faulty_ = 0;  // works so far that the settings name
};

/// Returns a sticky error if there is one; else `error`, which the host's next cudaGetLastError
/// returns.
cudaError_t answer(cudaError_t error);

}  // namespace hios::cuda_emulation
