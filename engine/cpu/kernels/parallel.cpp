#include "engine/cpu/kernels/parallel.h"

#include <omp.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace hios::cpu {
namespace {

// libgomp's fork and join are invisible to the thread sanitizer, which would report a race at every
// fork and join. So both are announced to it here, in a function that it does not instrument.
inline void announce_release([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(token);
#endif
}
inline void announce_acquire([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(token);
#endif
}

}  // namespace

[[gnu::noinline, gnu::no_sanitize("thread")]] void run_team(
    int threads, void (*function)(void* context, int worker, int workers), void* context) {
  announce_release(context);
#pragma omp parallel num_threads(threads)
  {
    announce_acquire(context);
    function(context, omp_get_thread_num(), omp_get_num_threads());
    announce_release(context);
  }
  announce_acquire(context);
}

ThreadCount::ThreadCount(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}

ThreadCount::~ThreadCount() { omp_set_num_threads(before_); }

}  // namespace hios::cpu
