// The N-th allocation of a whole run is refused, for N all over it: one line that says so, status
// 3, no signal, nobody left waiting, no half file. What is refused is operator new: all of C++'s,
// of our code and of the libraries in it. (The libraries in C end the process themselves.)

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "hios/model/networks/networks.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

/// How a try ended.
struct Endings {
  std::size_t refused = 0;        ///< with the line
  std::size_t absorbed = 0;       ///< well all the same: a library made do with less
  std::size_t launcher_hung = 0;  ///< with the line, all ranks gone, but not their launcher
};

class OutOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::size_t ranks : {1, 2}) {
      folder_.write("s" + std::to_string(ranks) + ".json",
                    random_schedule_text(models::squeezenet(1, 32, 32), ranks, 3));
    }
    std::filesystem::create_directory(folder_.file("records"));
    inputs_ = folder_.files();
  }

  Words run(std::size_t ranks) const {
    return {HIOS_BIN_DIR "/hios_refused_run",
            "--model",
            "squeezenet",
            "--height",
            "32",
            "--schedule",
            folder_.file("s" + std::to_string(ranks) + ".json"),
            "--iterations",
            "2",
            "--warmup",
            "1",
            "--oversubscribe",
            "--verify",
            "--flight-record",
            folder_.file("records"),
            "--json",
            output()};
  }
  std::string output() const { return folder_.file("out.json"); }

  ProcessResult start(std::size_t ranks, const Words& command,
                      std::vector<std::pair<std::string, std::string>> environment) const {
    ProcessOptions options;
    options.environment = std::move(environment);
    options.environment.emplace_back("GOMP_SPINCOUNT", "5000");  // or it would restart itself
    // A library that gets no memory in the midst of its work leaks some.
    options.environment.emplace_back("LSAN_OPTIONS", "detect_leaks=0");
    options.limit_s = ranks > 1 ? 120 : 300;
#ifdef HIOS_MPIEXEC
    if (ranks > 1) return run_mpi(ranks, command, options);
#endif
    EXPECT_EQ(ranks, 1u);
    return run_process(command, options);
  }

  /// How many allocations the whole run makes.
  std::size_t count(std::size_t ranks, const Words& command, const std::string& rank) {
    const TemporaryFolder elsewhere;
    const std::string file = (elsewhere / "count").string();
    std::vector<std::pair<std::string, std::string>> environment = {{"HIOS_COUNT_FILE", file}};
    if (ranks > 1) environment.emplace_back("HIOS_REFUSE_RANK", rank);
    const auto done = start(ranks, command, environment);
    EXPECT_EQ(done.exit_status, 0) << done.err;
    whole_ = content_of(output());
    std::filesystem::remove(output());
    return std::stoul("0" + content_of(file));
  }

  /// One of them refused.
  void expect_a_clean_end(const ProcessResult& done, std::size_t ranks, const std::string& rank,
                          Endings& endings) {
    const bool launcher_hung = done.timed_out && ranks > 1 && done.children_at_limit == 0;
    endings.launcher_hung += launcher_hung ? 1 : 0;
    EXPECT_TRUE(!done.timed_out || launcher_hung) << done.err;
    if (done.exit_status == 0) {
      EXPECT_EQ(read(output())["format"], Json::parse(whole_)["format"]);
      std::filesystem::remove(output());
      ++endings.absorbed;
      return;
    }
    EXPECT_TRUE(done.exit_status < 128 || launcher_hung) << "a signal: " << done.exit_status;
    if (ranks == 1) {
      EXPECT_TRUE(done.exit_status == 3 || done.exit_status == 2) << done.exit_status;
    }
    std::size_t lines = 0;
    for (const char* words : {"out of memory", "no memory for ", "Cannot allocate memory"})
      lines += lines_with(done.err, words).size();
    EXPECT_EQ(lines, 1u) << done.err;
    if (ranks > 1) {
      EXPECT_EQ(lines_with(done.err, "error: rank " + rank + " on ").size(), 1u) << done.err;
    }
    // The file is there, whole, where memory ran out after it was written.
    if (folder_.files() != inputs_) {
      EXPECT_EQ(read(output())["format"], Json::parse(whole_)["format"]);
      std::filesystem::remove(output());
    }
    EXPECT_EQ(folder_.files(), inputs_);
    ++endings.refused;
  }

  /// Half of the tries evenly over the whole run, half of them the denser the earlier. Not the very
  /// last allocations: ranks that wait for each other make a few more or less from run to run.
  static std::set<std::size_t> numbers(std::size_t whole, std::size_t tries) {
    std::set<std::size_t> chosen;
    const std::size_t half = std::max<std::size_t>(test::tries(tries) / 2, 3);
    for (std::size_t i = 0; i < half; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(half);
      chosen.insert(1 + static_cast<std::size_t>(share * static_cast<double>(whole - 1)));
      chosen.insert(static_cast<std::size_t>(std::pow(static_cast<double>(whole), share)));
    }
    return chosen;
  }

  void refuse(std::size_t ranks, const Words& command, std::size_t tries,
              const std::string& rank = {}) {
    const std::string concerned = ranks > 1 ? rank : "0";
    std::vector<std::pair<std::string, std::string>> base;
    if (ranks > 1) base.emplace_back("HIOS_REFUSE_RANK", rank);
    const std::size_t whole = count(ranks, command, concerned);
    ASSERT_GT(whole, 1000u);
    Endings endings;
    const auto chosen = numbers(whole, tries);
    for (const std::size_t number : chosen) {
      SCOPED_TRACE("allocation " + std::to_string(number) + " of " + std::to_string(whole));
      auto environment = base;
      environment.emplace_back("HIOS_REFUSE_ALLOCATION", std::to_string(number));
      if (number % 2 == 1) environment.emplace_back("HIOS_REFUSE_EVER_AFTER", "1");
      expect_a_clean_end(start(ranks, command, environment), ranks, concerned, endings);
      if (HasFatalFailure()) return;
    }
    std::printf(
        "  %zu of %zu allocations refused, one a run: %zu ended with the line, %zu did "
        "without\n",
        chosen.size(), whole, endings.refused, endings.absorbed);
    EXPECT_GT(endings.refused, chosen.size() / 4);
    EXPECT_LE(endings.launcher_hung, 1u) << "docs/reliability.md: it may, but seldom";
    auto environment = base;
    environment.emplace_back("HIOS_REFUSE_ALLOCATION", std::to_string(std::size_t{1} << 40));
    EXPECT_EQ(start(ranks, command, environment).exit_status, 0) << "one that is never reached";
    std::filesystem::remove(output());
  }

  TestFolder folder_;
  Words inputs_;
  std::string whole_;  ///< the output of a run that has all it wants
};

TEST_F(OutOfMemory, EndsASchedulerInOneLine) {
  refuse(
      1,
      {HIOS_BIN_DIR "/hios_refused_schedule", "--random", "n=60,edges=120,layers=8", "--algorithm",
       "all", "--compare", "--devices", "2", "--time-limit", "0.2", "--json", output()},
      60);
}

TEST_F(OutOfMemory, EndsARunInOneLine) { refuse(1, run(1), 150); }

TEST_F(OutOfMemory, EndsAProfileInOneLine) {
  refuse(1,
         {HIOS_BIN_DIR "/hios_refused_profile",
          "--model",
          "squeezenet",
          "--height",
          "32",
          "--iterations",
          "2",
          "--warmup",
          "1",
          "--oversubscribe",
          "--flight-record",
          folder_.file("records"),
          "--output",
          output(),
          "--streams",
          "2",
          "--stages",
          "ios",
          "--time-limit",
          "1"},
         60);
}

#ifdef HIOS_MPIEXEC
TEST_F(OutOfMemory, OnOneRankEndsTheJob) {
  refuse(2, run(2), 6, "0");
  refuse(2, run(2), 6, "1");
}
#endif

}  // namespace
}  // namespace hios::test
