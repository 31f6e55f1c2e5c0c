// Hundreds of bad files and bad command lines: status 2 and one line that names the file and the
// position in it, at once, in little memory, and without a signal. The same holds under the
// sanitizers, which end a program with another status.

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "support/programs/programs.h"
#include "support/refused.h"

namespace hios::test {
namespace {

std::string in_corpus(const std::string& name) { return (corpus() / name).string(); }

/// The largest time and memory of a program that refuses; printed, since a busy machine is slow.
class Used {
 public:
  explicit Used(std::string what) : what_(std::move(what)) {}
  ~Used() {
    std::cout << runs_ << " " << what_ << ": at most " << most_s_ << " s and "
              << (most_bytes_ >> 20) << " MiB\n";
  }
  Used(const Used&) = delete;
  Used& operator=(const Used&) = delete;

  void add(const ProcessResult& result) {
    ++runs_;
    EXPECT_FALSE(result.timed_out);
    EXPECT_LT(result.exit_status, 128) << "ended by a signal";
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(result.max_resident_bytes, std::size_t{256} << 20);
#endif
    most_s_ = std::max(most_s_, result.wall_s);
    most_bytes_ = std::max(most_bytes_, result.max_resident_bytes);
  }

 private:
  std::string what_;
  std::size_t runs_ = 0;
  double most_s_ = 0;
  std::size_t most_bytes_ = 0;
};

/// The program that reads such a file.
ProcessResult read_by_program(const std::string& kind, const std::string& file,
                              const TestFolder& folder) {
  const std::string graph = in_corpus("graph_ok.json");
  if (kind == "graph") return hios_schedule({"--graph", file, "--algorithm", "inter-lp"});
  if (kind == "platform") {
    return hios_schedule({"--graph", graph, "--platform", file, "--algorithm", "inter-lp"});
  }
  if (kind == "schedule") return hios_schedule({"--graph", graph, "--check", file});
  if (kind == "model") {
    return hios_schedule({"--model", file, "--export-graph", folder.file("g.json")});
  }
  if (kind == "fusion") {
    return hios_schedule({"--model", "squeezenet", "--fusion", file, "--list-operators"});
  }
  if (kind == "cuts") {
    return hios_schedule({"--model", "squeezenet", "--cut", file, "--list-operators"});
  }
  if (kind == "profile") {
    return hios_schedule({"--model", "squeezenet", "--profile", file, "--algorithm", "inter-lp"});
  }
  if (kind == "run") {
    return hios_run(1, {"--model", in_corpus("model_ok.json"), "--schedule", file});
  }
  if (kind == "flight") return hios_run(1, {"--explain", file});
  ADD_FAILURE() << "unknown kind " << kind;
  return {};
}

class BadFiles : public testing::TestWithParam<const char*> {
 protected:
  TestFolder folder_;
};

// The corpus has the command for each file and the text that the message must have.
TEST_P(BadFiles, AreRefused) {
  Used used(std::string("bad files of kind ") + GetParam());
  std::size_t seen = 0;
  for (const BadFile& bad : bad_files()) {
    if (bad.kind != GetParam()) continue;
    SCOPED_TRACE(bad.name);
    ++seen;
    folder_.write(bad.name, bad.content);
    const ProcessResult result = read_by_program(bad.kind, folder_.file(bad.name), folder_);
    used.add(result);
    const std::string said = result.out + result.err;
    EXPECT_EQ(result.exit_status, 2) << said;
    EXPECT_NE(said.find(bad.name), std::string::npos) << said;
    EXPECT_NE(said.find(bad.message), std::string::npos) << said;
    EXPECT_EQ(said.find('\x1b'), std::string::npos) << "a raw escape sequence";
    EXPECT_EQ(folder_.files(), Words{bad.name}) << "no file is left";
    std::filesystem::remove(folder_.file(bad.name));
  }
  EXPECT_GT(seen, 10u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadFiles,
                         testing::Values("graph", "platform", "schedule", "model", "fusion", "cuts",
                                         "profile", "run", "flight"),
                         [](const auto& kind) { return std::string(kind.param); });

class BadCommandLines : public testing::TestWithParam<const char*> {
 protected:
  ProcessResult run(const Words& flags) const {
    const std::string program = GetParam();
    if (program == "hios-run") return hios_run(1, flags);
    return program == "hios-profile" ? hios_profile(1, flags) : hios_schedule(flags);
  }

  TestFolder folder_;
};

// In tests/corpus/flags.json "@x" stands for the file x of the corpus, "%x" for one in a fresh
// folder.
TEST_P(BadCommandLines, AreRefused) {
  Used used(std::string("bad command lines of ") + GetParam());
  const Json rows = read(in_corpus("flags.json"))["command_lines"];
  std::size_t seen = 0;
  for (const Json& row : rows) {
    if (row["program"] != GetParam()) continue;
    SCOPED_TRACE(row.dump());
    ++seen;
    Words flags = row["flags"];
    for (std::string& word : flags) {
      if (word.starts_with('@')) word = in_corpus(word.substr(1));
      if (word.starts_with('%')) word = folder_.file(word.substr(1));
    }
    const ProcessResult result = run(flags);
    used.add(result);
    expect_refused(result, row["message"]);
    EXPECT_EQ(folder_.files(), Words{}) << "no file is left";
  }
  EXPECT_GT(seen, 20u);
}

// Words of a hundred thousand letters: the line that refuses them fits a screen.
TEST_P(BadCommandLines, WithLongWordsAreRefusedInFewWords) {
  const std::string word(100'000, 'x');
  for (const Words& flags :
       {Words{"--" + word}, Words{"--model", word}, Words{"--seed", word}, Words{word},
        Words{"--model", in_corpus("model_ok.json"), "--max-input", "-" + word}}) {
    const ProcessResult result = run(flags);
    expect_refused(result, "");
    EXPECT_LT(result.err.size(), 5000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, BadCommandLines,
                         testing::Values("hios-schedule", "hios-run", "hios-profile"),
                         [](const auto& program) {
                           return std::string(program.param).substr(sizeof "hios-" - 1);
                         });

/// A flag that names a file to read, with the other flags that it needs.
struct Reading {
  const char* program;
  Words flags;  ///< the file's name comes last
};

std::vector<Reading> all_that_read(const TestFolder& folder) {
  const std::string graph = in_corpus("graph_ok.json"), model = in_corpus("model_ok.json");
  const Words runs = {"--model", model, "--schedule", in_corpus("run_one_device.json")};
  return {
      {"hios-schedule", {"--algorithm", "ios", "--graph"}},
      {"hios-schedule", {"--algorithm", "ios", "--model"}},
      {"hios-schedule", {"--algorithm", "ios", "--graph", graph, "--platform"}},
      {"hios-schedule", {"--algorithm", "ios", "--model", model, "--profile"}},
      {"hios-schedule", {"--graph", graph, "--check"}},
      {"hios-run", {"--schedule", in_corpus("run_one_device.json"), "--model"}},
      {"hios-run", {"--model", model, "--schedule"}},
      {"hios-run", runs + Words{"--profile"}},
      {"hios-run", {"--explain"}},
      {"hios-profile", {"--output", folder.file("p.json"), "--model"}},
      {"hios-profile", {"--model", model, "--output", folder.file("p.json"), "--stages"}},
      {"hios-profile", {"--model", model, "--update", "--output"}},
  };
}

// None of them may be waited for, read without end or held in memory.
TEST(OddFiles, AreRefused) {
  TestFolder folder;
  std::filesystem::create_directory(folder.file("folder.json"));
  ASSERT_EQ(mkfifo(folder.file("pipe.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("cycle.json", folder.file("cycle.json"));
  folder.write("empty.json", "");
  folder.write("hole.json", "");
  std::filesystem::resize_file(folder.file("hole.json"), std::uintmax_t{1} << 40);
  const Words before = folder.files();
  const std::vector<std::pair<std::string, const char*>> odd = {
      {folder.file("folder.json"), "is a directory"},
      {folder.file("pipe.json"), "is not a regular file"},
      {folder.file("cycle.json"), "cycle.json: "},
      {folder.file("empty.json"), "empty"},
      {folder.file("hole.json"), "1099511627776 bytes, more than the 33554432 that are read"},
      {"/dev/zero", "/dev/zero: "},
      {"/dev/null", "/dev/null: "},
      {"/proc/self/mem", "/proc/"},
  };
  Used used("odd files");
  for (const Reading& reading : all_that_read(folder)) {
    for (const auto& [file, message] : odd) {
      const Words flags = reading.flags + Words{file};
      SCOPED_TRACE(reading.program + (" " + testing::PrintToString(flags)));
      const std::string program = reading.program;
      const ProcessResult result = program == "hios-run"       ? hios_run(1, flags)
                                   : program == "hios-profile" ? hios_profile(1, flags)
                                                               : hios_schedule(flags);
      used.add(result);
      expect_refused(result, message);
      EXPECT_EQ(folder.files(), before);
    }
  }
}

}  // namespace
}  // namespace hios::test
