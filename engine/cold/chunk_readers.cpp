// A slot is a buffer that its chunks, every n-th of them, have in turns. With threads, each slot
// belongs to its thread and to the consumer in turns, which one number says; it only grows, so that
// an iteration begins where the last one ended. With a queue, the consumer does all: a chunk that
// was read is only an answer in the queue until it is awaited. Tests:
// tests/engine/cold/read_ahead_test.cpp.
#include "engine/cold/chunk_readers.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "engine/host/cores.h"
#include "hios/base/error.h"

namespace hios {
namespace {

// A disk serves all reads of a queue at the same time, so that with more bytes under way the first
// ones come later; fewer do not keep it busy.
constexpr Bytes kMostUnderWay = Bytes{4} << 20;

struct FreeChunk {
  void operator()(std::byte* buffer) const { std::free(buffer); }
};
using ChunkBuffer = std::unique_ptr<std::byte[], FreeChunk>;

ChunkBuffer chunk_buffer(const DirectFile& file, Bytes size) {
  ChunkBuffer buffer(static_cast<std::byte*>(std::aligned_alloc(DirectFile::kAlignment, size)));
  if (!buffer) throw RunError("no memory to read " + file.name() + " ahead");
  return buffer;
}

/// Returns the part of a buffer that a chunk is read to, in whole pages.
DirectFile::Place buffered_of(const FileChunk& chunk, std::byte* buffer) {
  constexpr Bytes kPage = DirectFile::kAlignment;
  return {buffer, (chunk.needed - chunk.straight + kPage - 1) / kPage * kPage};
}

void read_chunk(const DirectFile& file, const FileChunk& chunk, std::byte* buffer) {
  const DirectFile::Place buffered = buffered_of(chunk, buffer);
  if (chunk.straight == 0) {
    file.read(buffered.to, chunk.offset, chunk.needed, buffered.room);
  } else {
    file.read({chunk.to, chunk.straight}, buffered, chunk.offset, chunk.needed);
  }
}

class ThreadedChunks final : public ChunkReader {
 public:
  ThreadedChunks(const DirectFile& file, std::span<const FileChunk> chunks,
                 const ChunkBuffers& buffers, const std::vector<int>& cores)
      : file_(file), chunks_(chunks), cores_(cores) {
    try {
      for (std::size_t s = 0; s < buffers.number; ++s) {
        Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
        slot.buffer = chunk_buffer(file, buffers.size_bytes);
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
  ~ThreadedChunks() override { stop(); }

  void begin() override {
    iteration_.fetch_add(1, std::memory_order_release);
    iteration_.notify_all();
  }

  const std::byte* await(std::size_t chunk) override {
    Slot& slot = slot_of(chunk);
    for (;;) {
      const std::uint64_t now = slot.turn.load(std::memory_order_acquire);
      if (now % 2 == 1) break;
      slot.turn.wait(now, std::memory_order_acquire);
    }
    if (slot.failure) std::rethrow_exception(slot.failure);
    return slot.buffer.get();
  }

  void release(std::size_t chunk) override {
    Slot& slot = slot_of(chunk);
    slot.turn.fetch_add(1, std::memory_order_release);
    slot.turn.notify_all();
  }

 private:
  /// One thread with its buffer. `turn` is even while the thread may fill the buffer, odd while the
  /// consumer may use it.
  struct Slot {
    ChunkBuffer buffer;
    std::atomic<std::uint64_t> turn{0};
    std::exception_ptr failure;
    std::thread thread;
  };

  Slot& slot_of(std::size_t chunk) const { return *slots_[chunk % slots_.size()]; }

  void stop() {
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

  bool wait_for_turn(Slot& slot, std::uint64_t turn) const {
    for (;;) {
      const std::uint64_t now = slot.turn.load(std::memory_order_acquire);
      if (stopped_) return false;
      if (now == turn) return true;
      slot.turn.wait(now, std::memory_order_acquire);
    }
  }

  void serve(Slot& slot, std::size_t first) {
    allow_cores(cores_);
    std::uint64_t turn = 0;
    for (std::uint64_t seen = 0;;) {
      iteration_.wait(seen, std::memory_order_acquire);
      ++seen;  // the main thread begins no iteration before the last one was copied
      if (stopped_) return;
      for (std::size_t c = first; c < chunks_.size(); c += slots_.size()) {
        if (!wait_for_turn(slot, turn)) return;
        try {
          read_chunk(file_, chunks_[c], slot.buffer.get());
        } catch (...) {
          slot.failure = std::current_exception();
        }
        slot.turn.store(turn + 1);
        slot.turn.notify_all();
        turn += 2;
      }
    }
  }

  const DirectFile& file_;
  const std::span<const FileChunk> chunks_;
  const std::vector<int> cores_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::uint64_t> iteration_{0};
  std::atomic<bool> stopped_{false};
};

class QueuedChunks final : public ChunkReader {
 public:
  QueuedChunks(const DirectFile& file, std::span<const FileChunk> chunks,
               const ChunkBuffers& buffers, std::unique_ptr<ReadQueue> queue)
      : file_(file), chunks_(chunks), slots_(buffers.number), queue_(std::move(queue)) {
    for (Slot& slot : slots_) slot.buffer = chunk_buffer(file, buffers.size_bytes);
  }

  void begin() override {
    next_ = 0;
    under_way_ = 0;
    read_on(0);
  }

  const std::byte* await(std::size_t chunk) override {
    Slot& slot = slot_of(chunk);
    while (!slot.result) {
      const ReadQueue::Ended ended = named([&] { return queue_->wait(); });
      slots_[ended.tag].result = ended.result;
    }
    // A read that failed or ended early is made again, which finds out why or reads the rest.
    if (*slot.result < static_cast<ssize_t>(chunks_[chunk].needed)) {
      read_chunk(file_, chunks_[chunk], slot.buffer.get());
    }
    return slot.buffer.get();
  }

  void release(std::size_t chunk) override {
    under_way_ -= chunks_[chunk].needed;
    read_on(chunk + 1);
  }

 private:
  struct Slot {
    ChunkBuffer buffer;
    std::array<iovec, 2> places{};
    std::optional<ssize_t> result;  // none while the read is under way
  };

  Slot& slot_of(std::size_t chunk) { return slots_[chunk % slots_.size()]; }

  /// Starts the reads of chunks that have a buffer. `first`: those before it have given theirs
  /// back.
  void read_on(std::size_t first) {
    for (; next_ < std::min(chunks_.size(), first + slots_.size()); ++next_) {
      const FileChunk& chunk = chunks_[next_];
      if (next_ > first && under_way_ + chunk.needed > kMostUnderWay) break;
      Slot& slot = slot_of(next_);
      const DirectFile::Place buffered = buffered_of(chunk, slot.buffer.get());
      std::size_t places = 0;
      if (chunk.straight > 0) slot.places[places++] = {chunk.to, chunk.straight};
      if (buffered.room > 0) slot.places[places++] = {buffered.to, buffered.room};
      slot.result.reset();
      queue_->add(file_.descriptor(), std::span(slot.places).first(places), chunk.offset,
                  next_ % slots_.size());
      under_way_ += chunk.needed;
    }
    named([&] { queue_->start(); });
  }

  /// Adds the file's name to what the queue throws.
  template <typename Call>
  std::invoke_result_t<Call> named(Call&& call) const {
    try {
      return call();
    } catch (const RunError& error) {
      throw RunError(file_.name() + ": cannot be read ahead: " + error.what());
    }
  }

  const DirectFile& file_;
  const std::span<const FileChunk> chunks_;
  std::size_t next_ = 0;  // the first chunk whose read has not started
  Bytes under_way_ = 0;   // of chunks that were started and not released
  std::vector<Slot> slots_;
  std::unique_ptr<ReadQueue> queue_;  // waits for its reads before the buffers end
};

}  // namespace

std::unique_ptr<ChunkReader> read_by_threads(const DirectFile& file,
                                             std::span<const FileChunk> chunks,
                                             const ChunkBuffers& buffers,
                                             const std::vector<int>& cores) {
  return std::make_unique<ThreadedChunks>(file, chunks, buffers, cores);
}

std::unique_ptr<ChunkReader> read_by_queue(const DirectFile& file,
                                           std::span<const FileChunk> chunks,
                                           const ChunkBuffers& buffers,
                                           std::unique_ptr<ReadQueue> queue) {
  return std::make_unique<QueuedChunks>(file, chunks, buffers, std::move(queue));
}

}  // namespace hios
