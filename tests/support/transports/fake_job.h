#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "support/fakes/fake_accelerator.h"
#include "support/fakes/fake_backend.h"
#include "support/transports/thread_transport.h"

/// Whole jobs whose ranks are threads: each rank makes its fake backend by name, as the ranks of a
/// real job do.
namespace hios::test {

/// Returns two backends: "fake" computes on cores, "fake-device" on the device of its rank.
std::span<const BackendEntry> fake_backends();

struct FakeJob {
  std::vector<std::string> backends;  ///< by rank
  /// Called for each fake backend that a rank makes; may be empty.
  std::function<void(Rank, FakeBackend&)> on_make = {};
};

/// Runs the body on a thread for each backend; ranks with a "fake-device" have a device of their
/// own. The transport refuses device memory.
void run_fake_job(const FakeJob& job, const std::function<void(mpi::Transport&)>& body);

/// Returns every rank's InputError, by rank; empty: none.
std::vector<std::string> messages_of_ranks(const FakeJob& job,
                                           const std::function<void(mpi::Transport&)>& body);

/// Expects the same message from every rank, one that says `part`.
void expect_refused_by_all(const std::vector<std::string>& messages, const std::string& part);

}  // namespace hios::test
