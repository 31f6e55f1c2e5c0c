#include "cli/process/stop_request.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

#include "hios/flight/crash_reporter.h"

namespace hios::cli {
namespace {

struct Signal {
  int number;
  const char* name;
};
/// SIGINT comes last: whoever sees that it has a handler may send any of them.
constexpr std::array<Signal, 4> kSignals = {
    {{SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGUSR2, "SIGUSR2"}, {SIGINT, "SIGINT"}}};

/// Returns the name of a signal of the table; null: it is none. Handlers may call it.
const char* name_of(int signal) {
  for (const Signal& each : kSignals) {
    if (each.number == signal) return each.name;
  }
  return nullptr;
}

/// The signal that asked, set by the handler, which may do little else; 0: none.
std::atomic<int> asked_by = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait for a lock");

/// Returns the semaphore by which the handler wakes the reaper: handlers may use little else. It is
/// never destroyed, since a handler may run on another thread until the last moment.
sem_t& wake() {
  static sem_t semaphore;
  [[maybe_unused]] static const int made = sem_init(&semaphore, 0, 0);
  return semaphore;
}

/// Thread that ends the process once the grace is over.
class Reaper {
 public:
  explicit Reaper(StopRequest::Grace grace) : grace_(std::move(grace)) {
    while (sem_trywait(&wake()) == 0) {  // left over from an earlier request
    }
    sem_init(&ended_, 0, 0);
    thread_ = std::thread([this] { watch(); });
    pthread_setname_np(thread_.native_handle(), "stop-request");
  }
  ~Reaper() {
    done_ = true;
    sem_post(&ended_);
    sem_post(&wake());
    thread_.join();
    sem_destroy(&ended_);
  }

 private:
  void watch() {
    while (sem_wait(&wake()) != 0 && errno == EINTR) {
    }
    if (done_) return;
    timespec end{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double ns = static_cast<double>(end.tv_nsec) + std::fmod(grace_.seconds, 1) * 1e9;
    end.tv_sec += static_cast<time_t>(grace_.seconds) + (ns >= 1e9 ? 1 : 0);
    end.tv_nsec = static_cast<long>(std::fmod(ns, 1e9));
    int waited = 0;
    while ((waited = sem_clockwait(&ended_, CLOCK_MONOTONIC, &end)) != 0 && errno == EINTR) {
    }
    if (waited == 0) return;
    const std::string line = "error: " + grace_.line + "\n";
    // No stream is used: the thread that does not end may hold its lock.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    flight::note_ending(flight::Ending::kTimeOut, grace_.line);
    _exit(exit_status_of_signal(asked_by));
  }

  StopRequest::Grace grace_;
  sem_t ended_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

std::unique_ptr<Reaper> reaper;

/// The actions of the signals before, in the same order.
std::array<struct sigaction, kSignals.size()> before;

void note(int signal) {
  const int error = errno;
  flight::note_ending(flight::Ending::kSignal, name_of(signal));
  int none = 0;
  asked_by.compare_exchange_strong(none, signal);
  sem_post(&wake());
  errno = error;
}

}  // namespace

StopRequest::StopRequest(std::optional<Grace> grace) {
  asked_by = 0;
  wake();  // made here, not by a handler
  if (grace) reaper = std::make_unique<Reaper>(std::move(*grace));
  // The first Ctrl-C resets the handler, so that the second has the default action and ends the
  // program. SIGTERM comes several times at once: a batch system sends it to each process, and the
  // launcher sends it to its ranks again. SIGHUP comes twice where a shell passes it on and its
  // terminal is gone, too.
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    const int number = kSignals[i].number;
    sigaction(number, nullptr, &before[i]);
    if (before[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART | (number == SIGINT ? static_cast<int>(SA_RESETHAND) : 0);
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i].number, &before[i], nullptr);
  reaper.reset();
}

bool StopRequest::asked() { return asked_by != 0; }

int StopRequest::signal() { return asked_by; }

int signal_of_any(mpi::Transport& transport) {
  double signal = asked_by;
  transport.all_reduce_max({&signal, 1});
  return static_cast<int>(signal);
}

StopRequest::Grace grace_of(const mpi::Transport& transport, const std::string& work) {
  // All ranks have ended 3 s after the signal.
  constexpr double kSeconds = 2;
  return {kSeconds, "rank " + std::to_string(transport.rank().index()) + " on " + transport.host() +
                        ": asked to stop, and has not ended " + work + " " +
                        std::to_string(static_cast<int>(kSeconds)) +
                        " s later: ends without a result"};
}

int exit_status_of_signal(int signal) { return 128 + signal; }

std::string signal_name(int signal) {
  const char* const name = name_of(signal);
  return name ? name : "signal " + std::to_string(signal);
}

}  // namespace hios::cli
