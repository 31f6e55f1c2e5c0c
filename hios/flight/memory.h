#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "hios/flight/event_ring.h"

/// The layout of a flight record in memory that processes share. All processes of a host run the
/// same program, so no other program depends on it. Numbers are lock-free atomics. Texts are
/// written once, before the numbers that refer to them, and always end in a 0.
namespace hios::flight {

template <std::size_t N>
struct FixedText {
  char bytes[N];
  void set(std::string_view text) noexcept {
    const std::size_t size = text.size() < N - 1 ? text.size() : N - 1;
    for (std::size_t i = 0; i < size; ++i) bytes[i] = text[i];
    for (std::size_t i = size; i < N; ++i) bytes[i] = '\0';
  }
  std::string get() const {
    std::size_t size = 0;
    while (size + 1 < N && bytes[size] != '\0') ++size;
    return std::string(bytes, size);
  }
};

struct SubjectSlot {
  std::uint32_t stamp;                         ///< a new one each time the slot is filled
  std::uint32_t text, text_size, op, op_size;  ///< in Memory::texts
  std::int32_t peer, stage;                    ///< −1: none
  std::uint64_t bytes;
};

struct Memory {
  static constexpr std::uint64_t kMagic = 0x68696f73666c7431;  // "hiosflt1"
  static constexpr std::size_t kPhases = 16;
  static constexpr std::size_t kSubjects = 16 << 10;
  static constexpr std::size_t kTextBytes = 2 << 20;

  std::uint64_t magic;
  EventRing ring;

  std::atomic<std::uint8_t> ending;  ///< Ending
  FixedText<1024> reason;
  std::atomic<std::int64_t> rank, ranks;  ///< −1: not known
  std::int64_t process;
  FixedText<64> program, job;
  std::atomic<std::uint64_t> phases;  ///< number of phases so far; a phase's event has its number
  FixedText<64> phase[kPhases];
  FixedText<256> host;
  FixedText<4096> folder;
  std::atomic<bool> own_folder;  ///< it is made where it is missing, for its user alone
  FixedText<256> remedy;         ///< the end of the message where no file can be written
  std::int64_t epoch_ns;         ///< the wall clock's time minus the monotonic clock's
  std::int64_t started_ns;       ///< by the wall clock

  std::uint32_t subjects, texts_end, stamps;  ///< numbers in use
  SubjectSlot subject[kSubjects];
  char texts[kTextBytes];
};

/// Returns the time of events: the clock does not jump and is the same for all processes of a host.
std::uint64_t monotonic_ns() noexcept;

}  // namespace hios::flight
