// Files of programs that are killed at any moment, write to a full disk, or write the same file at
// once. A reader finds the old file or the new one, and no measurement is lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>

#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScheduleProgram = HIOS_BIN_DIR "/hios-schedule";
constexpr const char* kProfileProgram = HIOS_BIN_DIR "/hios-profile";

// Starts the command after it and kills that process $DELAY seconds after its start or, where
// $FOLDER is the folder of its output, after it has started to write.
constexpr const char* kKill = R"("$@" > /dev/null 2>&1 &
pid=$!
writes() {
  for file in "$FOLDER"/.hios-$pid-*; do [ -s "$file" ] && return; done
  return 1
}
if [ -n "$FOLDER" ]; then until writes || ! kill -0 $pid 2> /dev/null; do :; done; fi
sleep "$DELAY"
kill -9 $pid 2> /dev/null
wait $pid
exit 0)";

bool is_temporary(const std::string& name) { return name.starts_with(".hios-"); }

class Files : public testing::Test {
 protected:
  ProcessResult shell(const std::string& script, const Words& arguments = {},
                      std::vector<std::pair<std::string, std::string>> environment = {}) const {
    ProcessOptions options;
    options.directory = folder_.file("");
    options.environment = std::move(environment);
    return run_process(Words{"bash", "-c", script, "bash"} + arguments, options);
  }

  /// Runs the command and kills it `delay_s` after its start or after it has started to write.
  void kill(const Words& command, bool writing, double delay_s) const {
    const auto done =
        shell(kKill, command,
              {{"FOLDER", writing ? folder_.file("") : ""}, {"DELAY", std::to_string(delay_s)}});
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }

  Words profile(const std::string& height, const std::string& file) const {
    return Words{kProfileProgram, "--model", "squeezenet", "--height", height, "--warmup", "0"} +
           Words{"--iterations", "2", "--oversubscribe", "--flight-record", "off", "--output"} +
           Words{folder_.file(file), "--update"};
  }

  std::size_t operators(const std::string& file) const {
    return read(folder_.file(file))["configurations"][0]["operators"].size();
  }

  /// After kills: files half written have a name of their own, and go once their time is over.
  void expect_tidied(const Words& command, const Words& files) {
    std::size_t left = 0;
    for (const std::string& name : folder_.files()) {
      if (!is_temporary(name)) continue;
      ++left;
      fs::last_write_time(folder_.file(name),
                          fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    std::printf("  %zu files half written were left\n", left);
    EXPECT_EQ(run_process(command).exit_status, 0);
    EXPECT_EQ(folder_.files(), files);
  }

  TestFolder folder_;
  std::mt19937 random_{20240611};
};

double seconds_of(const Words& command) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_process(command).exit_status, 0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_F(Files, AFileOfASchedulerKilledAtAnyMomentIsOldOrNew) {
  const Words command = {
      kScheduleProgram,       "--random", "n=4000,edges=8000,layers=50", "--export-graph",
      folder_.file("g.json"), "--force"};
  const double whole_s = seconds_of(command);
  int was_old = 0, was_new = 0;
  for (int i = 0; i < tries(20); ++i) {
    const bool writing = i % 2 == 0;
    folder_.write("g.json", "\"old\"\n");
    std::uniform_real_distribution<> delay(0, writing ? 0.01 : whole_s);
    kill(command, writing, delay(random_));
    const Json now = read(folder_.file("g.json"));
    if (now == "old") {
      ++was_old;
      continue;
    }
    EXPECT_EQ(now["operators"].size(), 4000u);
    EXPECT_EQ(now["edges"].size(), 8000u);
    ++was_new;
  }
  std::printf("  kills: %d times the old file, %d times the new one\n", was_old, was_new);
  expect_tidied(command, {"g.json"});
}

TEST_F(Files, AProfileKilledAtAnyMomentLosesNothing) {
  const Words first = profile("32", "p.json"), second = profile("48", "p.json");
  EXPECT_EQ(run_process(first).exit_status, 0);
  const std::string before = content_of(folder_.file("p.json"));
  const std::size_t few = operators("p.json");
  const double whole_s = seconds_of(second);
  const std::size_t all = operators("p.json");
  ASSERT_GT(all, few);
  int was_old = 0;
  for (int i = 0; i < 12; ++i) {
    const bool writing = i % 2 == 0;
    folder_.write("p.json", before);
    std::uniform_real_distribution<> delay(0, writing ? 0.004 : whole_s);
    kill(second, writing, delay(random_));
    if (content_of(folder_.file("p.json")) == before) {
      ++was_old;
    } else {
      EXPECT_EQ(operators("p.json"), all);
    }
  }
  std::printf("  12 kills: %d times the old profile, %d times the new one\n", was_old,
              12 - was_old);
  expect_tidied(second, {"p.json"});
}

TEST_F(Files, ASecondRunOnOneOutputIsRefused) {
  for (int i = 0; i < 5; ++i) {
    const auto both = shell(R"(
run() { "$1" --random n=300,edges=600,layers=20,seed=$2 --algorithm inter-mr --devices 2 --kind cpu --output s.json -q; echo "status $?"; }
run "$1" 1 & run "$1" 2 & wait)",
                            {kScheduleProgram});
    EXPECT_EQ(lines_with(both.out, "status 0").size(), 1u) << both.out << both.err;
    EXPECT_EQ(lines_with(both.out, "status 2").size(), 1u) << both.out << both.err;
    EXPECT_EQ(
        lines_with(both.err, "s.json: exists; name another file or replace it with --force").size(),
        1u)
        << both.err;
    EXPECT_EQ(folder_.files(), Words{"s.json"});
    EXPECT_EQ(read(folder_.file("s.json"))["format"], "hios-schedule");
    fs::remove(folder_.file("s.json"));
  }
}

TEST_F(Files, UpdatesOfOneProfileAtOnceLoseNoMeasurement) {
  // First into a file that is not there yet, then into one that is.
  for (const Words& heights : {Words{"32", "48", "64"}, Words{"40", "56", "72"}}) {
    Words words = {std::to_string(profile("32", "p.json").size())};
    for (const std::string& height : heights) words = words + profile(height, "p.json");
    const auto all = shell(R"(
count=$1; shift
while [ $# -gt 0 ]; do ( "${@:1:$count}" > /dev/null; echo "status $?" ) & shift $count; done
wait)",
                           words);
    EXPECT_EQ(lines_with(all.out, "status 0").size(), heights.size()) << all.out << all.err;
    EXPECT_EQ(folder_.files(), Words{"p.json"});
    // Whatever these would measure is there: one after the other they find nothing left to do.
    const std::size_t known = operators("p.json");
    EXPECT_GT(known, 60u);
    for (const std::string& height : heights)
      EXPECT_EQ(run_process(profile(height, "p.json")).exit_status, 0);
    EXPECT_EQ(operators("p.json"), known);
  }
}

TEST_F(Files, AnUpdateKeepsTheAlgorithmsOfOtherModels) {
  const auto algorithms = [&] {
    return read(folder_.file("p.json"))["configurations"][0]["machine"].value("algorithms",
                                                                              Json::object());
  };
  ASSERT_EQ(run_process(profile("64", "p.json")).exit_status, 0);
  const Json first = algorithms();  // none where no operator can be computed in several ways
  ASSERT_EQ(run_process(profile("96", "p.json")).exit_status, 0);
  const Json both = algorithms();
  for (const auto& [signature, name] : first.items())
    EXPECT_EQ(both.value(signature, Json()), name);
  EXPECT_EQ(both.size() > first.size(), !first.empty());
}

TEST_F(Files, MeasurementsAreKeptUnderAnotherNameWhereTheirsWasTaken) {
  const std::string file = folder_.file("p.json");
  Words command = profile("48", "p.json");
  command.pop_back();                        // no --update: another's file is not touched
  *std::ranges::find(command, "2") = "300";  // iterations: it measures until the name is taken
  // The name is taken while the program measures.
  const auto done = shell(R"("$@" & pid=$!
while ! grep -qs '^stop-request$' /proc/$pid/task/*/comm; do
  kill -0 $pid 2>/dev/null || break
  sleep 0.01
done
echo '"of another"' > p.json
wait $pid)",
                          command);
  EXPECT_EQ(done.exit_status, 3) << done.err;
  EXPECT_EQ(content_of(file), "\"of another\"\n");
  ASSERT_EQ(folder_.files().size(), 2u);
  const std::string aside = folder_.files()[1];
  EXPECT_TRUE(aside.starts_with("p.json.measured-")) << aside;
  EXPECT_EQ(
      lines_with(done.err, "p.json: exists; name another file; the measurements are in ").size(),
      1u)
      << done.err;
  EXPECT_EQ(read(folder_.file(aside))["format"], "hios-profile");
}

TEST_F(Files, AFileSystemWithoutLocksIsWarnedOf) {
  const auto done =
      shell(R"(exec "$@")", profile("32", "p.json"),
            {{"LD_PRELOAD", HIOS_NO_LOCKS}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  const auto again =
      shell(R"(exec "$@")", profile("48", "p.json"),
            {{"LD_PRELOAD", HIOS_NO_LOCKS}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_EQ(lines_with(again.err, "p.json: cannot be locked here (No locks available)").size(), 1u)
      << again.err;
  EXPECT_EQ(folder_.files(), Words{"p.json"});
}

/// How this machine gives a test a disk of its own: the words before a shell that may mount; none
/// where neither root's rights nor a namespace of one's own are to be had.
Words mounting_shell() {
  for (const Words& words : {Words{"unshare", "-m"}, Words{"unshare", "-Urm"}}) {
    const auto tried =
        run_process(words + Words{"sh", "-c", "mount -t tmpfs none /mnt && umount /mnt"});
    if (tried.exit_status == 0) return words;
  }
  return {};
}

TEST_F(Files, AFullDiskLeavesTheOldFile) {
  const Words before = mounting_shell();
  std::printf("  the full disk: %s\n", before.empty() ? "ulimit -f" : "a tmpfs of 16 KB");
  fs::create_directory(folder_.file("disk"));
  const std::string disk = before.empty() ? "ulimit -f 16" : "mount -t tmpfs -o size=16k none disk";
  // A small graph's schedule fits, a large graph does not.
  const std::string script = disk + R"( && cd disk || exit 99
"$1" --random n=30,edges=40,layers=5 --algorithm ios --output s.json -q || exit 98
cp s.json ../before.json
"$1" --random n=4000,edges=8000,layers=50 --export-graph s.json --force
status=$?
ls -A
cmp s.json ../before.json || exit 97
exit $status)";
  ProcessOptions options;
  options.directory = folder_.file("");
  const auto done =
      run_process(before + Words{"bash", "-c", script, "bash", kScheduleProgram}, options);
  EXPECT_EQ(done.exit_status, 3) << done.out << done.err;
  EXPECT_EQ(done.out, "s.json\n");
  EXPECT_EQ(lines_with(done.err, "s.json: cannot be written: ").size(), 1u) << done.err;
}

TEST_F(Files, AProfileOnAFullDiskStaysAsItWas) {
  const Words before = mounting_shell();
  EXPECT_EQ(run_process(profile("32", "p.json")).exit_status, 0);
  const auto pages = (fs::file_size(folder_.file("p.json")) + 4095) / 4096;
  std::printf("  the full disk: %s\n", before.empty() ? "ulimit -f" : "a tmpfs with one free page");
  fs::create_directory(folder_.file("disk"));
  const std::string size = std::to_string((pages + 1) * 4);
  const std::string disk = before.empty() ? "ulimit -f " + std::to_string(pages * 4)
                                          : "mount -t tmpfs -o size=" + size + "k none disk";
  Words command = profile("48", "disk/p.json");
  command.push_back("-q");
  const std::string script = "cp p.json before.json; cp p.json disk/; " + disk + R"( || exit 99
cp p.json disk/ || exit 98
"$@"
status=$?
ls -A disk
cmp disk/p.json before.json || exit 97
exit $status)";
  ProcessOptions options;
  options.directory = folder_.file("");
  const auto done = run_process(before + Words{"bash", "-c", script, "bash"} + command, options);
  EXPECT_EQ(done.exit_status, 3) << done.out << done.err;
  EXPECT_EQ(done.out, "p.json\n");
  EXPECT_EQ(lines_with(done.err, "error: ").size(), 1u) << done.err;
  EXPECT_EQ(lines_with(done.err, "p.json: cannot be written: ").size(), 1u) << done.err;
}

TEST_F(Files, AReadOnlyFolderIsRefusedAtOnce) {
  const Words before = mounting_shell();
  std::printf("  the read-only folder: %s\n",
              before.empty() ? "/proc" : "a tmpfs that was mounted read-only");
  fs::create_directory(folder_.file("disk"));
  folder_.write("p.json", "{}");
  const std::string script = before.empty()
                                 ? "cd /proc || exit 99"
                                 : R"(mount -t tmpfs none disk && echo '"old"' > disk/s.json &&
mount -o remount,ro disk && cd disk || exit 99)";
  const Words commands = {
      R"("$1" --random n=10,edges=12,layers=3 --algorithm ios --output new.json)",
      R"("$1" --random n=10,edges=12,layers=3 --algorithm ios --output s.json --force)",
      R"("$2" --model squeezenet --output new.json)",
      R"("$2" --model squeezenet --output s.json --update)"};
  for (const std::string& command : commands) {
    if (before.empty() && command.find("s.json") != std::string::npos) continue;
    ProcessOptions options;
    options.directory = folder_.file("");
    const auto done = run_process(before + Words{"bash", "-c", script + "\n" + command, "bash",
                                                 kScheduleProgram, kProfileProgram},
                                  options);
    EXPECT_EQ(done.exit_status, 2) << command << done.err;
    EXPECT_EQ(lines_with(done.err, "error: ").size(), 1u) << done.err;
    if (!before.empty()) {
      EXPECT_EQ(lines_with(done.err, "Read-only file system").size(), 1u) << done.err;
    }
  }
}

TEST_F(Files, OddNamesOfOutputsDoWhatOneExpects) {
  const std::string graph = R"("$1" --random n=10,edges=12,layers=3 --algorithm ios -q )";
  const auto expect = [&](const std::string& flags, int status, const std::string& words) {
    const auto done = shell(graph + flags, {kScheduleProgram});
    EXPECT_EQ(done.exit_status, status) << flags << "\n" << done.err;
    EXPECT_EQ(lines_with(done.err, words).size(), words.empty() ? 0u : 1u) << flags << "\n"
                                                                           << done.err;
  };
  fs::create_directory(folder_.file("folder"));
  fs::create_symlink("real.json", folder_.file("link.json"));
  fs::create_symlink("loop.json", folder_.file("loop.json"));
  fs::create_directory_symlink("folder", folder_.file("there"));
  expect("--output folder/../a.json", 0, "");
  expect("--output there/b.json", 0, "");
  EXPECT_TRUE(fs::exists(folder_.file("folder/b.json")));
  expect("--output link.json --force", 2, "link.json: is a link that leads nowhere");
  folder_.write("real.json", "old");
  expect("--output link.json --force", 0, "");
  EXPECT_TRUE(fs::is_symlink(folder_.file("link.json")));
  EXPECT_EQ(read(folder_.file("real.json"))["format"], "hios-schedule");
  expect("--output loop.json --force", 2, "loop.json: is a link that leads nowhere (Too many");
  expect("--output folder --force", 2, "folder: is a directory; name a file in it");
  expect("--output there --force", 2, "there: is a directory");
  expect("--output folder/ --force", 2, "is no file name");
  expect("--output . --force", 2, ".: is a directory");
  expect("--json /dev/stdout --force", 2, "/dev/stdout: is not a regular file");
  expect("--json /dev/stdout --force > shown.txt", 2, "/dev/stdout: is not a regular file");
  expect("--json /dev/null", 2, "/dev/null: is not a regular file");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect("--output c.json --json there/../c.json", 2, "name the same file");
  const auto onto_input = shell(
      R"("$1" --graph g.json --algorithm ios --devices 1 --kind cpu --output in.json --force)",
      {kScheduleProgram});
  EXPECT_EQ(onto_input.exit_status, 2);
  folder_.write("g.json", "{}");
  fs::create_symlink("g.json", folder_.file("in.json"));
  const auto linked =
      shell(R"("$1" --graph g.json --algorithm ios --devices 1 --output in.json --force)",
            {kScheduleProgram});
  EXPECT_EQ(linked.exit_status, 2);
  EXPECT_EQ(lines_with(linked.err, "--graph and --output name the same file").size(), 1u)
      << linked.err;
  EXPECT_EQ(content_of(folder_.file("g.json")), "{}");
}

TEST_F(Files, WordsInAFileAreNeverRunOrOpened) {
  const Words names = {"$(touch pwned)", "`touch pwned`",  "; touch pwned", "|touch pwned",
                       "../../pwned",    "/proc/self/exe", "%s%n%99999d",   "--output=pwned"};
  Json operators = Json::array();
  for (const std::string& name : names) operators.push_back({{"name", name}, {"time_ms", 1.0}});
  const Json graph = {{"format", "hios-graph"},
                      {"version", 1},
                      {"name", names[0]},
                      {"operators", operators},
                      {"edges", Json::array()}};
  folder_.write("g.json", to_text(graph));
  const auto planned = shell(
      R"("$1" --graph g.json --devices 2 --kind cpu --algorithm inter-mr --output s.json --csv t.csv --timeline t.json --export-graph e.json)",
      {kScheduleProgram});
  EXPECT_EQ(planned.exit_status, 0) << planned.err;
  const auto checked =
      shell(R"("$1" --graph e.json --check s.json --json c.json)", {kScheduleProgram});
  EXPECT_EQ(checked.exit_status, 0) << checked.err;
  EXPECT_EQ(folder_.files(), (Words{"c.json", "e.json", "g.json", "s.json", "t.csv", "t.json"}));
  EXPECT_FALSE(fs::exists(folder_.file("../../pwned")));
}

}  // namespace
}  // namespace hios::test
