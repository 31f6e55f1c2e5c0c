#include "python/module/stop_request.h"

#include <chrono>

namespace hios::python {
namespace nb = nanobind;

scheduler::Deadline StopRequest::deadline() const {
  return scheduler::Deadline([this] { return asked(); });
}

scheduler::Deadline StopRequest::deadline(double seconds) const {
  // The library of schedulers owns no clock.
  const auto clock = [] {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  };
  return scheduler::Deadline([this] { return asked(); }, clock, seconds);
}

void bind_stop_request(nb::module_& module) {
  nb::class_<StopRequest>(module, "StopRequest")
      .def(nb::init<>())
      .def("ask", &StopRequest::ask)
      .def_prop_ro("asked", &StopRequest::asked);
}

}  // namespace hios::python
