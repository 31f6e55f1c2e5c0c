#include "mpi/session/session.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <thread>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/messages/communicator.h"
#include "mpi/messages/launcher.h"
#include "mpi/session/agreement.h"
#include "mpi/session/exit_status.h"
#include "mpi/session/startup_timeout.h"

// The end of a job. The danger is a rank that waits in MPI for one that has left, so there are only
// two ways out: all ranks finalise together, or one aborts the job.
//
// So every rank ends with a farewell, its message or an empty one, on a communicator of its own,
// where no message of the body can interfere. A rank cannot know whether the others have finished
// or still compute, so it tests a barrier instead of waiting in it. If all arrive, they finalise,
// and rank 0 prints bad input once; its status is that of all ranks. A rank with a message waits
// for the others only a few seconds. Usually they threw the same: they read the same files, or
// agreed. If they do not arrive, it failed alone, and it aborts as after any other failure.
//
// No rank enters MPI_Finalize before all have arrived: when a rank aborts while others finalise,
// Open MPI 4.1.4's launcher sometimes hangs or crashes. tests/mpi/session/session_test.cpp starts a
// job of each kind.
namespace hios::mpi {
namespace {

// Seconds that a rank with a message waits for the others.
constexpr double kOthersSeconds = 3;

/// The job between MPI_Init and MPI_Finalize.
class Job {
 public:
  explicit Job(double timeout_s)
      : transport_(MPI_COMM_WORLD), farewell_(duplicate(MPI_COMM_WORLD)), timeout_s_(timeout_s) {}

  Transport& transport() { return transport_; }
  double timeout_s() const { return timeout_s_; }
  bool is_first() const { return transport_.rank() == Rank(0); }

  /// Sends this rank's message to the others, empty if it succeeded. Returns the job's message,
  /// empty for none; no value if not all ranks arrived within `limit_s`.
  std::optional<std::string> farewell(const std::string& message, double limit_s) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    HIOS_MPI(MPI_Ibarrier(farewell_.get(), &barrier));
    int all_came = 0;
    const double start = MPI_Wtime();
    while (true) {
      HIOS_MPI(MPI_Test(&barrier, &all_came, MPI_STATUS_IGNORE));
      if (all_came != 0) break;
      if (MPI_Wtime() - start > limit_s) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return joint_message(all_gather_text(farewell_.get(), message));
  }

  void close() {
    farewell_.close();
    transport_.close();
    const StartupTimeout timeout(timeout_s_, "all ranks end together (MPI_Finalize)");
    HIOS_MPI(MPI_Finalize());
  }

 private:
  MpiTransport transport_;
  UniqueCommunicator farewell_;
  double timeout_s_;
};

InputError unconnected(std::size_t started, const std::string& why) {
  return InputError("the launcher started " + std::to_string(started) +
                        " processes that do not find each other (" + why + ")",
                    need::MatchingLauncher{});
}

/// Refuses a launch in which MPI_Init would end the process with a long text of its own: then
/// prints one line for all tasks and returns true.
bool refuse_launch([[maybe_unused]] const ErrorText& text_of) {
#ifdef OPEN_MPI
  if (!launched_without_pmix()) return false;
  if (launched_task().value_or(0) == 0)
    print_error(text_of(unconnected(launched_ranks().value_or(0), "Slurm gave them no PMIx")));
  return true;
#else
  return false;
#endif
}

/// Throws InputError, on every rank alike, if the launch cannot work.
void check_launch(const Transport& transport, int thread_level) {
  const std::size_t started = launched_ranks().value_or(transport.size());
  if (started != transport.size()) {
    throw unconnected(started, "MPI sees " + std::to_string(transport.size()));
  }
  if (thread_level < MPI_THREAD_FUNNELED) {
    throw InputError(
        "this MPI allows no threads other than its caller (MPI_THREAD_FUNNELED); use one "
        "that was built with threads");
  }
}

/// Calls Job::farewell. A rank that succeeded waits for the others as long as MPI_Finalize would.
std::optional<std::string> farewell_of(Job& job, const std::optional<std::string>& message) {
  if (message) return job.farewell(*message, kOthersSeconds);
  const StartupTimeout timeout(job.timeout_s(), "all ranks end together");
  return job.farewell({}, std::numeric_limits<double>::infinity());
}

int run_job(int thread_level, const std::function<int(Transport&)>& body, const ErrorText& text_of,
            double timeout_s) {
  Job job(timeout_s);
  int status = 0;
  std::optional<InputError> message;
  try {
    check_launch(job.transport(), thread_level);
    status = body(job.transport());
  } catch (const InputError& error) {
    message = error;
  }
  const std::optional<std::string> agreed =
      farewell_of(job, message ? std::optional(text_of(*message)) : std::nullopt);
  if (!agreed) throw *message;
  if (!agreed->empty()) {
    if (job.is_first()) print_error(*agreed);
    status = static_cast<int>(ExitCode::kBadInput);
  }
  std::cout.flush();
  std::fflush(nullptr);
  job.close();
  return status;
}

[[noreturn]] void fail_job(const ErrorText& text_of) {
  const Failure failure = current_failure(text_of);
  int rank = 0, length = 0;
  char host[MPI_MAX_PROCESSOR_NAME] = "unknown host";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_processor_name(host, &length);
  print_error(with_rank(Rank(static_cast<std::size_t>(rank)), host, failure.text));
  flight::report_failure(flight::Ending::kError, failure.text);
  abort_job(failure.exit_status);
}

}  // namespace

int run_session(int argc, char** argv, const std::function<int(Transport&)>& body,
                const ErrorText& text_of, double timeout_s) {
  if (!launched()) return run_one_rank(body, text_of);
  if (refuse_launch(text_of)) return static_cast<int>(ExitCode::kBadInput);
  prepare_launch_environment();
  int provided = MPI_THREAD_SINGLE;
  {
    const StartupTimeout timeout(timeout_s, "all ranks start together (MPI_Init)");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  }
  try {
    HIOS_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    return run_job(provided, body, text_of, timeout_s);
  } catch (...) {
    fail_job(text_of);
  }
}

}  // namespace hios::mpi
