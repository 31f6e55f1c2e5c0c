#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/cold/shared/server.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::cold {

/// A time that no cold start of a model beats, by the sets that some device keeps:
/// `after_ms`, and the `ms` of each part whose set is kept nowhere.
struct BoundTerm {
  struct Part {
    std::size_t set = 0;  ///< in Server::sets()
    double ms = 0;
  };
  double after_ms = 0;
  std::vector<Part> parts = {};
};

/// Returns the terms of a model; proofs in bound_terms.cpp. `deadline` is that of lower_bound().
/// Throws InputError where an operator takes less in place than with its parameters on the device.
std::vector<BoundTerm> bound_terms(const Server& server, std::size_t model,
                                   const Deadline& deadline);

}  // namespace hios::scheduler::cold
