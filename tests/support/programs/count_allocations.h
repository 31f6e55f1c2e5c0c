#pragma once

#include <atomic>
#include <cstddef>

/// A program that links count_allocations.cpp has every operator new of its process counted, of all
/// threads, and so stands alone.
namespace hios::test {

extern std::atomic<bool> counting;
extern std::atomic<std::size_t> allocations;  ///< since it was set to 0, while counting
/// The allocation (of `allocations`, from 1) that is refused; 0: none.
extern std::atomic<std::size_t> refused;
extern std::atomic<bool> refused_ever_after;  ///< and all those after it
/// Allocations that were not freed since the program's start, counted or not.
extern std::atomic<std::ptrdiff_t> live_allocations;

}  // namespace hios::test
