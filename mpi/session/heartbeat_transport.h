#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hios/flight/recorder.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// A transport that shows watchdogs its progress: it counts its calls and names the one under way.
/// It serves the phases without an executor that counts: set-up, measuring, verifying. Channels are
/// passed through unchanged, so that the timed loop pays nothing. If a recorder is given, the calls
/// are events of its record. `inner` and the recorder outlive it.
class HeartbeatTransport final : public Transport {
 public:
  explicit HeartbeatTransport(Transport& inner, flight::Recorder* recorder = nullptr);

  /// Returns a counter that grows with the start and the end of every call. Any thread.
  std::uint64_t heartbeats() const { return heartbeats_.load(std::memory_order_relaxed); }
  /// Returns "waiting for the other ranks (barrier)" or "working on its own". Any thread.
  const char* doing() const { return doing_.load(std::memory_order_relaxed); }

  Rank rank() const override { return inner_.rank(); }
  std::size_t size() const override { return inner_.size(); }
  std::size_t local_rank() const override { return inner_.local_rank(); }
  std::size_t local_size() const override { return inner_.local_size(); }
  const std::string& host() const override { return inner_.host(); }
  std::string path() const override { return inner_.path(); }
  bool claims_device_memory() const override { return inner_.claims_device_memory(); }
  void barrier() override;
  std::vector<std::string> all_gather(const std::string& text) override;
  std::string broadcast(const std::string& text) override;
  void all_reduce_max(std::span<double> values) override;
  std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
    return inner_.open_channel(sends, receives);
  }
  flight::Recorder* recorder() const override { return recorder_ ? recorder_ : inner_.recorder(); }
  [[noreturn]] void abort(int exit_code) override;

 private:
  class Heartbeat;

  Transport& inner_;
  flight::Recorder* recorder_;
  flight::Recorder::Subjects calls_;
  std::atomic<std::uint64_t> heartbeats_{0};
  std::atomic<const char*> doing_{"working on its own"};
};

}  // namespace hios::mpi
