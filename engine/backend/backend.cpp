// Defaults of backends whose memory is the host's, and whose stages have ended when run_stage
// returns.
#include "engine/backend/backend.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/backend/arena.h"
#include "engine/host/machine.h"
#include "hios/base/error.h"
#include "hios/base/log.h"

namespace hios {
namespace {

/// Flushes a core's caches by reading a stretch of memory, a word a line.
class ReadThrough final : public CacheFlush {
 public:
  explicit ReadThrough(std::span<const std::byte> stretch) : stretch_(stretch) {}
  void set_size(Bytes size_bytes) override {
    size_bytes_ = std::min<Bytes>(size_bytes, stretch_.size());
  }
  void run() override {
    unsigned sum = 0;
    for (Bytes i = 0; i < size_bytes_; i += kArenaAlignment) {
      sum += static_cast<unsigned>(stretch_[i]);
    }
    seen_ = sum;
  }

 private:
  std::span<const std::byte> stretch_;
  Bytes size_bytes_ = 0;
  volatile unsigned seen_ = 0;  // volatile: the reads count as used
};

}  // namespace

Bytes Backend::element_bytes() const { return hios::element_bytes(precision()); }

Json Backend::algorithms(const Operation&, Choosing) { return Json::object(); }

Json Backend::trials() const { return Json::object(); }

Json Backend::in_blocks_of_rows(const Operation&, std::int64_t) { return Json::object(); }

void Backend::write(std::byte* to, const void* from_host, Bytes size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from_host, size_bytes);
}

void Backend::read(void* to_host, const std::byte* from, Bytes size_bytes) {
  if (size_bytes > 0) std::memcpy(to_host, from, size_bytes);
}

std::unique_ptr<CacheFlush> Backend::bind_cache_flush(std::span<const std::byte> stretch,
                                                      const CoreShare&) {
  return std::make_unique<ReadThrough>(stretch);
}

Bytes Backend::cache_bytes() const { return last_level_cache_bytes(); }

std::unique_ptr<Recording> Backend::record(const std::function<void()>& queue,
                                           std::string* refusal) {
  if (!records() || !recording_refused_.empty()) return nullptr;
  queue();
  synchronize();
  try {
    return make_recording(queue);
  } catch (const mpi::DeviceMemoryError&) {
    throw;  // with more free memory, it would be recorded
  } catch (const RunError& error) {
    if (refusal != nullptr) {
      *refusal = printable(error.what(), 300);
      return nullptr;
    }
    recording_refused_ = printable(error.what(), 300);
    log::warning("the device refused to record its stages (" + recording_refused_ +
                 "), so they are queued one by one, which takes the host longer; a newer "
                 "driver and newer libraries may record it");
    return nullptr;
  }
}

std::unique_ptr<Recording> Backend::make_recording(const std::function<void()>&) {
  throw std::logic_error("the " + std::string(name()) + " backend records nothing");
}

std::unique_ptr<ClockMarks> Backend::make_marks(std::size_t) {
  throw std::logic_error("the " + std::string(name()) +
                         " backend has no clock of its own: its stages end with run_stage");
}

}  // namespace hios
