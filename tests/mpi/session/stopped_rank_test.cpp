// A rank that is stopped between two calls of MPI, at the start or the end of a session, where no
// watchdog of a program looks.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/programs/process.h"
#include "support/sanitized.h"

#ifdef HIOS_MPIEXEC
namespace hios::test {
namespace {

struct Stop {
  int rank;
  int call;  ///< counted as in support/fakes/stopping_mpi.cpp
};

struct Ended {
  Stop stop;
  std::string timeout;
  ProcessResult result;
};

bool came_to_the_stop(const Ended& ended) {
  return !lines_with(ended.result.err, " is stopped before call ").empty();
}

/// Runs a job of two ranks. On a busy machine they may take longer than the time-out for a call
/// before: then the job is run again with a longer one.
Ended end_of(const Stop& stop) {
  ProcessOptions options;
  options.limit_s = 100;
  options.all_end = true;
  options.environment = {{"STOP_RANK", std::to_string(stop.rank)},
                         {"STOP_CALL", std::to_string(stop.call)},
                         // Its launcher need not wait for a rank that cannot answer.
                         {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
                         {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"}};
  Ended ended{.stop = stop, .timeout = {}, .result = {}};
  for (const char* timeout : {"1", "2", "4", "8", "16"}) {
    ended.timeout = timeout;
    ended.result = run_mpi(
        2, {"env", "LD_PRELOAD=" HIOS_STOPPING_MPI, HIOS_SESSION_PROBE, "well", timeout}, options);
    if (ended.result.timed_out || came_to_the_stop(ended)) break;
  }
  return ended;
}

/// Runs jobs at the same time, since they mostly wait.
std::vector<Ended> ends_of(const std::vector<Stop>& stops) {
  constexpr std::size_t kAtOnce = 8;
  std::vector<Ended> all(stops.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < kAtOnce; ++i) {
    workers.emplace_back([&] {
      for (std::size_t job = next++; job < stops.size(); job = next++)
        all[job] = end_of(stops[job]);
    });
  }
  workers.clear();
  return all;
}

// Calls 1 to 11 are those of the start, the others those of the end, where both ranks do the same;
// the last is MPI_Finalize.
TEST(StoppedBetweenCalls, EndsTheJobWithALineOfTheOther) {
  std::vector<Stop> stops;
  for (const int rank : {0, 1}) {
    for (int call = 1; call <= 16; ++call) {
      if (call > 12 && rank == 0) continue;
      if (!kSanitized || call == 2 || call == 11) stops.push_back({rank, call});
    }
  }
  for (const auto& [stop, timeout, result] : ends_of(stops)) {
    SCOPED_TRACE("rank " + std::to_string(stop.rank) + ", call " + std::to_string(stop.call));
    const std::string line = "error: rank " + std::to_string(1 - stop.rank) + " on ";
    EXPECT_FALSE(result.timed_out) << result.err;
    EXPECT_EQ(result.left, 0u);
    EXPECT_NE(result.exit_status, 0) << result.err;
    const auto lines = lines_with(result.err, line);
    ASSERT_EQ(lines.size(), 1u) << result.err;
    EXPECT_NE(lines[0].find("no answer for " + timeout + " s (--limit) while all ranks "),
              std::string::npos)
        << lines[0];
    EXPECT_FALSE(lines_with(result.err, " is stopped before call ").empty()) << result.err;
  }
}

}  // namespace
}  // namespace hios::test
#endif
