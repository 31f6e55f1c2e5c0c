#include "engine/cold/kept_parameters.h"

#include <algorithm>
#include <cstring>

#include "engine/backend/arena.h"

namespace hios {
namespace {

/// Returns the copies of a load, each stretch of memory once, without the bytes they come from.
std::vector<ParameterCopy> copies_of(const PlannedLoad& load,
                                     const KeptParameters::MemoryOf& memory_of) {
  std::vector<ParameterCopy> copies;
  for (const OpId op : load.readers) {
    for (const std::span<std::byte> part : memory_of(op)) {
      if (std::ranges::find(copies, part.data(), &ParameterCopy::to) != copies.end()) continue;
      copies.push_back({nullptr, part.data(), part.size()});
    }
  }
  return copies;
}

}  // namespace

KeptParameters::KeptParameters(Backend& backend, std::span<const std::vector<PlannedLoad>> lanes,
                               const MemoryOf& memory_of, const std::string& who) {
  for (const std::vector<PlannedLoad>& loads : lanes) {
    Loader::LaneOfCopies& lane = lanes_.emplace_back();
    Bytes lane_bytes = 0;
    for (const PlannedLoad& load : loads) {
      for (const ParameterCopy& copy : lane.emplace_back(copies_of(load, memory_of))) {
        lane_bytes += aligned_size(copy.size_bytes);
      }
    }
    kept_.push_back(backend.allocate(lane_bytes, "the kept parameters of " + who));
    std::byte* next = kept_.back()->data();
    for (auto& copies : lane) {
      for (ParameterCopy& copy : copies) {
        std::memcpy(next, copy.to, copy.size_bytes);
        copy.from = next;
        next += aligned_size(copy.size_bytes);
      }
    }
  }
}

void KeptParameters::add_unread(std::span<const OpId> in_place, const MemoryOf& memory_of) {
  for (const OpId op : in_place) {
    for (const std::span<std::byte> part : memory_of(op)) unread_.push_back(part);
  }
}

void KeptParameters::forget() {
  for (const std::span<std::byte> part : unread_) std::memset(part.data(), 0xff, part.size());
  for (const Loader::LaneOfCopies& lane : lanes_) {
    for (const auto& copies : lane) {
      for (const ParameterCopy& copy : copies) std::memset(copy.to, 0xff, copy.size_bytes);
    }
  }
}

}  // namespace hios
