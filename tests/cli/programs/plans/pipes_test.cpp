// "-" as a file's name: standard input and output, in pipes of our programs and others.

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "hios/base/json/json_parse.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class Pipes : public testing::Test {
 protected:
  /// Runs a script in which $s is hios-schedule, $r hios-run, $p hios-profile.
  ProcessResult shell(const std::string& script) const {
    ProcessOptions options;
    options.directory = folder_.file("");
    options.environment = {{"s", HIOS_BIN_DIR "/hios-schedule"},
                           {"r", HIOS_BIN_DIR "/hios-run"},
                           {"p", HIOS_BIN_DIR "/hios-profile"}};
    return run_process({"bash", "-o", "pipefail", "-c", script}, options);
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  TestFolder folder_;
};

constexpr const char* kPlan = "$s --random n=20,edges=30,layers=4 --algorithm hios-lp ";

TEST_F(Pipes, ResultsGoToStandardOutputAndTextsToStandardError) {
  for (const char* flag : {"--json -", "--json=-", "--json - -q"}) {
    SCOPED_TRACE(flag);
    const auto done = shell(std::string(kPlan) + flag);
    ASSERT_EQ(done.exit_status, 0) << done.err;
    const Json results = parse_json(done.out, "standard output");
    EXPECT_EQ(results["format"], "hios-comparison");
    EXPECT_EQ(results["arguments"].back(), std::string(flag).ends_with("-q")   ? "-q"
                                           : std::string(flag).ends_with("=-") ? "--json=-"
                                                                               : "-");
    const bool quiet = std::string(flag).ends_with("-q");
    EXPECT_EQ(lines_with(done.err, "hios-lp").empty(), quiet) << done.err;
  }
  const auto table = shell(std::string(kPlan) + "--csv -");
  EXPECT_EQ(table.out.substr(0, 10), "algorithm,") << table.out;
  EXPECT_EQ(lines_with(table.out, "hios-lp").size(), 1u) << table.out;
  const auto schedule = shell(std::string(kPlan) + "--output -");
  EXPECT_EQ(parse_json(schedule.out, "standard output")["format"], "hios-schedule");
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(Pipes, AnotherProgramReadsTheJson) {
  const auto done = shell(std::string(kPlan) + "--json - | python3 -m json.tool > /dev/null");
  EXPECT_EQ(done.exit_status, 0) << done.err;
}

TEST_F(Pipes, AGraphPassesFromOneProgramToTheNext) {
  const auto done = shell(
      "$s --random n=20,edges=30,layers=4 --export-graph - | "
      "$s --graph - --devices 2,3 --algorithm hios-lp --output plan-{devices}.json && "
      "$s --random n=20,edges=30,layers=4 --check - < plan-3.json");
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(folder_.files(), (Words{"plan-2.json", "plan-3.json"}));
  EXPECT_EQ(lines_with(done.out, "standard input: valid, hios-lp").size(), 1u) << done.out;
  const auto platform = shell(
      "$s --random n=9,speeds=1:0.5 --export-platform - --algorithm heft | "
      "$s --graph <(exit) --platform - --algorithm heft");
  EXPECT_EQ(platform.exit_status, 2) << "a pipe by another name is refused";
}

TEST_F(Pipes, TheTimeOfTheProgramBeforeIsNotTheSchedulers) {
  const auto done = shell(
      "(sleep 4; $s --random n=20,edges=30,layers=4 --export-graph -) | "
      "$s --graph - --algorithm hios-lp --time-limit 3 --json -");
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(parse_json(done.out, "standard output")["comparison"][0]["outcome"], "feasible");
}

TEST_F(Pipes, MessagesNameTheStream) {
  const auto expect = [&](const std::string& script, const std::string& message) {
    const auto done = shell(script);
    EXPECT_EQ(done.exit_status, 2) << script << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << script << "\n" << done.err;
    EXPECT_EQ(lines_with(done.err, "error: ").size(), 1u) << done.err;
  };
  expect("echo '{\"format\": \"hios-graph\"}' | $s --graph - --algorithm ios",
         "error: standard input: $: ");
  expect("$s --graph - --algorithm ios < /dev/null", "error: standard input: is empty");
  expect("yes | head -c 2000 | $s --graph - --algorithm ios --max-input 1000",
         "more than the 1000 that are read");
  expect("yes | $s --graph - --algorithm ios --max-input 1000",
         "more than the 1000 that are read; raise --max-input");
  expect("$s --graph - --check - --devices 2 < /dev/null",
         "--graph and --check both read standard input (-): give one of them a file");
  expect(std::string(kPlan) + "--json - --csv -",
         "--json and --csv both write standard output (-): give one of them a file");
  expect("$s --model - --algorithm ios < /dev/null",
         "--model is not read from standard input (-): name a file");
  expect("$r --model squeezenet --outputs - ", "--outputs takes a folder, and - is a stream");
  expect("$p --model squeezenet --output - --update", "--update adds to a file");
}

TEST_F(Pipes, AFileMayBeCalledLikeAStream) {
  const auto done = shell(std::string(kPlan) + "--json ./- --output 'standard output'");
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(folder_.files(), (Words{"-", "standard output"}));
  EXPECT_EQ(read(file("standard output"))["format"], "hios-schedule");
}

TEST_F(Pipes, TextsAreAsWideAsTheEnvironmentSays) {
  const auto done = shell("export COLUMNS=50; " + std::string(kPlan));
  ASSERT_EQ(done.exit_status, 0) << done.err;
  constexpr std::size_t kMoreBytes = 4;  // than characters: "…" has three
  for (const std::string& line : lines_with(done.out, ""))
    EXPECT_LE(line.size(), 50 + kMoreBytes) << line;
}

TEST_F(Pipes, AReaderThatEndsEndsThemSilently) {
  const auto done =
      shell("exec 3> >(true); wait $!; exec " + std::string(kPlan) + "-q --json - >&3");
  EXPECT_EQ(done.exit_status, 128 + SIGPIPE);
  EXPECT_EQ(done.err, "");
  const auto full = shell(std::string(kPlan) + "-q --json - > /dev/full");
  EXPECT_EQ(full.exit_status, 3);
  EXPECT_EQ(lines_with(full.err, "error: standard output: cannot be written: No space").size(), 1u)
      << full.err;
}

TEST_F(Pipes, AProfilePassesToThePlanAndThePlanToTheRun) {
  const std::string model = "--model squeezenet --height 32 ";
  const std::string measured = "--backend reference --iterations 1 --warmup 0 ";
  const auto done =
      shell("$p " + model + measured + "--output - | tee p.json | $s " + model +
            "--profile - --devices 1 --algorithm sequential --output - | tee s.json | $r " + model +
            "--schedule - " + measured + "--json -");
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json report = parse_json(done.out, "standard output");
  EXPECT_EQ(report["format"], "hios-report");
  expect_meets_schema(report);
  expect_meets_schema(read(file("p.json")));
  // The remedy for a stream writes a file that a flag can name.
  const auto other = shell("$r --model squeezenet --height 48 --schedule - < s.json");
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_NE(other.err.find("--output squeezenet.schedule.json --force"), std::string::npos)
      << other.err;
}

#ifdef HIOS_MPIEXEC
/// Launchers forward standard input to rank 0, which gives it to the others.
TEST_F(Pipes, AllRanksGetTheScheduleThatRankZeroReads) {
  const Words model = {"--model", "squeezenet", "--height", "32"};
  const Words measured = {"--backend", "reference", "--iterations", "1", "--warmup", "0"};
  const auto profiled = hios_profile(2, model + measured + Words{"--output", file("p.json")});
  ASSERT_EQ(profiled.exit_status, 0) << profiled.err;
  const auto planned = hios_schedule(model + Words{"--profile", file("p.json"), "--algorithm",
                                                   "inter-lp", "--output", file("s.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  ProcessOptions options;
  options.before = {"bash", "-c", "cat '" + file("s.json") + "' | \"$@\"", "bash"};
  const Words flags = model + measured + Words{"--schedule", "-", "--json", "-"};
  const auto done = hios_run(2, flags, options);
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(parse_json(done.out, "standard output")["ranks"].size(), 2u) << done.out;
  options.before = {"bash", "-c", "true | \"$@\"", "bash"};
  const auto nothing = hios_run(2, flags, options);
  EXPECT_NE(nothing.exit_status, 0);
  EXPECT_EQ(lines_with(nothing.err, "standard input: is empty").size(), 1u) << nothing.err;
}
#endif

}  // namespace
}  // namespace hios::test
