#include "engine/cold/kept_parameters.h"

#include <algorithm>

#include "engine/backend/arena.h"
#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios {
namespace {

/// Returns true for a load that is read from the file.
bool from_file(const PlannedLoad& load, const LoadOptions& options) {
  return options.packed && load.store &&
         std::ranges::find(options.disks, *load.store) != options.disks.end();
}

/// Returns the copies of what is kept, without the bytes they come from.
std::vector<ParameterCopy> copies_to(const std::vector<std::span<std::byte>>& memory) {
  std::vector<ParameterCopy> copies;
  for (const std::span<std::byte> part : memory)
    copies.push_back({nullptr, part.data(), part.size()});
  return copies;
}

}  // namespace

void require_shown_parameters(const Backend& backend) {
  if (backend.shows_parameters()) return;
  throw InputError("the " + std::string(backend.name()) +
                       " backend runs no cold starts: it has all parameters before a run",
                   need::OtherBackend{});
}

std::vector<std::span<std::byte>> memory_of_all(std::span<const OpId> readers,
                                                const KeptParameters::MemoryOf& memory_of) {
  std::vector<std::span<std::byte>> memory;
  for (const OpId op : readers) {
    for (const std::span<std::byte> part : memory_of(op)) {
      const auto known = [&](const auto& each) { return each.data() == part.data(); };
      if (std::ranges::none_of(memory, known)) memory.push_back(part);
    }
  }
  return memory;
}

KeptParameters::KeptParameters(Backend& backend, std::span<const std::vector<PlannedLoad>> lanes,
                               const MemoryOf& memory_of,
                               const std::function<std::string(OpId)>& name_of,
                               const LoadOptions& options, const std::string& who)
    : backend_(backend) {
  for (const std::vector<PlannedLoad>& loads : lanes) {
    Loader::LaneOfCopies& lane = lanes_.emplace_back();
    for (const PlannedLoad& load : loads) {
      const auto memory = memory_of_all(load.readers, memory_of);
      lane.emplace_back();
      if (load.from) {
        unread_.insert(unread_.end(), memory.begin(), memory.end());
      } else {
        lane.back() = copies_to(memory);
      }
      if (!from_file(load, options)) continue;
      for (ParameterCopy& copy : lane.back()) {
        const std::string name = name_of(load.readers.front());
        copy.offset = options.packed->find({copy.to, copy.size_bytes}, name).offset;
      }
    }
  }
  std::vector<std::vector<ParameterCopy>*> all;
  for (Loader::LaneOfCopies& lane : lanes_) {
    for (auto& copies : lane) all.push_back(&copies);
  }
  keep(all, who);
}

std::byte* KeptParameters::allocate(Bytes size_bytes, const std::string& what) {
  if (mpi::Accelerator* const device = backend_.accelerator()) {
    pinned_.push_back(device->make_pinned(size_bytes, what));
    return pinned_.back()->data();
  }
  kept_.push_back(backend_.allocate(size_bytes, what));
  return kept_.back()->data();
}

void KeptParameters::keep(const std::vector<std::vector<ParameterCopy>*>& loads,
                          const std::string& who) {
  Bytes sum = 0;
  for (const auto* const copies : loads) {
    for (const ParameterCopy& copy : *copies) {
      if (!copy.offset) sum += aligned_size(copy.size_bytes);
    }
  }
  if (sum == 0) return;
  std::byte* next = allocate(sum, "the kept parameters of " + who);
  for (auto* const copies : loads) {
    for (ParameterCopy& copy : *copies) {
      if (copy.offset) continue;  // in the file
      backend_.read(next, copy.to, copy.size_bytes);
      copy.from = next;
      next += aligned_size(copy.size_bytes);
    }
  }
}

void KeptParameters::add_unread(std::span<const OpId> in_place, const MemoryOf& memory_of) {
  for (const OpId op : in_place) {
    for (const std::span<std::byte> part : memory_of(op)) unread_.push_back(part);
  }
}

void KeptParameters::add_evictions(std::span<const PlannedEviction> evictions,
                                   const MemoryOf& memory_of, const std::string& who) {
  for (const PlannedEviction& eviction : evictions) {
    evicted_.push_back(memory_of_all(eviction.readers, memory_of));
    if (eviction.resident) residents_.push_back(copies_to(evicted_.back()));
  }
  std::vector<std::vector<ParameterCopy>*> all;
  for (auto& copies : residents_) all.push_back(&copies);
  keep(all, who);
}

void KeptParameters::overwrite(std::span<std::byte> part) {
  constexpr std::byte kPoison{0xff};
  if (mpi::Accelerator* const device = backend_.accelerator()) {
    device->fill(part.data(), kPoison, part.size(), mpi::Queue::kWork);
  } else {
    std::ranges::fill(part, kPoison);
  }
}

void KeptParameters::forget() {
  for (const std::span<std::byte> part : unread_) overwrite(part);
  for (const Loader::LaneOfCopies& lane : lanes_) {
    for (const auto& copies : lane) {
      for (const ParameterCopy& copy : copies) overwrite({copy.to, copy.size_bytes});
    }
  }
  backend_.synchronize();
  for (const auto& copies : residents_) {
    for (const ParameterCopy& copy : copies) backend_.write(copy.to, copy.from, copy.size_bytes);
  }
}

void KeptParameters::evict(std::size_t eviction) {
  for (const std::span<std::byte> part : evicted_[eviction]) overwrite(part);
}

}  // namespace hios
