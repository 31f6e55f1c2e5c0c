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

/// The number of events that a rank keeps; older ones are overwritten.
inline constexpr std::size_t kEvents = 256;

/// The subject of events: a step of a plan, an operator or a phase. It is described once, so that
/// recording an event takes a few stores.
struct Subject {
  std::string text;
  std::string op = {};
  std::optional<std::size_t> peer = {};
  std::optional<std::size_t> stage = {};
  Bytes bytes = 0;
};

struct Memory;

/// A record of this process's last events, in memory that outlives it: the CrashReporter
/// (hios/flight/crash_reporter.h) and the other ranks of the host can read it after the process was
/// killed. Any thread may call note(); the rest is for the main thread.
class Recorder {
 public:
  /// Where the system provides no such memory, nothing is recorded, and nothing fails.
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Switches recording on or off; when off, note() only tests one field.
  void set_enabled(bool enabled) { enabled_ = enabled && memory_ != nullptr; }

  bool enabled() const { return enabled_; }

  void set_program(std::string_view name);
  void set_rank(std::size_t rank, std::optional<std::size_t> ranks);
  void set_job(std::string_view job);
  /// Sets the folder of the CrashReporter's file, made absolute; empty: no file.
  void set_folder(const std::string& folder);
  /// Sets a folder that nobody has named: the CrashReporter makes it where it is missing, for its
  /// user alone, and prints the name of the file that it writes. Where there is no such folder
  /// (empty), or it cannot be written to, its message ends with `remedy`.
  void set_own_folder(const std::string& folder, std::string_view remedy);
  /// Begins a phase ("setting up"), which is also an event.
  void phase(std::string_view what);

  /// A set of subjects, valid while the object lives. Events of subjects for which the memory has
  /// no room (16,384, with 2 MB of names) are recorded without a description. The memory of sets
  /// that do not end in reverse order is freed once all have ended.
  class Subjects {
   public:
    static constexpr std::uint32_t kNone = 0xffffff;

    Subjects() = default;
    Subjects(Recorder* recorder, std::span<const Subject> subjects);
    ~Subjects();
    Subjects(Subjects&& other) noexcept;
    Subjects& operator=(Subjects&& other) noexcept;
    /// Returns the number of a subject for note().
    std::uint32_t at(std::size_t i) const {
      return i < count_ ? first_ + static_cast<std::uint32_t>(i) : kNone;
    }

   private:
    Recorder* recorder_ = nullptr;
    std::uint32_t first_ = 0, begin_text_ = 0, count_ = 0;
  };

  /// Records an event. Allocates nothing, locks nothing; several threads may call it at once, and
  /// one that is halted within it loses no event but its own.
  void note(EventKind kind, std::uint32_t subject, std::uint64_t iteration = 0) noexcept {
    if (enabled_) store(kind, subject, iteration);
  }

  /// Returns the record. Any thread; events that others record meanwhile may be missing.
  Flight read() const;

  /// Returns the memory that is shared with the CrashReporter and other processes; null: none.
  Memory* memory() const { return memory_; }
  /// Returns the time when it was made, in ns since 1970; 0: there is no memory.
  std::int64_t started_ns() const;
  /// Returns the descriptor by which the same user's other processes on this host open the memory;
  /// −1: they cannot.
  int descriptor() const { return descriptor_; }

 private:
  void store(EventKind kind, std::uint32_t subject, std::uint64_t iteration) noexcept;

  Memory* memory_ = nullptr;
  int descriptor_ = -1;
  bool enabled_ = false;
  std::size_t sets_ = 0;  ///< sets of subjects that are alive
};

/// The record of another process of this host, which may be dead or stopped.
class PeerRecord {
 public:
  /// Opens the memory of process `process`, whose Recorder has `descriptor`. Returns null where the
  /// system does not permit it.
  static std::unique_ptr<PeerRecord> open(std::int64_t process, int descriptor);
  ~PeerRecord();
  PeerRecord(const PeerRecord&) = delete;
  PeerRecord& operator=(const PeerRecord&) = delete;

  Flight read() const;
  /// Returns "is stopped" or "has died"; empty: the process runs.
  std::string failure() const;

 private:
  PeerRecord(std::int64_t process, Memory* memory) : process_(process), memory_(memory) {}

  std::int64_t process_;
  Memory* memory_;
};

/// Reads a record. `ending` replaces kRunning where the process is known to be dead.
Flight read(const Memory& memory);

}  // namespace hios::flight
