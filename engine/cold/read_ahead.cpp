// Each slot belongs to its thread and to the consumer in turns, which one number says; it only
// grows, so that an iteration begins where the last one ended. Tests:
// tests/engine/cold/read_ahead_test.cpp.
#include "engine/cold/read_ahead.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "engine/host/cores.h"
#include "hios/base/error.h"

namespace hios {
namespace {

constexpr Bytes kPage = DirectFile::kAlignment;
// Bytes between two stretches that are read along: less than a seek costs.
constexpr Bytes kGap = Bytes{16} * 1024;
// The first chunk, on which the first operator waits; each later one has twice as many bytes.
constexpr Bytes kFirstChunk = Bytes{256} * 1024;
// Reads straight to their memory of fewer bytes would save less copying than their own requests
// cost; and of the bytes that follow straight ones, at most so many are read with them.
constexpr Bytes kFew = Bytes{64} * 1024;

Bytes down(Bytes offset) { return offset / kPage * kPage; }
Bytes up(Bytes offset) { return down(offset + kPage - 1); }

/// Returns true if pages of the file are pages of the stretch's memory.
bool in_step(const Stretch& stretch) {
  return stretch.to && (reinterpret_cast<std::uintptr_t>(stretch.to) - stretch.offset) % kPage == 0;
}

}  // namespace

void ReadAhead::FreeBuffer::operator()(std::byte* buffer) const { std::free(buffer); }

ReadAhead::ReadAhead(const DirectFile& file, std::span<const Stretch> stretches,
                     const Options& options)
    : file_(file), options_(options) {
  size_ = std::min(kFirstChunk, options_.chunk_bytes);
  plan(stretches);
  try {
    for (std::size_t s = 0; s < std::min(options_.depth, chunks_.size()); ++s) {
      Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
      slot.buffer.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, options_.chunk_bytes)));
      if (!slot.buffer) throw RunError("no memory to read " + file_.name() + " ahead");
      slot.thread = std::thread([this, &slot, s] { serve(slot, s); });
    }
  } catch (const std::system_error& error) {
    stop();
    throw RunError("no thread to read " + file_.name() + " ahead: " + error.what());
  } catch (...) {
    stop();
    throw;
  }
}

void ReadAhead::plan(std::span<const Stretch> stretches) {
  for (const Stretch& stretch : stretches) {
    const Bytes begin = stretch.offset, end = begin + stretch.size_bytes;
    const Bytes first = up(begin), last = down(end);
    if (in_step(stretch) && last >= first + kFew) {
      plan_buffered(begin, first);
      plan_straight(first, last, stretch.to + (first - begin));
      plan_buffered(last, end);
    } else {
      plan_buffered(begin, end);
    }
  }
}

Bytes ReadAhead::next_size() {
  const Bytes size = size_;
  size_ = std::min(2 * size, options_.chunk_bytes);
  return size;
}

void ReadAhead::plan_straight(Bytes begin, Bytes end, std::byte* to) {
  for (Bytes at = begin; at < end;) {
    const Bytes size = std::min(next_size(), end - at);
    chunks_.push_back(
        {at, size, to + (at - begin), size, size + std::min(kFew, options_.chunk_bytes)});
    at += size;
  }
}

void ReadAhead::plan_buffered(Bytes begin, Bytes end) {
  if (!chunks_.empty() && begin >= chunks_.back().end() && begin <= chunks_.back().end() + kGap) {
    Chunk& last = chunks_.back();
    const Bytes until = std::min(end, last.offset + last.room);
    if (until > begin) {
      last.needed = until - last.offset;
      begin = until;
    }
  }
  if (begin == end) return;
  for (Bytes at = down(begin); at < end;) {
    const Bytes size = next_size();
    chunks_.push_back({at, std::min(size, end - at), nullptr, 0, size});
    at += size;
  }
}

ReadAhead::~ReadAhead() { stop(); }

void ReadAhead::stop() {
  stopped_ = true;
  iteration_.fetch_add(1);
  iteration_.notify_all();
  for (const auto& slot : slots_) {
    slot->turn.fetch_add(2);  // wakes a thread that waits for the consumer
    slot->turn.notify_all();
  }
  for (const auto& slot : slots_) {
    if (slot->thread.joinable()) slot->thread.join();
  }
}

void ReadAhead::begin() {
  chunk_ = 0;
  awaited_ = false;
  iteration_.fetch_add(1, std::memory_order_release);
  iteration_.notify_all();
}

bool ReadAhead::wait_for_turn(Slot& slot, std::uint64_t turn) const {
  for (;;) {
    const std::uint64_t now = slot.turn.load(std::memory_order_acquire);
    if (stopped_) return false;
    if (now == turn) return true;
    slot.turn.wait(now, std::memory_order_acquire);
  }
}

void ReadAhead::serve(Slot& slot, std::size_t first) {
  allow_cores(options_.cores);
  std::uint64_t turn = 0;
  for (std::uint64_t seen = 0;;) {
    iteration_.wait(seen, std::memory_order_acquire);
    ++seen;  // the main thread begins no iteration before the last one was copied
    if (stopped_) return;
    for (std::size_t c = first; c < chunks_.size(); c += slots_.size()) {
      if (!wait_for_turn(slot, turn)) return;
      try {
        read(slot, chunks_[c]);
      } catch (...) {
        slot.failure = std::current_exception();
      }
      slot.turn.store(turn + 1);
      slot.turn.notify_all();
      turn += 2;
    }
  }
}

void ReadAhead::read(Slot& slot, const Chunk& chunk) const {
  const DirectFile::Place buffered{slot.buffer.get(), up(chunk.needed - chunk.straight)};
  if (chunk.straight == 0) {
    file_.read(buffered.to, chunk.offset, chunk.needed, buffered.room);
  } else {
    file_.read({chunk.to, chunk.straight}, buffered, chunk.offset, chunk.needed);
  }
}

void ReadAhead::await_chunk() {
  if (awaited_) return;
  Slot& slot = *slots_[chunk_ % slots_.size()];
  for (;;) {
    const std::uint64_t now = slot.turn.load(std::memory_order_acquire);
    if (now % 2 == 1) break;
    slot.turn.wait(now, std::memory_order_acquire);
  }
  if (slot.failure) std::rethrow_exception(slot.failure);
  awaited_ = true;
}

void ReadAhead::release_chunk() {
  Slot& slot = *slots_[chunk_ % slots_.size()];
  slot.turn.fetch_add(1, std::memory_order_release);
  slot.turn.notify_all();
  awaited_ = false;
  ++chunk_;
}

void ReadAhead::copy(std::byte* to, Bytes offset, Bytes size_bytes) {
  while (size_bytes > 0) {
    await_chunk();
    const Chunk& chunk = chunks_[chunk_];
    const Bytes end = chunk.end(), buffered = chunk.offset + chunk.straight;
    if (offset >= end || offset < chunk.offset) {
      release_chunk();
      continue;
    }
    const Bytes size = std::min(size_bytes, (offset < buffered ? buffered : end) - offset);
    if (offset >= buffered) {
      const std::byte* const buffer = slots_[chunk_ % slots_.size()]->buffer.get();
      std::memcpy(to, buffer + (offset - buffered), size);
    }
    to += size;
    offset += size;
    size_bytes -= size;
    if (offset == end) release_chunk();
  }
}

}  // namespace hios
