#include "support/programs/count_allocations.h"

#include <cstdlib>
#include <new>

namespace hios::test {

std::atomic<bool> counting = false;
std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> refused = 0;
std::atomic<bool> refused_ever_after = false;
std::atomic<std::ptrdiff_t> live_allocations = 0;

}  // namespace hios::test

namespace {

using namespace hios::test;

/// Counts an allocation, and returns true if it is to be refused.
bool refuses() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  const std::size_t number = allocations.fetch_add(1) + 1;
  const std::size_t first = refused.load(std::memory_order_relaxed);
  return first != 0 && (number == first || (number > first && refused_ever_after));
}

void* counted(std::size_t size, std::size_t alignment) {
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* const memory =
      refuses() ? nullptr : std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (memory == nullptr) throw std::bad_alloc();
  live_allocations.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void give_back(void* memory) {
  if (memory != nullptr) live_allocations.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
// Standard algorithms ask for scratch space by the non-throwing form.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return counted(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
