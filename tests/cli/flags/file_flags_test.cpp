// No two flags of a command line name the same file where one of them is written.
#include "cli/flags/file_flags.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "cli/flags/flags.h"
#include "cli/profile/profile_flags.h"
#include "cli/run/run_flags.h"
#include "cli/schedule/inputs/schedule_flags.h"
#include "support/programs/temporary_folder.h"
#include "support/programs/variable.h"

namespace hios::cli {
namespace {

namespace fs = std::filesystem;

struct Program {
  const char* name;
  Flags (*flags)();
};
const std::vector<Program> kPrograms = {{"hios-profile", profile_program_flags},
                                        {"hios-schedule", schedule_program_flags},
                                        {"hios-run", run_program_flags}};

/// Returns the message about these words; empty: there is none.
std::string message_of_flags(Flags flags, const std::vector<std::string>& words) {
  std::vector<const char*> pointers = {"program"};
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    flags.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::string message_of_run(const std::vector<std::string>& words) {
  return message_of_flags(run_program_flags(), words);
}

class FileFlags : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string written(const std::string& name) const {
    std::ofstream(file(name)) << "text";
    return file(name);
  }
  test::TemporaryFolder folder_;
};

TEST_F(FileFlags, OneReadsStandardInputAndOneWritesStandardOutput) {
  std::size_t refused = 0;
  for (const Program& program : kPrograms) {
    const Flags flags = program.flags();  // whose declarations the files refer to
    std::vector<NamedFile> streams;
    for (const NamedFile& file : flags.file_flags()) {
      const bool folder = file.declared->role() == FileRole::kOutputFolder;
      const std::string message = message_of_flags(program.flags(), {"--" + file.flag, "-"});
      const bool takes = !folder && file.declared->names_file("-");
      EXPECT_EQ(message.empty(), takes) << file.flag << ": " << message;
      if (takes) streams.push_back(file);
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      for (std::size_t j = i + 1; j < streams.size(); ++j) {
        const std::string first = "--" + streams[i].flag, second = "--" + streams[j].flag;
        const bool both = streams[i].declared->is_written() == streams[j].declared->is_written();
        const std::string message = message_of_flags(program.flags(), {second, "-", first, "-"});
        EXPECT_EQ(message.find(first + " and " + second + " both ") == 0, both) << message;
        EXPECT_EQ(message.empty(), !both) << message;
        refused += both;
      }
    }
  }
  EXPECT_GT(refused, 20u);
}

TEST_F(FileFlags, APairWithAWrittenFileNeedsTwoNames) {
  const std::string name = file("same.json");
  std::size_t pairs = 0;
  for (const Program& program : kPrograms) {
    const Flags flags = program.flags();  // whose declarations the files refer to
    const std::vector<NamedFile> declared = flags.file_flags();
    for (std::size_t i = 0; i < declared.size(); ++i) {
      for (std::size_t j = i + 1; j < declared.size(); ++j) {
        const std::string first = "--" + declared[i].flag, second = "--" + declared[j].flag;
        SCOPED_TRACE(std::string(program.name) + " " + first + " " + second);
        const DeclaredFile &a = *declared[i].declared, &b = *declared[j].declared;
        const bool two_folders =
            a.role() == FileRole::kOutputFolder && b.role() == FileRole::kOutputFolder;
        const bool clash = (a.is_written() || b.is_written()) && !two_folders;
        EXPECT_EQ(
            message_of_flags(program.flags(), {second, name, first, name}),
            clash ? first + " and " + second + " name the same file, " + name : std::string());
        ++pairs;
      }
    }
  }
  EXPECT_GT(pairs, 130u);
}

TEST_F(FileFlags, EveryFlagWithAFileHasARole) {
  const std::regex flag("--([a-z-]+) ([^ \n]*(FILE|FOLDER|SCHEDULE)[^ \n]*)");
  for (const Program& program : kPrograms) {
    const Flags flags = program.flags();
    const std::string help = flags.help();
    std::set<std::string> shown, declared = {"explain"};  // with which nothing is written
    for (std::sregex_iterator it(help.begin(), help.end(), flag), end; it != end; ++it)
      shown.insert(it->str(1));
    for (const NamedFile& each : flags.file_flags()) declared.insert(each.flag);
    if (program.flags != run_program_flags) declared.erase("explain");
    EXPECT_EQ(shown, declared) << program.name;
  }
}

TEST_F(FileFlags, AnInputIsNotReplacedByAReport) {
  const std::string array = written("a.npy");
  EXPECT_EQ(message_of_run({"--input", array, "--json", array, "--force"}),
            "--input and --json name the same file, " + array);
}

TEST_F(FileFlags, FilesInAnOutputFolderAreItsFlags) {
  for (const char* name : {"outputs.json", "0.npy", "12.npy"}) {
    const std::string in_folder = file(name);
    EXPECT_EQ(
        message_of_run({"--outputs", folder_.path().string(), "--json", in_folder}),
        "--json names a file that --outputs " + folder_.path().string() + " writes, " + in_folder);
    EXPECT_NE(message_of_run({"--input", in_folder, "--outputs", folder_.path().string() + "/."}),
              "");
  }
  for (const char* name : {"report.json", ".npy", "a0.npy", "0.npy.json"})
    EXPECT_EQ(message_of_run({"--outputs", folder_.path().string(), "--json", file(name)}), "");
  // An output is written through a link.
  const std::string array = written("a.npy");
  fs::create_directory(file("out"));
  fs::create_symlink("../a.npy", file("out/0.npy"));
  EXPECT_NE(message_of_run({"--input", array, "--outputs", file("out"), "--force"}), "");
}

TEST_F(FileFlags, FlightRecordsCount) {
  const std::string record = file("hios-run-rank-0.flight.json");
  EXPECT_NE(message_of_run({"--flight-record", folder_.path().string(), "--json", record}), "");
  EXPECT_EQ(message_of_run({"--flight-record", "off", "--json", record}), "");
  const test::Variable state("XDG_STATE_HOME", folder_.path());
  const std::string by_default = file("hios/hios-run-rank-0.flight.json");
  EXPECT_NE(message_of_run({"--json", by_default}), "") << "the default folder";
  EXPECT_EQ(message_of_run({"--json", "hios-run-rank-0.flight.json"}), "") << "not the default";
  EXPECT_EQ(message_of_run({"--explain", "hios-run-rank-0.flight.json"}), "");
  EXPECT_EQ(message_of_run({"--outputs", "."}), "") << "two folders may be the same";
}

TEST_F(FileFlags, PathsAndLinksToOneFileAreThatFile) {
  const std::string graph = written("a.json");
  fs::create_symlink("a.json", file("soft.json"));
  fs::create_hard_link(graph, file("hard.json"));
  fs::create_directory(file("sub"));
  fs::create_directory_symlink(".", file("here"));
  for (const char* other :
       {"soft.json", "hard.json", "sub/../a.json", "./a.json", "here/a.json", "here/hard.json"}) {
    SCOPED_TRACE(other);
    EXPECT_EQ(message_of_run({"--profile", graph, "--trace", file(other), "--force"}),
              "--profile and --trace name the same file, " + file(other));
  }
  // Files that are yet to be written, too.
  EXPECT_NE(message_of_run({"--csv", file("new"), "--json", file("sub/../new")}), "");
  EXPECT_NE(message_of_run({"--csv", file("new"), "--json", file("here/new")}), "");
  EXPECT_EQ(message_of_run({"--csv", file("new"), "--json", file("sub/new")}), "");
  const fs::path relative = fs::relative(graph);
  EXPECT_NE(message_of_run({"--profile", graph, "--json", relative.string()}), "");
}

TEST_F(FileFlags, FilesThatAreReadWithAnInputAreNotReplaced) {
  const auto input = [](FileValue::Files also) {
    return boost::shared_ptr<FileValue>(input_file("FILE")->reads_also(also));
  };
  const auto writes = [](const std::string& name) { return name == "0.npy"; };
  const boost::shared_ptr<FileValue> output(output_file("FILE"));
  const boost::shared_ptr<FileValue> folder(output_folder("FOLDER", writes));
  const auto model = input([](const std::string& name) {
    const fs::path at = fs::path(name).parent_path();
    return std::vector<fs::path>{at / "data/weights.bin", at / "0.npy"};
  });
  const auto message = [&](const DeclaredFile* declared, const std::string& name) -> std::string {
    const std::vector<NamedFile> files = {{"model", file("net"), model.get()},
                                          {"to", name, declared}};
    try {
      check_distinct_files(files);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  fs::create_directory(file("data"));
  const std::string weights = written("data/weights.bin");
  fs::create_symlink("data/weights.bin", file("soft"));
  fs::create_hard_link(weights, file("hard"));
  for (const char* name : {"data/weights.bin", "data/../data/weights.bin", "soft", "hard"}) {
    EXPECT_EQ(message(output.get(), file(name)),
              "--to " + file(name) + " would replace a file that --model " + file("net") +
                  " reads, " + weights + ": name another");
  }
  EXPECT_EQ(message(output.get(), written("other")), "");
  EXPECT_EQ(message(folder.get(), folder_.path().string()), "") << "there is no 0.npy";
  written("0.npy");
  EXPECT_NE(message(folder.get(), folder_.path().string()), "");
  EXPECT_EQ(message(folder.get(), file("data")), "");
  // Where nothing can be replaced, nothing is read.
  const auto unread = input([](const std::string&) -> std::vector<fs::path> { std::abort(); });
  const std::vector<NamedFile> files = {{"model", file("net"), unread.get()},
                                        {"to", file("new"), output.get()}};
  check_distinct_files(files);
}

TEST_F(FileFlags, ANameMayStandBeforeAFile) {
  const std::string array = written("a.npy"), colons = written("b:c.npy");
  const auto split = [](const std::string& text) {
    const FileForName found = split_name(text);
    return std::pair(found.name, found.file);
  };
  using Split = std::pair<std::string, std::string>;
  EXPECT_EQ(split(array), Split("", array));
  EXPECT_EQ(split(colons), Split("", colons));
  EXPECT_EQ(split("x:" + array), Split("x", array));
  EXPECT_EQ(split("x:0:" + array), Split("x:0", array));
  EXPECT_EQ(split("x:" + colons), Split("x", colons));
  EXPECT_EQ(split("x:0:" + file("nowhere")), Split("x:0", file("nowhere")));
  EXPECT_EQ(split(file("nowhere")), Split("", file("nowhere")));
  const std::string named = "--reference and --json name the same file, " + array;
  EXPECT_EQ(message_of_run({"--reference", "y:" + array, "--json", array, "--force"}), named);
  EXPECT_EQ(message_of_run({"--reference", "z:" + colons, "--reference", "y:" + array, "--json",
                            array, "--force"}),
            named);
  EXPECT_EQ(message_of_run({"--reference", array, "--reference", array, "--input", array}), "");
}

TEST_F(FileFlags, TheLongestNameThatIsKnownStandsBeforeAFile) {
  const std::string array = written("a.npy"), nowhere = file("nowhere");
  const auto split = [](const std::string& text, const std::vector<std::string>& names) {
    const FileForName found = split_name(text, names);
    return std::pair(found.name, found.file);
  };
  using Split = std::pair<std::string, std::string>;
  const std::vector<std::string> names = {"x", "x:0", "x:0:1", "other"};
  EXPECT_EQ(split("x:" + array, names), Split("x", array));
  EXPECT_EQ(split("x:0:" + array, names), Split("x:0", array));
  EXPECT_EQ(split("x:0:1:" + array, names), Split("x:0:1", array));
  EXPECT_EQ(split("x:0:" + nowhere, names), Split("x:0", nowhere));
  EXPECT_EQ(split("x:0:1:2", names), Split("x:0:1", "2"));
  EXPECT_EQ(split("x:a:b", names), Split("x", "a:b")) << "no file has the name b alone";
  EXPECT_EQ(split("y:0:" + array, names), Split("y:0", array)) << "for a message with this name";
  EXPECT_EQ(split(array, names), Split("", array));
}

TEST_F(FileFlags, AFileOfARepeatableFlagMayBeCalledLikeAStream) {
  Flags flags = run_program_flags();
  const std::vector<const char*> words = {"program",         "--input",         "standard input",
                                          "--reference",     "standard output", "--reference",
                                          "y:standard input"};
  flags.parse(static_cast<int>(words.size()), words.data());
  EXPECT_EQ(flags.repeated("input"), std::vector<std::string>{"./standard input"});
  EXPECT_EQ(flags.repeated("reference"),
            (std::vector<std::string>{"./standard output", "y:./standard input"}));
}

TEST_F(FileFlags, WordsNameNoFile) {
  EXPECT_EQ(message_of_run({"--model", "squeezenet", "--json", "squeezenet"}), "");
  EXPECT_EQ(message_of_run({"--fusion", "none", "--json", "none"}), "");
  EXPECT_NE(message_of_run({"--model", "./squeezenet", "--json", "squeezenet"}), "");
}

TEST_F(FileFlags, HelpIsGivenWhateverElseIs) {
  const std::string name = file("same");
  EXPECT_EQ(message_of_run({"--json", name, "--csv", name, "--help"}), "");
}

}  // namespace
}  // namespace hios::cli
