// A rank that is killed at any moment: no process is left, the job fails, and a line names the
// rank, its host and its last step. Also: the flight records of ranks, and their explanation.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "hios/base/numbers/random.h"
#include "hios/flight/flight.h"
#include "hios/model/networks/networks.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"
#include "support/schema.h"

#ifdef HIOS_MPIEXEC
namespace hios::test {
namespace {

// Each rank writes its process number into a file of the folder $PIDS and becomes the program.
// $VICTIM is sent $SIGNAL after $DELAY seconds, if it lives so long. The seconds count from its
// start, or, where $AT_WORK is not empty, from the start of measuring, when the rank has a thread
// for requests to stop.
const std::string kVictim = std::string("rank=") + kRankInShell + R"(
echo $$ > "$PIDS/$rank"
if [ "$rank" = "$VICTIM" ]; then
  (
    while [ -n "$AT_WORK" ] && kill -0 $$ && ! grep -qs '^stop-request$' /proc/$$/task/*/comm; do
      sleep 0.05
    done
    sleep "$DELAY"
    kill -"$SIGNAL" $$
  ) >/dev/null 2>&1 &
fi
exec "$@")";

struct Blow {
  std::size_t ranks = 2;
  std::size_t victim = 1;
  double delay_s = 1;
  std::string signal = "KILL";
  bool at_work = true;
  double limit_s = 120;
};

class KilledRank : public testing::Test {
 protected:
  KilledRank() { std::filesystem::create_directory(folder_.file("pids")); }

  ProcessResult strike(const Blow& blow, const Words& command) {
    ProcessOptions options;
    options.limit_s = blow.limit_s;
    options.environment = {{"PIDS", folder_.file("pids")},
                           {"XDG_STATE_HOME", folder_.file("state")},
                           {"VICTIM", std::to_string(blow.victim)},
                           {"DELAY", std::to_string(blow.delay_s)},
                           {"SIGNAL", blow.signal},
                           {"AT_WORK", blow.at_work ? "yes" : ""}};
    return run_mpi(blow.ranks,
                   Words{"/bin/sh", "-c", kVictim, "sh"} + command + Words{"--oversubscribe"},
                   options);
  }

  /// Sends all ranks the signal (0: none), and says how many there are.
  std::size_t send(int signal, std::size_t ranks) const {
    std::size_t alive = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::string file = folder_.file("pids/" + std::to_string(rank));
      if (!std::filesystem::exists(file)) continue;  // it has not got so far
      const auto process = static_cast<pid_t>(std::stol(content_of(file)));
      if (kill(process, signal) == 0) ++alive;
    }
    return alive;
  }

  /// Waits until none of the ranks lives, and says how many did after a minute; those are then
  /// killed.
  std::size_t left(std::size_t ranks) const {
    for (int tenth = 0; tenth < 600; ++tenth) {
      if (send(0, ranks) == 0) return 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return send(SIGKILL, ranks);
  }

  std::string flight_file(std::size_t rank, const std::string& program = "hios-run") const {
    return folder_.file("state/hios/" + program + "-rank-" + std::to_string(rank) + ".flight.json");
  }

  std::string write_schedule() {
    folder_.write("schedule.json", random_schedule_text(models::squeezenet(1, 64, 64), 2, 3));
    return folder_.file("schedule.json");
  }

  Words run_words(const Words& more = {}) {
    return Words{HIOS_BIN_DIR "/hios-run", "--model", "squeezenet", "--height", "64", "--schedule",
                 write_schedule()} +
           more;
  }

  TestFolder folder_;
};

/// MPICH's launcher.
bool is_hydra() {
  static const bool is =
      run_process({HIOS_MPIEXEC, "--version"}).out.find("HYDRA") != std::string::npos;
  return is;
}

/// Returns true if a line names the killed rank: ours, or the launcher's own if the signal came
/// before the program started. MPICH's then names any process of the job, or none.
bool named(const ProcessResult& done, const Blow& blow) {
  constexpr double kStarted = 1;  // second
  const std::string rank = "rank " + std::to_string(blow.victim) + " ";
  for (const std::string& line : lines_with(done.err, "error: " + rank + "on ")) {
    if (line.find(", last: ") != std::string::npos) return true;
  }
  if (!lines_with(done.err, "process " + rank + "with PID").empty()) return true;
  return blow.delay_s < kStarted && is_hydra();
}

// The moments are random, one in each part of equal length, from the start of the process to the
// writing of the results, in turns of a run that verifies and of a profile; how long those live
// here is measured first. bench/soak.py has more moments.
TEST_F(KilledRank, IsNamedAtAnyMoment) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const std::vector<Words> commands = {
      run_words({"--iterations", "20", "--verify", "--json", folder_.file("out.json")}),
      {HIOS_BIN_DIR "/hios-profile", "--model", "squeezenet", "--height", "64", "--iterations",
       "10", "--largest-message", "4096", "--output", folder_.file("out.json")}};
  std::vector<double> lives_s;
  const auto remove_output = [&] { std::filesystem::remove(folder_.file("out.json")); };
  for (const Words& command : commands) {
    remove_output();
    const auto begin = std::chrono::steady_clock::now();
    // MPICH's launcher waits for the blow's own process, too.
    const ProcessResult done = strike({.delay_s = 0, .signal = "CONT"}, command);
    ASSERT_EQ(done.exit_status, 0) << done.err;
    lives_s.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  // Open MPI 4.1 with PMIx 4.2 can hang at its end, after all ranks have ended (it waits for a lock
  // in memory that it has freed): once in some hundred kills.
  constexpr std::size_t kMoments = 6;
  std::size_t struck = 0, too_late = 0, by_us = 0, launcher_hung = 0;
  for (std::size_t i = 0; i < kMoments || (by_us == 0 && i < 4 * kMoments); ++i) {
    double& life_s = lives_s[i % 2];
    Blow blow{.victim = random.below(2), .at_work = false, .limit_s = 120 + 4 * life_s};
    const double part = static_cast<double>(i / 2 % (kMoments / 2)), parts = kMoments / 2.0;
    blow.delay_s = random.uniform(part, part + 1) / parts * life_s;
    SCOPED_TRACE((i % 2 == 0 ? "run, rank " : "profile, rank ") + std::to_string(blow.victim) +
                 " after " + std::to_string(blow.delay_s) + " s");
    remove_output();
    ++struck;
    const ProcessResult done = strike(blow, commands[i % 2] + Words{"--timeout", "60"});
    if (done.timed_out) {
      ++launcher_hung;
      EXPECT_EQ(done.children_at_limit, 0u) << "ranks live on: " << done.err;
    }
    EXPECT_EQ(left(2), 0u) << "a process is left after a minute";
    if (std::filesystem::exists(folder_.file("out.json"))) {
      EXPECT_NO_THROW(read_json(folder_.file("out.json"))) << "a half file";
    }
    if (done.exit_status == 0) {
      ++too_late;                               // it had ended before
      life_s = std::min(life_s, blow.delay_s);  // as measured when the machine was busier
      continue;
    }
    EXPECT_TRUE(named(done, blow)) << done.err << done.out;
    if (done.err.find(", last: ") != std::string::npos) ++by_us;
  }
  std::printf("seed %llu: %zu of %zu named with what they did last, %zu too late\n",
              static_cast<unsigned long long>(seed), by_us, struck, too_late);
  EXPECT_GT(by_us, 0u);
  EXPECT_LE(launcher_hung, 1u) << "mpirun hung after its ranks had ended";
}

TEST_F(KilledRank, LeavesItsRecordAndTheOthersTheirs) {
  bool in_or_between_iterations = false;
  ProcessResult done;
  for (const double delay_s : {1, 8, 30}) {  // on a busy machine it may still be setting up
    Blow blow;
    blow.delay_s = delay_s;
    done = strike(blow, run_words({"--duration", "100"}));
    EXPECT_NE(done.exit_status, 0);
    EXPECT_EQ(left(2), 0u);
    const auto lines = lines_with(done.err, "error: rank 1 on ");
    ASSERT_EQ(lines.size(), 1u) << done.err;
    EXPECT_NE(lines[0].find("SIGKILL"), std::string::npos) << lines[0];
    in_or_between_iterations = lines[0].find("iteration") != std::string::npos ||
                               lines[0].find("waiting for the other ranks") != std::string::npos;
    if (in_or_between_iterations) break;
  }
  EXPECT_TRUE(in_or_between_iterations) << done.err;
  expect_meets_schema(read(flight_file(1)));
  const flight::Flight flight = flight::read_flight(flight_file(1));
  EXPECT_EQ(flight.ending, flight::Ending::kKilled);
  EXPECT_FALSE(flight.events.empty());  // on a busy machine it has not come far
  const ProcessResult explained =
      run_process({HIOS_BIN_DIR "/hios-run", "--explain", flight_file(1)});
  EXPECT_EQ(explained.exit_status, 0) << explained.err;
  EXPECT_NE(explained.out.find("look first at rank 1, which failed"), std::string::npos)
      << explained.out;
}

TEST_F(KilledRank, IsNamedWithTheSignalThatEndedIt) {
  Blow blow;
  blow.delay_s = 1;
  blow.signal = "SEGV";
  const ProcessResult done = strike(blow, run_words({"--duration", "60"}));
  EXPECT_NE(done.exit_status, 0);
  EXPECT_EQ(lines_with(done.err, "ended by SIGSEGV").size(), 1u) << done.err;
}

TEST_F(KilledRank, AStoppedOneIsNamedByThatWhichWaitsForIt) {
  Blow blow;
  blow.delay_s = 1;
  blow.signal = "STOP";
  ProcessResult done;
  for (const char* const timeout : {"8", "30"}) {  // MPI's start alone may take seconds
    done = strike(blow, run_words({"--duration", "100", "--timeout", timeout}));
    if (done.err.find("rank 1 is stopped") != std::string::npos) break;
  }
  EXPECT_NE(done.exit_status, 0);
  EXPECT_EQ(left(2), 0u);
  ASSERT_EQ(lines_with(done.err, "error: rank 0 on ").size(), 1u) << done.err;
  EXPECT_NE(done.err.find("rank 1 is stopped"), std::string::npos) << done.err;
  EXPECT_EQ(flight::read_flight(flight_file(0)).ending, flight::Ending::kTimeOut);
  const ProcessResult explained =
      run_process({HIOS_BIN_DIR "/hios-run", "--explain", flight_file(0)});
  EXPECT_NE(explained.out.find("rank 1 is stopped"), std::string::npos) << explained.out;
}

TEST_F(KilledRank, WritesItsRecordOnSigusr1) {
  Blow blow;
  blow.delay_s = 0.5;
  blow.signal = "USR1";
  const ProcessResult done = strike(blow, run_words({"--duration", "8"}));
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(flight::read_flight(flight_file(1)).ending, flight::Ending::kRunning);
  EXPECT_FALSE(std::filesystem::exists(flight_file(0)));
}

TEST_F(KilledRank, LeavesNothingWhereNothingIsWanted) {
  Blow blow;
  blow.delay_s = 1;
  const ProcessResult done =
      strike(blow, run_words({"--duration", "60", "--flight-record", "off"}));
  EXPECT_NE(done.exit_status, 0);
  EXPECT_FALSE(std::filesystem::exists(flight_file(1)));
  EXPECT_EQ(lines_with(done.err, "error: rank 1 on ").size(), 1u) << done.err;
}

TEST(FlightFlags, RefusePathsThatAreNoFolderAndNoRecord) {
  const ProcessResult folder =
      run_process({HIOS_BIN_DIR "/hios-run", "--flight-record", "/none/such"});
  EXPECT_EQ(folder.exit_status, 2);
  EXPECT_NE(folder.err.find("--flight-record takes a folder"), std::string::npos) << folder.err;
  const ProcessResult record = run_process(
      {HIOS_BIN_DIR "/hios-run", "--explain", HIOS_SOURCE_DIR "/tests/corpus/platform_ok.json"});
  EXPECT_EQ(record.exit_status, 2);
  EXPECT_NE(record.err.find("platform_ok.json"), std::string::npos) << record.err;
}

}  // namespace
}  // namespace hios::test
#endif
