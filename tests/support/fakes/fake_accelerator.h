#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "mpi/accelerator.h"

/// Devices for tests. Their memory is this process's, and their queues hold work that does not run
/// until some call needs it. So a consumer that did not wait sees stale bytes, and every order that
/// queues and events allow can occur.
namespace hios::test {

class FakeMachine;
struct FakeEngine;

struct FakeOptions {
  /// The time at which queued work runs.
  enum class Pace {
    kLazy,    ///< only work that done() or synchronize() needs, and as little of it as possible
    kRandom,  ///< the same, and at every call some more, randomly by the seed
    kEager,   ///< at once, within the order of queues and events
  };
  Pace pace = Pace::kRandom;
  std::uint64_t seed = 0;
  std::string identity = "FAKE-0";
  /// Limits of make_memory, and of each block of make_pinned; 0: none.
  Bytes memory_bytes = 0, pinned_bytes = 0;
  // Faults.
  bool exports = true;          ///< off: export_memory and export_event throw
  bool imports = true;          ///< off: import_memory throws, as without peer access
  bool copies_wrongly = false;  ///< every queued copy spoils a byte
  /// Index of the operation (copies and enqueued functions count) that fails when it runs. From
  /// then on done(), synchronize(), read and write throw.
  std::optional<std::size_t> failing;
};

/// One rank's view of a fake device. One thread makes the calls, but the work itself runs on the
/// thread that drives the machine, one operation at a time under the machine's lock. An enqueued
/// function must not call a device, and its data belong to it until synchronize() returns. An
/// address of device memory is a host address (so that MPI can use it). Yet copy, read and write
/// refuse an address that this device has not allocated, pinned or imported, and the host's reads
/// and writes throw while work is queued.
class FakeAccelerator final : public mpi::Accelerator {
 public:
  /// Makes a device on a machine of its own.
  explicit FakeAccelerator(const FakeOptions& options = {});
  /// Makes a device that shares memory and events with the others on `machine`.
  FakeAccelerator(std::shared_ptr<FakeMachine> machine, const FakeOptions& options);
  ~FakeAccelerator() override;

  /// Ends all queued work without running it, as the end of a process does. Call it before the data
  /// of that work are freed.
  void abandon();

  // For backends: streams in addition to the three queues, and work of any kind.
  using Stream = std::size_t;
  static Stream stream(mpi::Queue queue) { return static_cast<Stream>(queue); }
  Stream make_stream();
  void enqueue(Stream stream, std::function<void()> work);
  void enqueue(mpi::Queue queue, std::function<void()> work) {
    enqueue(stream(queue), std::move(work));
  }
  void record(mpi::DeviceEvent& event, Stream stream);
  void wait(mpi::DeviceEvent& event, Stream stream);

  /// Between the first of these and one of the others, the calls of record, wait, copy and fill are
  /// handed to `take`, to be made later, as often as wanted, instead of being made: as CUDA
  /// captures them. Like CUDA, it refuses (DeviceError) work on queues that do not come from kWork
  /// by events, waits for what is not part of it, queues that do not join kWork in the end, and,
  /// later, to ask or wait for an event that was last recorded in it.
  void begin_capture(std::function<void(std::function<void()>)> take);
  void end_capture();
  void abandon_capture();

  /// Returns the bytes that make_memory could still give; nothing without a limit.
  std::optional<Bytes> free_bytes() const;
  /// Returns the number of calls of synchronize(), for tests of timed loops.
  std::size_t synchronizations() const { return synchronizations_; }
  /// Returns the number of copies queued by copy().
  std::size_t copies() const { return copies_; }
  /// Events that were made to be shared with other ranks.
  std::size_t shared_events() const { return shared_events_; }
  /// Returns true if the address is in device memory of any fake device of the process.
  static bool owns(const std::byte* address);

  const std::string& identity() const override;
  std::unique_ptr<mpi::DeviceMemory> make_pinned(Bytes size_bytes,
                                                 const std::string& what) override;
  std::unique_ptr<mpi::DeviceMemory> make_memory(Bytes size_bytes,
                                                 const std::string& what) override;
  mpi::Queue in_queue(Rank peer) override;
  mpi::Queue load_queue(std::size_t lane) override;
  std::unique_ptr<mpi::DeviceEvent> make_event(bool shared) override;
  void record(mpi::DeviceEvent& event, mpi::Queue queue) override;
  void wait(mpi::DeviceEvent& event, mpi::Queue queue) override;
  void copy(std::byte* to, const std::byte* from, Bytes size_bytes, mpi::Queue queue) override;
  void fill(std::byte* to, std::byte value, Bytes size_bytes, mpi::Queue queue) override;
  std::string export_memory(const std::byte* address) override;
  std::string export_event(mpi::DeviceEvent& event) override;
  std::unique_ptr<mpi::DeviceMemory> import_memory(const std::string& exported) override;
  std::unique_ptr<mpi::DeviceEvent> import_event(const std::string& exported) override;
  void synchronize() override;
  void write(std::byte* to, const std::byte* from_host, Bytes size_bytes) override;
  void read(std::byte* to_host, const std::byte* from, Bytes size_bytes) override;

 private:
  std::shared_ptr<FakeMachine> machine_;
  std::shared_ptr<FakeEngine> engine_;
  struct Capture;
  void capture_work(mpi::Queue queue, std::function<void()> call);

  std::map<std::size_t, mpi::Queue> in_queues_;    // by rank
  std::map<std::size_t, mpi::Queue> load_queues_;  // by lane
  std::unique_ptr<Capture> capture_;               // null: calls are made
  std::size_t captures_ = 0;
  std::size_t synchronizations_ = 0, copies_ = 0, shared_events_ = 0;
};

std::shared_ptr<FakeMachine> make_fake_machine();

}  // namespace hios::test
