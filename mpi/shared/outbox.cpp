// A message lies in whole granules, the first gap that holds it: a plan sends the same messages in
// each iteration, so these are the same few pages, which stay in cache. Room is freed when none is
// left, since whether a message was taken is written by another core.
#include "mpi/shared/outbox.h"

#include <cstring>
#include <new>

#include "hios/base/error.h"

namespace hios::mpi {
namespace {

constexpr std::size_t kEntries = 16384, kGranule = std::size_t{16} << 10;
constexpr std::size_t kRoomBytes = std::size_t{64} << 20;
constexpr std::size_t kFirstByte = kEntries * sizeof(OutboxEntry);
constexpr std::size_t kOutboxBytes = kFirstByte + kRoomBytes;

OutboxEntry& entry_in(const SharedMemory& memory, std::size_t index) {
  return *std::launder(reinterpret_cast<OutboxEntry*>(memory.data()) + index);
}

}  // namespace

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share them");

OpenedOutbox::OpenedOutbox(const std::string& name) : memory_(name, kOutboxBytes) {}

OutboxEntry& OpenedOutbox::entry(std::size_t index) const { return entry_in(memory_, index); }

Outbox::Outbox()
    : memory_(kOutboxBytes, SharedMemory::Pages::kWhenWritten),
      used_(kRoomBytes / kGranule, false),
      rooms_(kEntries) {
  for (std::size_t index = kEntries; index-- > 0;) free_.push_back(index);
}

OutboxEntry& Outbox::entry(std::size_t index) const { return entry_in(memory_, index); }

std::size_t Outbox::take_entry() {
  if (free_.empty()) free_room();
  if (free_.empty()) {
    throw RunError("more than " + std::to_string(kEntries) +
                   " messages to ranks of this host; send fewer tensors");
  }
  const std::size_t index = free_.back();
  free_.pop_back();
  new (&entry(index)) OutboxEntry{};
  return index;
}

void Outbox::leave_entry(std::size_t index) { leaving_.push_back(index); }

bool Outbox::taken(std::size_t index) const {
  const OutboxEntry& of = entry(index);
  return of.taken.load(std::memory_order_acquire) == of.turn.load(std::memory_order_relaxed);
}

bool Outbox::put(std::size_t index, const std::byte* data, Bytes size_bytes) {
  if (!taken(index)) return false;
  OutboxEntry& to = entry(index);
  Room& room = rooms_[index];
  if (room.end == room.first) {
    const std::optional<Room> found = room_for(size_bytes);
    if (!found) return false;
    room = *found;
  }
  to.at = kFirstByte + room.first * kGranule;
  std::memcpy(memory_.data() + to.at, data, size_bytes);
  to.turn.store(to.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return true;
}

/// Frees the room of all messages that were taken, and the entries that were left.
void Outbox::free_room() {
  for (std::size_t index = 0; index < rooms_.size(); ++index) {
    Room& room = rooms_[index];
    if (room.end == room.first || !taken(index)) continue;
    for (std::size_t i = room.first; i < room.end; ++i) used_[i] = false;
    room = {};
  }
  std::erase_if(leaving_, [this](std::size_t index) {
    if (!taken(index)) return false;
    free_.push_back(index);
    return true;
  });
}

std::optional<Outbox::Room> Outbox::room_for(Bytes size_bytes) {
  const std::size_t granules = (size_bytes + kGranule - 1) / kGranule;
  std::optional<Room> room = gap_for(granules);
  if (!room) {
    free_room();
    room = gap_for(granules);
  }
  if (!room) return {};
  for (std::size_t i = room->first; i < room->end; ++i) used_[i] = true;
  return room;
}

std::optional<Outbox::Room> Outbox::gap_for(std::size_t granules) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) first = i + 1;
    if (i + 1 - first == granules) return Room{first, i + 1};
  }
  return {};
}

}  // namespace hios::mpi
