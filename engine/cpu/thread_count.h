#pragma once

#include <omp.h>

namespace hios::cpu {

/// While it lives, OpenMP (and so oneDNN) on this thread takes teams of `threads`.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace hios::cpu
