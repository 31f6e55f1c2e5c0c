#pragma once

#include <memory>

#include "engine/cpu/backend.h"

namespace hios::test {

/// Returns a CPU backend with this number of threads on any cores.
inline std::unique_ptr<Backend> cpu_backend(int threads) {
  return cpu::make_backend({.threads = threads, .cores = {}});
}

}  // namespace hios::test
