#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/emulated/planned_flows.h"
#include "mpi/shared/shared_memory.h"

namespace hios::emulated {

/// The buses of an emulated machine, and the flows that share them now, in memory of all ranks of a
/// host. A flow waits its latency, and then moves its bytes at a rate that is max-min fair over its
/// buses: no flow can be faster without slowing one that is not faster. Time is the host's clock.
/// Any thread of any rank may call all functions. start() and wait() lock the queue, and so does
/// advance() where something can have changed. A rank that dies in any of them leaves a queue that
/// the others can use.
class FlowQueue {
 public:
  /// Returns the time in ms. wait() needs the host's clock.
  using ReadClock = std::function<double()>;
  static double host_clock();

  /// Makes the queue. `flows` outlive this. Throws RunError where there is no memory to share.
  FlowQueue(std::span<const Flow> flows, const Topology& topology, ReadClock clock = host_clock);
  /// Opens the queue that another rank has made of the same flows, and still has. Throws RunError
  /// likewise.
  FlowQueue(std::span<const Flow> flows, const Topology& topology, const std::string& name);

  const std::string& name() const { return memory_.name(); }

  /// Starts a flow now. REQUIRES: it is not under way.
  void start(std::size_t flow);
  /// Returns how often a flow has ended, as far as advance() and wait() of any rank have seen.
  std::uint64_t ended(std::size_t flow) const;
  /// Moves all flows up to now.
  void advance();
  /// Returns when a flow that was started has ended, or soon after `stop` (may be null) is set;
  /// sleeps meanwhile.
  void wait(std::size_t flow, const std::atomic<bool>* stop = nullptr);
  /// Returns when so many ranks have called this as often as this one, or after so many ms; sleeps
  /// meanwhile. Called by one thread of a rank.
  void meet(std::size_t ranks, double longest_ms);
  /// Returns the time in ms since the queue was made.
  double now_ms() const;
  /// Returns that time at the next change of a flow's state; infinity where none is under way.
  double next_change_ms() const;

 private:
  struct Shared;
  struct Moving;
  class Lock;

  Shared& shared() const;
  Moving* moving() const;
  std::size_t bytes_for(std::size_t flows) const;
  void start_now(std::size_t flow);
  void find_rates();
  void advance_to(double now_ms);
  double find_next_change();

  const std::span<const Flow> flows_;
  const ReadClock clock_;
  std::vector<double> bus_bytes_per_ms_;
  mpi::SharedMemory memory_;
  std::uint32_t expected_ = 0;  // arrivals at the meetings so far
  // Scratch, used while the queue is locked.
  std::vector<double> left_, users_;  // by bus
  std::vector<std::size_t> unfixed_;  // flows without a rate
};

}  // namespace hios::emulated
