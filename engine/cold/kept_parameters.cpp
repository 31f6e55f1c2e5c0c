#include "engine/cold/kept_parameters.h"

#include <algorithm>
#include <cstring>

#include "engine/backend/arena.h"

namespace hios {
namespace {

/// Returns true for a load that is read from the file.
bool from_file(const PlannedLoad& load, const LoadOptions& options) {
  return options.packed && std::ranges::find(options.disks, load.store) != options.disks.end();
}

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
                               const MemoryOf& memory_of,
                               const std::function<std::string(OpId)>& name_of,
                               const LoadOptions& options, const std::string& who) {
  for (const std::vector<PlannedLoad>& loads : lanes) {
    Loader::LaneOfCopies& lane = lanes_.emplace_back();
    Bytes kept_bytes = 0;
    for (const PlannedLoad& load : loads) {
      for (ParameterCopy& copy : lane.emplace_back(copies_of(load, memory_of))) {
        if (from_file(load, options)) {
          const std::string name = name_of(load.readers.front());
          copy.offset = options.packed->find({copy.to, copy.size_bytes}, name).offset;
        } else {
          copy.from = copy.to;  // until its own memory is there
          kept_bytes += aligned_size(copy.size_bytes);
        }
      }
    }
    if (kept_bytes > 0) keep(backend, lane, kept_bytes, who);
  }
}

void KeptParameters::keep(Backend& backend, Loader::LaneOfCopies& lane, Bytes size_bytes,
                          const std::string& who) {
  kept_.push_back(backend.allocate(size_bytes, "the kept parameters of " + who));
  std::byte* next = kept_.back()->data();
  for (auto& copies : lane) {
    for (ParameterCopy& copy : copies) {
      if (!copy.from) continue;
      std::memcpy(next, copy.to, copy.size_bytes);
      copy.from = next;
      next += aligned_size(copy.size_bytes);
    }
  }
}

void KeptParameters::forget() {
  for (const Loader::LaneOfCopies& lane : lanes_) {
    for (const auto& copies : lane) {
      for (const ParameterCopy& copy : copies) std::memset(copy.to, 0xff, copy.size_bytes);
    }
  }
}

}  // namespace hios
