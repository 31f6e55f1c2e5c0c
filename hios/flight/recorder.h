#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hios/flight/flight.h"

namespace hios::flight {

/// How many events a rank keeps; older ones are overwritten.
inline constexpr std::size_t kEvents = 256;

/// What events are about, said once so that noting one is a few stores: a step of a plan, an
/// operator, a phase.
struct Subject {
  std::string text;
  std::string op = {};
  std::optional<std::size_t> peer = {};
  std::optional<std::size_t> stage = {};
  Bytes bytes = 0;
};

struct Memory;

/// Keeps what this process did last in memory that outlives it: the CrashReporter
/// (hios/flight/crash_reporter.h) and the other ranks of the host can still read it when the
/// process has been killed. note() is for any thread; the rest is the main thread's.
class Recorder {
 public:
  /// Where the system gives no such memory, nothing is recorded, and nothing fails.
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Switched off, note() costs a look at one field.
  void set_enabled(bool enabled) { enabled_ = enabled && memory_ != nullptr; }

  bool enabled() const { return enabled_; }

  void set_program(std::string_view name);
  void set_rank(std::size_t rank, std::optional<std::size_t> ranks);
  void set_job(std::string_view job);
  /// Where the CrashReporter puts the file; empty: nowhere. Made absolute.
  void set_folder(const std::string& folder);
  /// "setting up"; it is an event, too.
  void phase(std::string_view what);

  /// Subjects while they live. Beyond what the memory holds (16,384, with 2 MB of names), events
  /// are noted without words. The memory of sets that do not end in reverse order is free once all
  /// have ended.
  class Subjects {
   public:
    static constexpr std::uint32_t kNone = 0xffffff;

    Subjects() = default;
    Subjects(Recorder* recorder, std::span<const Subject> subjects);
    ~Subjects();
    Subjects(Subjects&& other) noexcept;
    Subjects& operator=(Subjects&& other) noexcept;
    /// For note().
    std::uint32_t at(std::size_t i) const {
      return i < count_ ? first_ + static_cast<std::uint32_t>(i) : kNone;
    }

   private:
    Recorder* recorder_ = nullptr;
    std::uint32_t first_ = 0, begin_text_ = 0, count_ = 0;
  };

  /// Allocates nothing, locks nothing, may be called by several threads at once.
  void note(EventKind kind, std::uint32_t subject, std::uint64_t iteration = 0) noexcept {
    if (enabled_) store(kind, subject, iteration);
  }

  /// As it stands now. Any thread; what others note meanwhile may be missing.
  Flight read() const;

  /// What this process's other threads, its CrashReporter and other processes share; null: none.
  Memory* memory() const { return memory_; }
  /// When it was made, in ns since 1970; 0: there is no memory.
  std::int64_t started_ns() const;
  /// By which other processes of the same user on this host find the memory; −1: they cannot.
  int descriptor() const { return descriptor_; }

 private:
  void store(EventKind kind, std::uint32_t subject, std::uint64_t iteration) noexcept;

  Memory* memory_ = nullptr;
  int descriptor_ = -1;
  bool enabled_ = false;
  std::size_t sets_ = 0;  ///< of subjects, alive
};

/// The record of another process of this host, which may be dead or stopped.
class PeerRecord {
 public:
  /// Finds the memory of process `process`, whose Recorder has `descriptor`. Empty where the
  /// system does not let us.
  static std::unique_ptr<PeerRecord> open(std::int64_t process, int descriptor);
  ~PeerRecord();
  PeerRecord(const PeerRecord&) = delete;
  PeerRecord& operator=(const PeerRecord&) = delete;

  Flight read() const;
  /// "is stopped", "has died"; empty: it lives.
  std::string trouble() const;

 private:
  PeerRecord(std::int64_t process, Memory* memory) : process_(process), memory_(memory) {}

  std::int64_t process_;
  Memory* memory_;
};

/// Reads a record. `ending` replaces kRunning where the process is known to be dead.
Flight read(const Memory& memory);

}  // namespace hios::flight
