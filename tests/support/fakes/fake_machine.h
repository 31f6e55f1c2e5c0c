#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hios/base/numbers/random.h"
#include "support/fakes/fake_accelerator.h"

// The parts of fake devices (fake_accelerator.h). One mutex guards all queues of a machine, and
// work runs under it. So ranks as threads share memory and events as processes share a GPU's, and
// the thread sanitizer sees a race only where a wait is missing.
namespace hios::test {

/// A region of device or pinned memory.
struct FakeRegion {
  FakeRegion(Bytes size, bool on_device);
  ~FakeRegion();
  FakeRegion(const FakeRegion&) = delete;
  FakeRegion& operator=(const FakeRegion&) = delete;
  /// Returns the living region of this process that holds the address; null: none.
  static std::shared_ptr<FakeRegion> find(const std::byte* address);

  const Bytes size_bytes;
  const bool on_device;
  std::byte* const data;
  std::size_t borrowers = 0;  ///< importers that still hold it
};

std::shared_ptr<FakeRegion> make_fake_region(Bytes size_bytes, bool on_device);

struct FakeStream;

/// The state of an event: done once `ended` has reached `recorded`.
struct FakePoint {
  std::uint64_t recorded = 0, ended = 0;
  FakeStream* stream = nullptr;  ///< stream of the last record
  std::size_t borrowers = 0;     ///< importers that still hold it
};

struct FakeWork {
  enum class Kind { kRun, kCopy, kRecord, kWait };
  Kind kind = Kind::kRun;
  std::function<void()> run = {};
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  Bytes size_bytes = 0;
  std::array<std::shared_ptr<FakeRegion>, 2> kept = {};  ///< until the copy has ended
  std::shared_ptr<FakePoint> point = {};
  std::uint64_t generation = 0;  ///< the point's generation
};

struct FakeStream {
  FakeEngine* engine;
  std::vector<FakeWork> work;
  std::size_t next = 0;  ///< all work before it has ended
  bool idle() const { return next == work.size(); }
};

/// One device: its streams and its state.
struct FakeEngine {
  explicit FakeEngine(const FakeOptions& with) : options(with), random(with.seed) {}

  FakeOptions options;
  Random random;
  std::vector<std::unique_ptr<FakeStream>> streams = {};
  std::vector<std::shared_ptr<FakeRegion>> reachable = {};  ///< own, pinned and imported
  Bytes used_bytes = 0;
  std::size_t operations = 0;
  std::string failure = {};
};

class FakeMachine {
 public:
  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }

  // Calls under the lock.
  std::shared_ptr<FakeEngine> add_engine(const FakeOptions& options);
  FakeStream* add_stream(FakeEngine& engine);
  void queue(FakeEngine& engine, std::size_t stream, FakeWork work);
  /// Runs one operation that the point waits for, if there is any.
  void step_towards(const FakePoint& point);
  /// Runs all of the engine's work, and the work of other engines that it waits for.
  void drain(FakeEngine& engine);
  /// Ends the engine's work without running it.
  void discard(FakeEngine& engine);

  std::string share(const std::shared_ptr<FakeRegion>& region);
  std::string share(const std::shared_ptr<FakePoint>& point);
  std::shared_ptr<FakeRegion> shared_region(const std::string& name) const;
  std::shared_ptr<FakePoint> shared_point(const std::string& name) const;

  /// Number of memory regions and events freed while another rank held them, which a real device
  /// does not forgive.
  std::size_t withdrawn = 0;

 private:
  static bool ready(const FakeStream& stream);
  static void run_next(FakeStream& stream);
  void run_some(FakeEngine& engine);
  void run_all_ready();

  std::mutex mutex_;
  std::vector<std::shared_ptr<FakeEngine>> engines_;  // kept, since points refer to their streams
  std::map<std::string, std::weak_ptr<FakeRegion>> regions_;
  std::map<std::string, std::weak_ptr<FakePoint>> points_;
};

}  // namespace hios::test
