// SIGTERM, SIGINT, SIGHUP and SIGUSR2, to a program or to mpirun: what was measured is kept, and
// nobody is left.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/sanitized.h"
#include "support/schema.h"

namespace hios::test {
namespace {

// Starts the command after it, waits until all $RANKS ranks have a thread for requests to stop
// (when there are results to keep), sends $SIGNAL to the command, and ends with its status. It
// reports processes that outlive the command: ranks, or those between the launcher and its ranks.
constexpr const char* kSignal = R"(set -m
"$@" &
pid=$!
family() {
  for member in "$@"; do
    echo "$member"
    family $(cat /proc/"$member"/task/*/children 2>/dev/null)
  done
}
ready() {
  count=0
  for process in $(family "$pid"); do
    if grep -qs '^stop-request$' /proc/"$process"/task/*/comm; then count=$((count + 1)); fi
  done
  [ "$count" = "$RANKS" ]
}
until ready; do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.05
done
sleep "$DELAY"
left=$(family "$pid")
kill -"$SIGNAL" "$pid"
wait "$pid"
status=$?
alive() {
  for process in $left; do
    if grep -q '^State:.[^ZX]' "/proc/$process/status" 2>/dev/null; then return 0; fi
  done
  return 1
}
for tenth in $(seq 300); do  # on busy cores they end late
  alive || break
  sleep 0.1
done
for process in $left; do
  # Z: it has ended, and only waits for somebody to ask how.
  if grep -q '^State:.[^ZX]' "/proc/$process/status" 2>/dev/null; then
    echo "$(cat "/proc/$process/comm") $process is still there" >&2
    kill -KILL "$process"
  fi
done
exit "$status")";

struct Signalled {
  std::string signal;
  std::size_t ranks;
  std::string delay = "0.7";  ///< seconds from the moment at which there is something to keep
};

class Signals : public testing::Test {
 protected:
  static ProcessResult signal(const Signalled& how, const Words& command) {
    ProcessOptions options;
    options.environment = {
        {"SIGNAL", how.signal}, {"RANKS", std::to_string(how.ranks)}, {"DELAY", how.delay}};
    // Open MPI's launcher waits 1 s after the signal, then kills its ranks, ended or not: too soon
    // on busy cores.
    options.environment.push_back({"OMPI_MCA_odls_base_sigkill_timeout", kSanitized ? "20" : "6"});
    options.before = {"bash", "-c", kSignal, "bash"};
#ifdef HIOS_MPIEXEC
    if (how.ranks > 1) return run_mpi(how.ranks, command, options);
#endif
    return run_process(command, options);
  }

  static void expect_gone(const ProcessResult& done, const Signalled& how) {
    EXPECT_FALSE(done.timed_out) << done.err;
    EXPECT_EQ(done.err.find("is still there"), std::string::npos) << done.err;
    if (how.ranks == 1) {
      const std::map<std::string, int> status = {
          {"HUP", 129}, {"INT", 130}, {"USR2", 140}, {"TERM", 143}};
      EXPECT_EQ(done.exit_status, status.at(how.signal)) << done.err;
    } else {
      EXPECT_NE(done.exit_status, 0) << done.err;
    }
  }

  /// Starts and signals the command until there is its file, later each time: on busy cores it may
  /// have measured nothing yet, or may not end within the 2 s that it has, and then says so.
  static ProcessResult signal_until_kept(Signalled how, const Words& command,
                                         const std::string& file) {
    ProcessResult done;
    for (const char* const delay : {"0.7", "2", "4", "8", "16"}) {
      how.delay = delay;
      done = signal(how, command);
      if (std::filesystem::exists(file)) break;
      const auto says = [&](const char* text) { return done.err.find(text) != std::string::npos; };
      // A launcher that ends itself may drop the last words of its ranks.
      const bool may_be_silent = how.ranks > 1 && std::stod(how.delay) < 4;
      EXPECT_TRUE(may_be_silent || says("asked to stop, and has not ended") ||
                  says("nothing was written"))
          << done.err;
    }
    expect_gone(done, how);
    return done;
  }

  std::string schedule(std::size_t devices) {
    const std::string file = folder_.file("schedule.json");
    const ProcessResult profiled =
        hios_profile(devices, network_ + Words{"--iterations", "3", "--largest-message", "4096",
                                               "--output", folder_.file("p.json"), "--force"});
    EXPECT_EQ(profiled.exit_status, 0) << profiled.err;
    const ProcessResult planned = hios_schedule(
        network_ + Words{"--profile", folder_.file("p.json"), "--devices", std::to_string(devices),
                         "--algorithm", "inter-mr", "--output", file, "--force"});
    EXPECT_EQ(planned.exit_status, 0) << planned.err;
    return file;
  }

  const Words network_ = {"--model", "squeezenet", "--height", "64"};
  TestFolder folder_;
};

class SignalledRun : public Signals, public testing::WithParamInterface<Words> {};

TEST_P(SignalledRun, KeepsWhatItMeasured) {
  for (const std::size_t ranks : {1, 2}) {
#ifndef HIOS_MPIEXEC
    if (ranks > 1) continue;
#endif
    const std::string plan = schedule(ranks);
    // Open MPI's mpirun passes SIGINT and SIGHUP on as SIGTERM, so one of them with ranks is
    // enough, and a SIGHUP once, since each run costs seconds.
    const bool one_at_a_time = GetParam().front() == "--duration";
    Words names = {"USR2", one_at_a_time ? "INT" : "TERM"};
    if (ranks == 1)
      names = one_at_a_time ? Words{"TERM", "INT", "HUP", "USR2"} : Words{"TERM", "INT"};
    bool waits = true;
    for (const std::string& name : names) {
      // Only SIGUSR2 leaves ranks the time to write: Open MPI 5 kills them a quarter of a second
      // after the others.
      if (!waits && name != "USR2") continue;
      SCOPED_TRACE(name + ", ranks " + std::to_string(ranks));
      const Signalled how{name, ranks};
      const std::string file = folder_.file("report.json");
      const ProcessResult done = signal_until_kept(
          how,
          Words{HIOS_BIN_DIR "/hios-run"} + network_ +
              Words{"--schedule", plan, "--oversubscribe", "--verify", "--json", file, "--force"} +
              GetParam(),
          file);
      const Json report = read(file);
      std::filesystem::remove(file);  // the next run writes its own, or the test fails
      expect_meets_schema(report);
      EXPECT_GT(report["iterations_ms"].size(), 0u);
      EXPECT_TRUE(report["verified"].is_null());
      // Open MPI's mpirun passes Ctrl-C on as SIGTERM, and kills a second later.
      const std::string mpi = ranks > 1 ? report["transfer_path"].get<std::string>() : "";
      const std::string by = mpi.starts_with("Open MPI") && name == "INT" ? "TERM" : name;
      waits = !mpi.starts_with("Open MPI 5");
      EXPECT_EQ(report["incomplete"], "ended by SIG" + by + " before it was verified");
      // Launchers that are ending themselves may drop the last that their ranks say.
      if (ranks > 1) continue;
      EXPECT_NE(done.err.find("the measurements so far were kept"), std::string::npos) << done.err;
    }
    EXPECT_EQ(folder_.files(), (Words{"p.json", "schedule.json"}));
  }
}

INSTANTIATE_TEST_SUITE_P(OneAtATimeAndInFlight, SignalledRun,
                         testing::Values(Words{"--duration", "1000"},
                                         Words{"--inferences", "100000000"}),
                         [](const auto& run) {
                           return run.param.front() == "--inferences" ? "InFlight" : "OneAtATime";
                         });

TEST_F(Signals, AProfileKeepsWhatItMeasured) {
  const std::string file = folder_.file("profile.json");
  const Words command = Words{HIOS_BIN_DIR "/hios-profile"} + network_ +
                        Words{"--iterations", "1000000", "--oversubscribe", "--output", file};
  const Signalled how{"TERM", 1};
  signal_until_kept(how, command, file);
  const Json profile = read(file);
  expect_meets_schema(profile);
  const Json& stopped = profile["configurations"][0];
  EXPECT_EQ(stopped["protocol"]["incomplete"].size(), stopped["operators"].size());

  const ProcessResult updated =
      hios_profile(1, network_ + Words{"--iterations", "3", "--update", "--output", file});
  EXPECT_EQ(updated.exit_status, 0) << updated.err;
  const Json whole = read(file)["configurations"][0];
  EXPECT_FALSE(whole["protocol"].contains("incomplete"));
  for (const auto& [signature, times] : whole["operators"].items())
    EXPECT_NE(times, stopped["operators"][signature]) << "measured again";
}

TEST_F(Signals, MissingSweepsOfAnotherNetworkStayMarked) {
  const std::string file = folder_.file("profile.json");
  const Signalled how{"HUP", 1};
  signal_until_kept(how,
                    Words{HIOS_BIN_DIR "/hios-profile"} + network_ +
                        Words{"--iterations", "1000000", "--oversubscribe", "--output", file},
                    file);
  const std::size_t lacking = read(file)["configurations"][0]["protocol"]["incomplete"].size();
  const ProcessResult other = hios_profile(1, {"--model", "squeezenet", "--height", "48",
                                               "--iterations", "3", "--update", "--output", file});
  EXPECT_EQ(other.exit_status, 0) << other.err;
  EXPECT_EQ(read(file)["configurations"][0]["protocol"]["incomplete"].size(), lacking);
  EXPECT_NE(other.err.find("measuring was stopped before its end"), std::string::npos) << other.err;
}

TEST_F(Signals, BeforeAnythingWasMeasuredNothingIsWritten) {
  const Signalled how{"TERM", 1, "0"};
  // The signal comes during the many warm-ups.
  const ProcessResult done = signal(
      how, {HIOS_BIN_DIR "/hios-profile", "--model", "squeezenet", "--height", "512", "--warmup",
            "1000000", "--oversubscribe", "--output", folder_.file("profile.json")});
  expect_gone(done, how);
  EXPECT_EQ(folder_.files(), Words{});
}

}  // namespace
}  // namespace hios::test
