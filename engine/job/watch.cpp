#include "engine/job/watch.h"

#include <cstdlib>

#include "hios/base/error.h"

namespace hios::job {

Watch::Watch(mpi::Transport& transport, double timeout_s, std::function<void()> on_stall)
    : transport_(transport), timeout_s_(timeout_s), on_stall_(std::move(on_stall)) {
  // Only the main thread may call MPI, and it is the one that hangs: the launcher ends the others.
  if (!on_stall_) on_stall_ = [] { std::_Exit(static_cast<int>(ExitCode::kRunFailed)); };
}

void Watch::phase(const std::string& what, double extra_s) {
  phase_ = watchdog({[this] { return transport_.heartbeats(); },
                     [this, what] { return what + ": " + transport_.doing(); }},
                    extra_s);
}

std::unique_ptr<Watchdog> Watch::runs(const Executor& executor) {
  phase_.reset();
  return watchdog(watched(executor), 0);
}

std::unique_ptr<Watchdog> Watch::watchdog(Watched watched, double extra_s) const {
  if (timeout_s_ <= 0) return nullptr;
  const std::string who =
      "rank " + std::to_string(transport_.rank().index()) + " on " + transport_.host();
  return std::make_unique<Watchdog>(
      std::move(watched),
      Watchdog::Options{.timeout_s = timeout_s_ + extra_s, .who = who, .limit = timeout_name_},
      on_stall_);
}

}  // namespace hios::job
