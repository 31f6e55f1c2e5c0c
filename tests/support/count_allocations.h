#pragma once

#include <atomic>
#include <cstddef>

/// A program that links count_allocations.cpp has every operator new of its process counted, of all
/// threads, and so stands alone.
namespace hios::test {

extern std::atomic<bool> counting;
extern std::atomic<std::size_t> allocations;  ///< since it was set to 0, while counting

}  // namespace hios::test
