// The main thread publishes an iteration by one store, and each lane a load by one store; whoever
// sees a load's end sees its bytes. A lane copies in chunks, between which it counts its bytes, so
// that the line of a watchdog says how far it is. A lane that fails stops, and the main thread
// rethrows what it met. Tests: tests/engine/cold/loader_test.cpp.
#include "engine/cold/loader.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "engine/host/clock.h"
#include "engine/host/cores.h"
#include "hios/base/error.h"

namespace hios {
namespace {

/// The bytes between two counts: some 20 µs of copying.
constexpr Bytes kChunk = Bytes{256} * 1024;

double now_ms() { return ms_between({}, Clock::now()); }

}  // namespace

Loader::Loader(std::vector<LaneOfCopies> lanes, const std::vector<int>& cores,
               std::vector<std::vector<std::size_t>> closed, const DirectFile* file,
               BeforeCopy before_copy)
    : before_copy_(std::move(before_copy)) {
  closed.resize(lanes.size());
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    OneLane& lane = *lanes_.emplace_back(std::make_unique<OneLane>());
    lane.number = l;
    lane.loads = std::move(lanes[l]);
    lane.closed = std::move(closed[l]);
    lane.closed.push_back(lane.loads.size());
    lane.clocks.resize(lane.loads.size());
    for (const auto& load : lane.loads) {
      for (const ParameterCopy& copy : load) lane.size_bytes += copy.size_bytes;
    }
    lane.ended = lane.loads.size();  // as after an iteration
    lane.copied = lane.size_bytes;
  }
  if (file) open_readers(*file, cores);
  try {
    for (const auto& lane : lanes_) {
      lane->thread = std::thread([this, cores, &lane = *lane] {
        allow_cores(cores);
        serve(lane);
      });
    }
  } catch (const std::system_error& error) {
    stop();
    throw RunError(std::string("no thread for a lane of loads: ") + error.what());
  } catch (...) {
    stop();
    throw;
  }
}

Loader::~Loader() {
  closing_ = true;
  for (const auto& lane : lanes_) {  // after an error nobody else opens them
    lane->open_until.store(lane->loads.size(), std::memory_order_release);
    lane->open_until.notify_all();
  }
  for (const auto& lane : lanes_) {
    while (lane->ended.load() < lane->loads.size() && !lane->failed.load()) yield();
  }
  stop();
}

void Loader::open_readers(const DirectFile& file, const std::vector<int>& cores) {
  // Operators may read memory that two loads bring after the first of them, and a disk's read need
  // not keep equal bytes at every moment: such memory is copied to.
  std::map<const std::byte*, int> times;
  for (const auto& lane : lanes_) {
    for (const auto& load : lane->loads) {
      for (const ParameterCopy& copy : load) ++times[copy.to];
    }
  }
  for (const auto& lane : lanes_) {
    std::vector<Stretch> stretches;
    for (const auto& load : lane->loads) {
      for (const ParameterCopy& copy : load) {
        if (!copy.offset) continue;
        std::byte* const to = times[copy.to] == 1 ? copy.to : nullptr;
        stretches.push_back({*copy.offset, copy.size_bytes, to});
      }
    }
    if (stretches.empty()) continue;
    lane->reader =
        std::make_unique<ReadAhead>(file, stretches, ReadAhead::best_options(file, cores));
  }
}

void Loader::fail(const OneLane& lane) { std::rethrow_exception(lane.failure); }

void Loader::stop() {
  stopped_ = true;
  iteration_.fetch_add(1);
  iteration_.notify_all();
  for (const auto& lane : lanes_) {
    if (lane->thread.joinable()) lane->thread.join();
  }
}

void Loader::serve(OneLane& lane) {
  for (std::uint64_t seen = 0;;) {
    iteration_.wait(seen, std::memory_order_acquire);
    seen = iteration_.load(std::memory_order_acquire);
    if (stopped_) return;
    try {
      load_all(lane);
    } catch (...) {
      lane.failure = std::current_exception();
      lane.failed.store(true, std::memory_order_release);
      return;
    }
  }
}

void Loader::load_all(OneLane& lane) {
  Bytes copied = 0;
  if (lane.reader) lane.reader->begin();
  for (std::size_t i = 0; i < lane.loads.size(); ++i) {
    for (std::size_t open; (open = lane.open_until.load(std::memory_order_acquire)) <= i;) {
      lane.open_until.wait(open, std::memory_order_acquire);
    }
    lane.clocks[i].start_ms = now_ms();
    if (before_copy_) before_copy_(lane.number, i, closing_);
    for (const ParameterCopy& copy : lane.loads[i]) {
      for (Bytes at = 0; at < copy.size_bytes; at += kChunk) {
        const Bytes size = std::min(kChunk, copy.size_bytes - at);
        if (copy.offset) {
          lane.reader->copy(copy.to + at, *copy.offset + at, size);
        } else {
          std::memcpy(copy.to + at, copy.from + at, size);
        }
        copied += size;
        lane.copied.store(copied, std::memory_order_relaxed);
      }
    }
    lane.clocks[i].end_ms = now_ms();
    lane.ended.store(i + 1, std::memory_order_release);
  }
}

void Loader::begin() {
  for (const auto& lane : lanes_) {
    lane->ended.store(0, std::memory_order_relaxed);
    lane->copied.store(0, std::memory_order_relaxed);
    lane->next_closed = 0;
    lane->open_until.store(lane->closed.front(), std::memory_order_relaxed);
  }
  iteration_.fetch_add(1, std::memory_order_release);
  iteration_.notify_all();
}

void Loader::open_next(std::size_t l) {
  OneLane& lane = *lanes_[l];
  lane.open_until.store(lane.closed[++lane.next_closed], std::memory_order_release);
  lane.open_until.notify_one();
}

bool Loader::ended() const {
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    if (!ended(l, lanes_[l]->loads.size() - 1)) return false;
  }
  return true;
}

void Loader::yield() { sched_yield(); }

void Loader::finish() {
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    while (!ended(l, lanes_[l]->loads.size() - 1)) yield();
  }
}

std::string Loader::progress_text(std::size_t l) const {
  const OneLane& lane = *lanes_[l];
  return std::to_string(lane.ended.load(std::memory_order_relaxed)) + " of " +
         std::to_string(lane.loads.size()) + " loads, " +
         std::to_string(lane.copied.load(std::memory_order_relaxed)) + " of " +
         std::to_string(lane.size_bytes) + " bytes";
}

}  // namespace hios
