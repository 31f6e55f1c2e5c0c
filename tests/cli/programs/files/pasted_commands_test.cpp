// Remedies run as users run them: a command in a message is pasted into the shell, a flag is added
// or left out, and then the first command succeeds. Names of files have blanks.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/process/commands.h"
#include "engine/host/cores.h"
#include "support/programs/programs.h"
#include "support/refused.h"

namespace hios::test {
namespace {

#ifdef HIOS_MPIEXEC

constexpr const char* kBlankName = "my model.json";

class PastedCommands : public testing::Test {
 protected:
  PastedCommands() {
    std::filesystem::copy_file(HIOS_SOURCE_DIR "/tests/corpus/model_ok.json", file(kBlankName));
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  ProcessResult shell(const std::string& line) const {
    return run_shell(line, {.limit_s = 300,
                            .directory = std::filesystem::path(file("")).parent_path().string()});
  }

  static std::string program(const std::string& name) { return HIOS_BIN_DIR "/" + name; }

  static std::string schedule(const Words& flags) {
    return cli::shell_words(Words{program("hios-schedule")} + flags);
  }
  static std::string run(std::size_t ranks, const Words& flags) {
    const std::string launcher =
        ranks > 1 ? HIOS_MPIEXEC " --bind-to none -np " + std::to_string(ranks) + " " : "";
    return launcher + cli::shell_words(Words{program("hios-run"), "--oversubscribe", "--iterations",
                                             "2", "--warmup", "0"} +
                                       flags);
  }
  static std::string profile(std::size_t ranks, const Words& flags) {
    const std::string launcher =
        ranks > 1 ? HIOS_MPIEXEC " --bind-to none -np " + std::to_string(ranks) + " " : "";
    return launcher +
           cli::shell_words(Words{program("hios-profile"), "--iterations", "2", "--warmup", "0"} +
                            flags);
  }

  void expect_done(const std::string& line) const {
    const ProcessResult done = shell(line);
    EXPECT_EQ(done.exit_status, 0) << line << "\n" << done.err;
  }

  /// Runs a line that is refused with these words, and returns the command in its message.
  std::string refused_command(const std::string& line, const std::string& part) const {
    const ProcessResult refused = shell(line);
    expect_refused(refused, part);
    const auto errors = lines_with(refused.err, "error: ");
    if (errors.empty()) return "false";
    const std::size_t command = errors.front().rfind("with: ");
    EXPECT_NE(command, std::string::npos) << errors.front();
    return command == std::string::npos ? "false" : errors.front().substr(command + 6);
  }

  /// Runs the line, pastes the command of its message, and runs `again`, which succeeds.
  void expect_helped(const std::string& line, const std::string& part, const std::string& again) {
    SCOPED_TRACE(line);
    const std::string command = refused_command(line, part);
    SCOPED_TRACE(command);
    expect_done(command);
    expect_done(again);
  }

  void measure(std::size_t ranks, const std::string& name) const {
    expect_done(profile(ranks, {kBlankName, "--output", name, "--oversubscribe", "--update"}));
  }
  void plan(const std::string& profile, const std::string& name) const {
    expect_done(schedule({kBlankName, "--profile", profile, "--devices", "2", "--algorithm",
                          "inter-lp", "--output", name}));
  }

  TestFolder folder_;
};

TEST_F(PastedCommands, MeasureAModelWithoutAProfile) {
  const Words flags = {kBlankName, "--devices", "2", "--algorithm", "inter-lp"};
  expect_helped(schedule(flags), "add --profile 'my model.profile.json'",
                schedule(flags + Words{"--profile", "my model.profile.json"}));
}

TEST_F(PastedCommands, MeasureIntoAProfileThatIsNotThere) {
  const std::string line = schedule(
      {kBlankName, "--devices", "2", "--algorithm", "inter-lp", "--profile", "it's mine.json"});
  expect_helped(line, "there is no such profile", line);
}

TEST_F(PastedCommands, MeasureAConfigurationThatAProfileLacks) {
  measure(1, "my profile.json");
  const std::string line = schedule({kBlankName, "--devices", "2", "--algorithm", "inter-lp",
                                     "--profile", "my profile.json", "--output", "s.json"});
  expect_helped(line, "the profile has no configuration for", line + " --force");
  const std::string reads = run(2, {kBlankName, "--schedule", "s.json", "--profile", "other.json"});
  expect_helped(reads, "other.json: there is no such profile", reads);
}

TEST_F(PastedCommands, StartAsManyRanksAsTheScheduleHasDevices) {
  measure(2, "p.json");
  plan("p.json", "my plan.json");
  const std::string line = run(1, {kBlankName, "--schedule", "my plan.json"});
  const std::string command = refused_command(line, "the schedule has 2 devices and the job 1");
  EXPECT_NE(command.find("mpirun -np 2 --bind-to none"), std::string::npos) << command;
  expect_done(command);
}

TEST_F(PastedCommands, PlanWhereThereIsNoSchedule) {
  const Words flags = {kBlankName, "--verify"};
  expect_helped(run(2, flags), "add --schedule 'my model.schedule.json'",
                run(2, flags + Words{"--schedule", "my model.schedule.json"}));
  const std::string line = run(2, flags + Words{"--schedule", "other.json"});
  expect_helped(line, "other.json: there is no such schedule", line);
}

TEST_F(PastedCommands, CutTheModelAsTheScheduleDoes) {
  folder_.write("c.json",
                R"({"format": "hios-cuts", "version": 1,
                    "cuts": [{"operator": "conv_1", "axis": "height", "at": [8]}]})");
  const Words cut = {kBlankName, "--cut", "c.json"};
  expect_done(profile(2, cut + Words{"--output", "cut.json", "--oversubscribe"}));
  expect_done(schedule(cut + Words{"--profile", "cut.json", "--devices", "2", "--algorithm",
                                   "inter-lp", "--output", "s.json"}));
  measure(2, "whole.json");
  for (const char* profile : {"whole.json", "none.json"}) {
    const std::string line = run(2, {kBlankName, "--schedule", "s.json", "--profile", profile});
    expect_helped(line, profile, line);
  }
}

TEST_F(PastedCommands, PlanAgainForAnotherModel) {
  measure(2, "p.json");
  plan("p.json", "s.json");
  const std::string line = run(2, {"squeezenet", "--height", "48", "--schedule", "s.json"});
  expect_helped(line, "the schedule is for graph \"small\"", line);
}

TEST_F(PastedCommands, ListAllFindings) {
  measure(2, "p.json");
  plan("p.json", "s.json");
  Json broken = read(file("s.json"));
  for (Json& device : broken["devices"]) device["stages"] = Json::array();
  folder_.write("s.json", broken.dump());
  const std::string command =
      refused_command(run(2, {kBlankName, "--schedule", "s.json"}), " more); list them with: ");
  const ProcessResult listed = shell(command);
  EXPECT_EQ(listed.exit_status, 2) << listed.err;
  EXPECT_GT(lines_with(listed.out, "s.json").size(), 1u) << listed.out;
}

TEST_F(PastedCommands, FlagsHelpWhereAMessageNamesThem) {
  measure(2, "p.json");
  const std::string plans = schedule({kBlankName, "--profile", "p.json", "--devices", "2",
                                      "--algorithm", "inter-lp", "--output", "s.json"});
  expect_done(plans);
  expect_refused(shell(plans), "replace it with --force");
  expect_done(plans + " --force");
  const std::string runs = run(2, {kBlankName, "--schedule", "s.json"});
  expect_refused(shell(runs + " --threads 2"), "leave the flag out");
  expect_done(runs);
  const std::string many = std::to_string(allowed_cores().size() + 1);
  const std::string measures = profile(1, {kBlankName, "--output", "many.json", "--threads", many});
  expect_refused(shell(measures), "or accept shared cores with --oversubscribe");
  expect_done(measures + " --oversubscribe");
}

TEST_F(PastedCommands, FlagsHelpWhereAMessageAsksForThem) {
  const std::string begin =
      cli::shell_words({program("hios-run"), kBlankName, "--iterations", "2"});
  const auto helps = [&](const std::string& wrong, const std::string& question,
                         const std::string& right) {
    expect_refused(shell(begin + wrong), "did you mean " + question + "?");
    expect_done(begin + right);
  };
  helps(" --output folder", "--outputs", " --outputs folder");
  helps(" --laers", "--layers", " --layers");
  helps(" --backend reffrence", "reference", " --backend reference");
  helps(" --math FP32", "fp32", " --math fp32");
  expect_refused(shell(schedule({"squezenet", "--algorithm", "hios-lp"})),
                 "did you mean squeezenet?");
  expect_refused(shell(schedule({"--random", "n=4", "--algorithm", "hios_lp"})),
                 "did you mean hios-lp?");
  expect_refused(
      shell(schedule({"--random", "n=4", "--algorithm", "hios-lp", "--option", "windw=4"})),
      "did you mean window?");
}

#endif  // HIOS_MPIEXEC

}  // namespace
}  // namespace hios::test
