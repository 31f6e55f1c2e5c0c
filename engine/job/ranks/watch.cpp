#include "engine/job/ranks/watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/host/clock.h"
#include "hios/base/error.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/exchange.h"

namespace hios::job {
namespace {

/// The most time for the watchdogs of the other ranks to print, which started to wait at nearly the
/// same time: once one rank has ended, the launcher ends the others.
constexpr double kOthersSpeak_s = 3;
constexpr std::chrono::milliseconds kBetweenLooks(20);
/// The time for the launcher to take over their lines, of which it gives no sign.
constexpr std::chrono::milliseconds kLinesTravel(200);

/// The process and descriptor by which a rank's record can be opened.
struct RecordLocation {
  std::string host;
  std::int64_t process = 0;
  int descriptor = -1;
  static auto fields(auto& self) { return std::tie(self.host, self.process, self.descriptor); }
};

/// Returns true if the rank waits for others, which are then the cause.
bool waits(const flight::Flight& flight) {
  const flight::Standing standing = flight::standing_of(flight);
  if (standing.collective) return true;
  if (!standing.event) return false;
  const flight::EventKind kind = standing.event->kind;
  return kind == flight::EventKind::kAwaitReceive || kind == flight::EventKind::kAwaitSend ||
         kind == flight::EventKind::kAwaitMessages;
}

}  // namespace

Watch::Watch(mpi::Transport& transport, double timeout_s, flight::Recorder* recorder,
             Watchdog::OnStall on_stall)
    : transport_(transport, recorder),
      recorder_(recorder),
      timeout_s_(timeout_s),
      on_stall_(std::move(on_stall)) {
  if (!on_stall_) on_stall_ = [this](const std::string& line) { end_process(line); };
  if (recorder_) recorder_->set_rank(transport.rank().index(), transport.size());
}

void Watch::meet() {
  const RecordLocation mine{transport_.host(), getpid(), recorder_->descriptor()};
  const std::vector<RecordLocation> locations = mpi::gather(transport_, mine);
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::nanoseconds(recorder_->started_ns()));
  recorder_->set_job(mpi::broadcast(transport_, locations[0].host + "-" +
                                                    std::to_string(locations[0].process) + "-" +
                                                    std::to_string(now.count())));
  for (std::size_t r = 0; r < locations.size(); ++r) {
    if (r == transport_.rank().index() || locations[r].host != mine.host) continue;
    if (auto record = flight::PeerRecord::open(locations[r].process, locations[r].descriptor))
      peers_.push_back({Rank(r), std::move(record)});
  }
}

// A rank prints before it notes the end in its record; one that is dead or stopped prints no more.
bool Watch::all_have_spoken() const {
  return peers_.size() + 1 == transport_.size() &&
         std::ranges::all_of(peers_, [](const Peer& peer) {
           return !peer.record->failure().empty() ||
                  peer.record->read().ending != flight::Ending::kRunning;
         });
}

void Watch::end_process(const std::string& line) const {
  flight::report_failure(flight::Ending::kTimeOut, line);
  const Stopwatch stopwatch;
  while (!all_have_spoken() && stopwatch.seconds() < kOthersSpeak_s) {
    std::this_thread::sleep_for(kBetweenLooks);
  }
  std::this_thread::sleep_for(kLinesTravel);
  // Only the main thread may call MPI, and it is the one that hangs: the launcher ends the others.
  std::_Exit(static_cast<int>(ExitCode::kRunFailed));
}

std::string Watch::silent_peers() const {
  std::string text;
  for (const Peer& peer : peers_) {
    const flight::Flight flight = peer.record->read();
    const std::string failure = peer.record->failure();
    if (failure.empty() && waits(flight)) continue;
    text += "; rank " + std::to_string(peer.rank.index()) + " " +
            (failure.empty() ? "is busy" : failure) + ": " + flight::standing_text(flight);
  }
  return text;
}

void Watch::phase(const std::string& what, double extra_s) {
  if (recorder_) recorder_->phase(what);
  phase_ = watchdog({[this] { return transport_.heartbeats(); },
                     [this, what] { return what + ": " + transport_.doing() + silent_peers(); }},
                    extra_s);
}

std::unique_ptr<Watchdog> Watch::runs(Watched steps, double extra_s) {
  phase_.reset();
  if (recorder_) recorder_->phase("running");
  steps.current_step = [this, words = std::move(steps.current_step)] {
    return words() + silent_peers();
  };
  return watchdog(std::move(steps), extra_s);
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
