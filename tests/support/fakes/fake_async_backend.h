#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/fakes/fake_accelerator.h"
#include "support/fakes/fake_backend.h"

namespace hios::test {

/// The fake backend on a fake device: run_stage, marks and cache flushes are queued and run when
/// the device chooses, groups on streams of their own. Outputs are poisoned when the stage begins
/// on the device, so a read or write in the wrong order shows in the result. Its clock is a count:
/// every operator takes 1 ms of the device, whatever else runs, and every cache_flush as many ms as
/// its bytes; so times of stages are known.
class FakeAsyncBackend final : public FakeBackend {
 public:
  /// `records`: record() records, as with --cuda-graphs on. `recordings_before_refusal`: the number
  /// of recordings before it refuses one (nothing: it refuses none). The device outlives it.
  explicit FakeAsyncBackend(FakeAccelerator& device, bool records = true,
                            std::optional<std::size_t> recordings_before_refusal = {});
  ~FakeAsyncBackend() override;

  /// It refuses because there is no memory for the recording.
  bool refuses_for_memory = false;
  /// Time of the device for reading the clock.
  double mark_ms = 0;
  /// Result of free_memory; nothing: the bytes that the device has left, if it has a limit.
  std::optional<Bytes> free_bytes;
  /// Number of replays of recordings, and of recordings made.
  std::size_t replays = 0, recordings = 0;
  /// Number of stages queued one by one; those during a recording do not count, those before it do.
  std::size_t queued_stages = 0;
  /// Bytes of each cache_flush that ran.
  std::vector<Bytes> flushed_bytes;

  std::string_view name() const override { return "fake-device"; }
  std::string_view kind() const override { return "gpu"; }
  int threads() const override { return 0; }
  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override;
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*poll)(void*), void* poll_argument) override;
  void write(std::byte* to, const void* from_host, Bytes size_bytes) override;
  void read(void* to_host, const std::byte* from, Bytes size_bytes) override;
  std::unique_ptr<CacheFlush> bind_cache_flush(std::span<const std::byte> stretch,
                                               const CoreShare& share) override;
  Bytes cache_bytes() const override { return 1 << 16; }
  std::optional<Bytes> free_memory() const override {
    return free_bytes ? free_bytes : device_.free_bytes();
  }
  mpi::Accelerator* accelerator() override { return &device_; }
  void synchronize() override { device_.synchronize(); }
  std::unique_ptr<ClockMarks> make_marks(std::size_t count) override;

 protected:
  FakeParameters::Block allocate_parameters(Bytes size_bytes, bool in_place) override;
  bool records() const override { return records_; }
  /// Refuses operators that never ran, like libraries that allocate on first use.
  std::unique_ptr<Recording> make_recording(const std::function<void()>& queue) override;

 private:
  struct Command;
  class Replay;
  class Marks;
  class FakeCacheFlush;
  void queue(const Command& command);
  void perform(const Command& command);

  FakeAccelerator& device_;
  const bool records_;
  const std::optional<std::size_t> recordings_before_refusal_;
  std::vector<FakeAccelerator::Stream> streams_;  // by core share; the first is Queue::kWork
  std::unique_ptr<mpi::DeviceEvent> forked_;
  std::vector<std::unique_ptr<mpi::DeviceEvent>> ended_;  // by core share
  std::vector<Command>* recording_ = nullptr;             // while one is made
  std::set<const BoundOperator*> warm_;                   // operators that have run
  double clock_ms_ = 0;                                   // the device's clock
};

}  // namespace hios::test
