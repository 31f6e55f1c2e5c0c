// Each slot belongs to its thread and to the consumer in turns, which one number says; it only
// grows, so that an iteration begins where the last one ended. Tests:
// tests/engine/cold/read_ahead_test.cpp.
#include "engine/cold/read_ahead.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "hios/base/error.h"

namespace hios {
namespace {

constexpr Bytes kPage = DirectFile::kAlignment;
// Bytes between two stretches that are read along: less than a seek costs.
constexpr Bytes kGap = Bytes{16} * 1024;
// The first chunk, on which the first operator waits; each later one has twice as many bytes.
constexpr Bytes kFirstChunk = Bytes{256} * 1024;

Bytes down(Bytes offset) { return offset / kPage * kPage; }

}  // namespace

void ReadAhead::FreeBuffer::operator()(std::byte* buffer) const { std::free(buffer); }

ReadAhead::ReadAhead(const DirectFile& file, std::span<const Stretch> stretches,
                     const Options& options)
    : file_(file), options_(options) {
  Bytes size = std::min(kFirstChunk, options_.chunk_bytes);
  for (std::size_t i = 0; i < stretches.size();) {
    const Bytes begin = stretches[i].offset;
    Bytes end = begin + stretches[i].size_bytes;
    for (++i; i < stretches.size(); ++i) {
      if (stretches[i].offset < end || stretches[i].offset > end + kGap) break;
      end = stretches[i].offset + stretches[i].size_bytes;
    }
    for (Bytes at = down(begin); at < end;) {
      chunks_.push_back({at, std::min(size, end - at)});
      at += size;
      size = std::min(2 * size, options_.chunk_bytes);
    }
  }
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
  std::uint64_t turn = 0;
  for (std::uint64_t seen = 0;;) {
    iteration_.wait(seen, std::memory_order_acquire);
    ++seen;  // the main thread begins no iteration before the last one was copied
    if (stopped_) return;
    for (std::size_t c = first; c < chunks_.size(); c += slots_.size()) {
      if (!wait_for_turn(slot, turn)) return;
      try {
        file_.read(slot.buffer.get(), chunks_[c].offset, chunks_[c].needed, options_.chunk_bytes);
      } catch (...) {
        slot.failure = std::current_exception();
      }
      slot.turn.store(turn + 1, std::memory_order_release);
      slot.turn.notify_all();
      turn += 2;
    }
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
    const Bytes end = chunk.offset + chunk.needed;
    if (offset >= end || offset < chunk.offset) {
      release_chunk();
      continue;
    }
    const Bytes size = std::min(size_bytes, end - offset);
    std::memcpy(to, slots_[chunk_ % slots_.size()]->buffer.get() + (offset - chunk.offset), size);
    to += size;
    offset += size;
    size_bytes -= size;
    if (offset == end) release_chunk();
  }
}

}  // namespace hios
