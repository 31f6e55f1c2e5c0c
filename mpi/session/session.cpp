#include "mpi/session/session.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <thread>

#include "hios/base/error.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/messages/communicator.h"
#include "mpi/messages/launcher.h"
#include "mpi/session/agreement.h"
#include "mpi/session/exit_status.h"
#include "mpi/session/launch_check.h"
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
  Job() : transport_(MPI_COMM_WORLD), farewell_(duplicate(MPI_COMM_WORLD)) {}

  Transport& transport() { return transport_; }
  bool is_first() const { return transport_.rank() == Rank(0); }

  /// Waits until all ranks have arrived here. Returns false if they have not within `limit_s`.
  bool all_arrive(double limit_s) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    HIOS_MPI(MPI_Ibarrier(farewell_.get(), &barrier));
    int all_came = 0;
    const double start = MPI_Wtime();
    while (true) {
      HIOS_MPI(MPI_Test(&barrier, &all_came, MPI_STATUS_IGNORE));
      if (all_came != 0) return true;
      if (MPI_Wtime() - start > limit_s) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /// Sends this rank's message to the others, empty if it succeeded. Returns the job's message,
  /// empty for none. REQUIRES: all ranks have arrived.
  std::string farewell(const std::string& message) {
    return joint_message(all_gather_text(farewell_.get(), message));
  }

  void close() {
    farewell_.close();
    transport_.close();
    HIOS_MPI(MPI_Finalize());
  }

 private:
  MpiTransport transport_;
  UniqueCommunicator farewell_;
};

/// Runs the body and returns its status, or sets `message` to that of bad input.
int run_body(Job& job, int thread_level, const std::function<int(Transport&)>& body,
             std::optional<InputError>& message) {
  try {
    check_launch(job.transport(), thread_level);
    return body(job.transport());
  } catch (const InputError& error) {
    message = error;
    return static_cast<int>(ExitCode::kBadInput);
  }
}

/// Waits for the others at the end of the body and returns the job's message, empty for none.
/// Throws `message` if the others do not arrive in a few seconds.
std::string farewell_of(Job& job, const std::optional<InputError>& message,
                        const ErrorText& text_of, const SessionTimeout& limit) {
  // A rank with a message has a limit of its own, after which its message is what counts.
  if (message && !job.all_arrive(kOthersSeconds)) throw *message;
  const StartupTimeout timeout(limit, "all ranks end together");
  if (message) return job.farewell(text_of(*message));
  job.all_arrive(std::numeric_limits<double>::infinity());
  return job.farewell({});
}

/// Ends a job whose body returned `status` or threw `message`; returns the program's exit status.
int end_job(Job& job, int status, const std::optional<InputError>& message,
            const ErrorText& text_of, const SessionTimeout& limit) {
  const std::string agreed = farewell_of(job, message, text_of, limit);
  if (!agreed.empty()) {
    if (job.is_first()) print_error(agreed);
    status = static_cast<int>(ExitCode::kBadInput);
  }
  // Without a limit: who reads the output may pause.
  std::cout.flush();
  std::fflush(nullptr);
  const StartupTimeout timeout(limit, "all ranks end together (MPI_Finalize)");
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

Library library() {
#ifdef OPEN_MPI
  return Library::kOpenMpi;
#else
  return Library::kOther;
#endif
}

int run_session(int argc, char** argv, const std::function<int(Transport&)>& body,
                const ErrorText& text_of, const SessionTimeout& timeout) {
  if (!launched()) return run_one_rank(body, text_of);
  if (refuse_launch(text_of)) return static_cast<int>(ExitCode::kBadInput);
  prepare_launch_environment();
  std::optional<StartupTimeout> start;
  start.emplace(timeout, "all ranks start together (MPI_Init)");
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    HIOS_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    start->next("all ranks connect (MPI_Comm_dup and the first messages)");
    Job job;
    start.reset();  // no call of MPI comes before those of the body, which has a watchdog
    std::optional<InputError> message;
    const int status = run_body(job, provided, body, message);
    return end_job(job, status, message, text_of, timeout);
  } catch (...) {
    start.reset();
    fail_job(text_of);
  }
}

}  // namespace hios::mpi
