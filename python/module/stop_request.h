#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

#include "scheduler/deadline.h"

namespace hios::python {

/// A request from another thread to end a search with its best result so far.
class StopRequest {
 public:
  void ask() { asked_ = true; }
  bool asked() const { return asked_; }
  /// Returns a deadline that expires with this request, which outlives it.
  scheduler::Deadline deadline() const;
  /// Returns one that also expires after so many seconds.
  scheduler::Deadline deadline(double seconds) const;

 private:
  std::atomic<bool> asked_ = false;
};

void bind_stop_request(nanobind::module_& module);

}  // namespace hios::python
