#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "mpi/accelerator.h"

/// Devices for tests: their memory is this process's, their queues hold work that nobody runs until
/// somebody has to. So a reader that did not wait sees stale bytes, and every order that queues and
/// events allow can come up.
namespace hios::test {

class FakeMachine;
struct FakeEngine;

struct FakeOptions {
  /// When queued work runs.
  enum class Pace {
    kLazy,    ///< only what done() or synchronize() asks for, and as little of it as helps
    kRandom,  ///< the same, and at every call a few more, by the seed
    kEager,   ///< as soon as queues and events allow
  };
  Pace pace = Pace::kRandom;
  std::uint64_t seed = 0;
  std::string identity = "FAKE-0";
  /// make_memory beyond this fails; 0: no limit.
  Bytes memory_bytes = 0;
  // Faults.
  bool exports = true;          ///< off: export_memory and export_event throw
  bool imports = true;          ///< off: import_memory throws, as without peer access
  bool copies_wrongly = false;  ///< every queued copy spoils a byte
  /// The operation (from 0, copies and enqueued functions counted) that fails when it runs: from
  /// then on done(), synchronize(), read and write throw.
  std::optional<std::size_t> failing;
};

/// One rank's view of a fake device. Calls are its own thread's, but the work itself runs on
/// whichever thread drives the machine, one piece at a time under the machine's lock; an enqueued
/// function must not call a device, and what it touches belongs to it until synchronize() returns.
/// An address of device memory is a host address (so that MPI can take it), yet copy, read and
/// write refuse one that this device does not own, has not pinned or has not imported, and the
/// host's reads and writes throw while work is queued.
class FakeAccelerator final : public mpi::Accelerator {
 public:
  /// A device on a machine of its own.
  explicit FakeAccelerator(const FakeOptions& options = {});
  /// A device that shares memory and events with the others on `machine`.
  FakeAccelerator(std::shared_ptr<FakeMachine> machine, const FakeOptions& options);
  ~FakeAccelerator() override;

  /// Ends all that is queued without doing it, as the end of a process does: before what the work
  /// reads goes away.
  void abandon();

  // For backends: streams beside the three queues, and work of any kind.
  using Stream = std::size_t;
  static Stream stream(mpi::Queue queue) { return static_cast<Stream>(queue); }
  Stream make_stream();
  void enqueue(Stream stream, std::function<void()> work);
  void enqueue(mpi::Queue queue, std::function<void()> work) {
    enqueue(stream(queue), std::move(work));
  }
  void record(mpi::DeviceEvent& event, Stream stream);
  void wait(mpi::DeviceEvent& event, Stream stream);

  /// What make_memory could still give; nothing without a limit.
  std::optional<Bytes> free_bytes() const;
  /// How often synchronize() was called: a timed loop's business.
  std::size_t synchronizations() const { return synchronizations_; }
  /// Whether the address lies in device memory of any fake device of the process.
  static bool owns(const std::byte* address);

  const std::string& identity() const override;
  std::unique_ptr<mpi::DeviceMemory> make_pinned(Bytes size_bytes,
                                                 const std::string& what) override;
  std::unique_ptr<mpi::DeviceMemory> make_memory(Bytes size_bytes,
                                                 const std::string& what) override;
  mpi::Queue in_queue(Rank peer) override;
  std::unique_ptr<mpi::DeviceEvent> make_event(bool shared) override;
  void record(mpi::DeviceEvent& event, mpi::Queue queue) override { record(event, stream(queue)); }
  void wait(mpi::DeviceEvent& event, mpi::Queue queue) override { wait(event, stream(queue)); }
  void copy(std::byte* to, const std::byte* from, Bytes size_bytes, mpi::Queue queue) override;
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
  std::map<std::size_t, mpi::Queue> in_queues_;  // by rank
  std::size_t synchronizations_ = 0;
};

std::shared_ptr<FakeMachine> make_fake_machine();

}  // namespace hios::test
