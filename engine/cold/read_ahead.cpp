// The file is cut into chunks once; who reads them, threads or the system's queue, knows nothing of
// stretches. Tests: tests/engine/cold/read_ahead_test.cpp.
#include "engine/cold/read_ahead.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace hios {
namespace {

// Threads wait for a core after each chunk, so that smaller chunks and fewer of them read slower.
// The queue needs no thread's turn: with smaller chunks, what is needed first comes earlier.
constexpr Bytes kThreadsChunk = Bytes{4} << 20, kQueuedChunk = Bytes{1} << 20;
constexpr std::size_t kThreads = 4, kQueued = 16;

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

ReadAhead::Options ReadAhead::best_options(const DirectFile& file, const std::vector<int>& cores) {
  Options options{.chunk_bytes = kThreadsChunk, .depth = kThreads, .cores = cores};
  if (!file.direct()) return options;
  options.queue = ReadQueue::open(kQueued);
  if (!options.queue) return options;
  options.chunk_bytes = kQueuedChunk;
  options.depth = kQueued;
  return options;
}

Bytes ReadAhead::buffer_bytes() {
  return std::max(kThreadsChunk * kThreads, kQueuedChunk * kQueued);
}

ReadAhead::ReadAhead(const DirectFile& file, std::span<const Stretch> stretches, Options options)
    : chunk_bytes_(options.chunk_bytes) {
  size_ = std::min(kFirstChunk, chunk_bytes_);
  plan(stretches);
  const ChunkBuffers buffers{options.chunk_bytes, std::min(options.depth, chunks_.size())};
  if (options.queue) {
    reader_ = read_by_queue(file, chunks_, buffers, std::move(options.queue));
  } else {
    reader_ = read_by_threads(file, chunks_, buffers, options.cores);
  }
}

ReadAhead::~ReadAhead() = default;

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
  size_ = std::min(2 * size, chunk_bytes_);
  return size;
}

void ReadAhead::plan_straight(Bytes begin, Bytes end, std::byte* to) {
  for (Bytes at = begin; at < end;) {
    const Bytes size = std::min(next_size(), end - at);
    chunks_.push_back({at, size, to + (at - begin), size, size + std::min(kFew, chunk_bytes_)});
    at += size;
  }
}

void ReadAhead::plan_buffered(Bytes begin, Bytes end) {
  if (!chunks_.empty() && begin >= chunks_.back().end() && begin <= chunks_.back().end() + kGap) {
    FileChunk& last = chunks_.back();
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

void ReadAhead::begin() {
  chunk_ = 0;
  awaited_ = false;
  reader_->begin();
}

void ReadAhead::release_chunk() {
  reader_->release(chunk_);
  awaited_ = false;
  ++chunk_;
}

void ReadAhead::copy(std::byte* to, Bytes offset, Bytes size_bytes) {
  while (size_bytes > 0) {
    if (!awaited_) buffer_ = reader_->await(chunk_);
    awaited_ = true;
    const FileChunk& chunk = chunks_[chunk_];
    const Bytes end = chunk.end(), buffered = chunk.offset + chunk.straight;
    if (offset >= end || offset < chunk.offset) {
      release_chunk();
      continue;
    }
    const Bytes size = std::min(size_bytes, (offset < buffered ? buffered : end) - offset);
    if (offset >= buffered) std::memcpy(to, buffer_ + (offset - buffered), size);
    to += size;
    offset += size;
    size_bytes -= size;
    if (offset == end) release_chunk();
  }
}

}  // namespace hios
