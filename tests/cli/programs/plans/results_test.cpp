// The results of hios-schedule: files that say which problem, program and arguments they are from,
// and the forms of the table.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/flags/flags.h"
#include "cli/process/version.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios::test {
namespace {

/// Runs the words after the first with standard output on a terminal of so many columns.
constexpr const char* kOnTerminal = R"(
import fcntl, os, pty, struct, subprocess, sys, termios
own, other = pty.openpty()
fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdout=other)
os.close(other)
try:
    while data := os.read(own, 65536):
        sys.stdout.buffer.write(data.replace(b"\r", b""))
except OSError:  # its other end is closed
    pass
sys.exit(child.wait()))";

class Results : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  /// Returns the rows of a CSV, by column.
  std::vector<std::map<std::string, std::string>> rows_of(const std::string& name) const {
    std::istringstream lines(content_of(file(name)));
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> head = cli::split(line, ',');
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(lines, line)) {
      const std::vector<std::string> cells = cells_of(line);
      EXPECT_EQ(cells.size(), head.size()) << line;
      rows.emplace_back();
      for (std::size_t c = 0; c < std::min(cells.size(), head.size()); ++c)
        rows.back()[head[c]] = cells[c];
    }
    return rows;
  }

  /// Returns the cells of a line, some of them in quotes.
  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  }

  TestFolder folder_;
};

TEST_F(Results, SayWhichProblemAndProgramTheyAreFrom) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "fork",
 "operators": [{"name": "a", "time_ms": 2}, {"name": "b", "time_ms": 6}, {"name": "c", "time_ms": 6}],
 "edges": [{"from": "a", "to": "b", "transfer_ms": 1}, {"from": "a", "to": "c", "transfer_ms": 1}]})");
  const Words words = {"--graph", file("g.json"), "--devices", "2",           "--compare",
                       "--json",  file("c.json"), "--csv",     file("c.csv"), "--algorithm",
                       "hios-lp", "--seed",       "7"};
  const auto done = hios_schedule(words);
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json results = read(file("c.json"));
  expect_meets_schema(results);
  EXPECT_EQ(results["format"], "hios-comparison");
  EXPECT_EQ(results["version"], 1);
  EXPECT_EQ(results["commit"], cli::commit());
  Json arguments = results["arguments"];
  arguments.erase(0);
  EXPECT_EQ(arguments, Json(words));
  EXPECT_EQ(results["graph"]["name"], "fork");
  EXPECT_EQ(results["graph"]["operators"], 3);
  EXPECT_EQ(results["graph"]["edges"], 2);
  EXPECT_EQ(results["graph"]["digest"], results["schedules"][0]["graph"]["digest"]);
  EXPECT_FALSE(results["graph"].contains("batch")) << "a graph has no pixels";
  ASSERT_EQ(results["devices"].size(), 2u);
  EXPECT_EQ(results["devices"][1]["name"], "cpu1");
  EXPECT_EQ(results["seed"], 7);
  for (const Json& schedule : results["schedules"]) expect_meets_schema(schedule);

  const auto rows = rows_of("c.csv");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("devices"), "2");
    EXPECT_EQ(row.at("graph"), "fork");
    EXPECT_EQ(row.at("graph_digest"), results["graph"]["digest"].get<std::string>());
    EXPECT_EQ(row.at("operators"), "3");
    EXPECT_EQ(row.at("edges"), "2");
    EXPECT_EQ(row.at("seed"), "7");
    EXPECT_EQ(row.at("commit"), cli::commit());
    EXPECT_EQ(row.at("format"), "hios-comparison");
    EXPECT_EQ(row.at("version"), "1");
    EXPECT_EQ(row.at("given"), "");
    EXPECT_NE(row.at("arguments").find("--algorithm hios-lp --seed 7"), std::string::npos);
  }
}

TEST_F(Results, HaveArgumentsInACsvThatCanBePasted) {
  const auto done =
      hios_schedule({"--random", "n=3", "--algorithm", "heft", "--csv", file("a b.csv")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const std::string arguments = rows_of("a b.csv").at(0).at("arguments");
  EXPECT_TRUE(arguments.ends_with(" --csv '" + file("a b.csv") + "'")) << arguments;
}

TEST_F(Results, MeetTheirSchemasInEveryForm) {
  const Words random = {"--random", "n=12,edges=16,layers=4", "--time-limit", "1"};
  const std::vector<Words> commands = {
      {"--algorithm", "sequential"},
      {"--algorithm", "hios-lp,slice-graph", "--objective", "throughput", "--devices", "2,3"},
      {"--random", "n=9,speeds=1:0.5,memory=1.1", "--compare", "--algorithm", "heft"}};
  for (const Words& command : commands) {
    SCOPED_TRACE(command.back());
    const auto done = hios_schedule((command.front() == "--random" ? Words{} : random) + command +
                                    Words{"--json", file("c.json"), "--force"});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    expect_meets_schema(read(file("c.json")));
  }
  const Words one = {"--algorithm", "heft", "--output", file("s.json")};
  ASSERT_EQ(hios_schedule(random + one).exit_status, 0);
  const auto checked = hios_schedule(
      {"--random", random[1], "--check", file("s.json"), "--json", file("v.json"), "--seed", "3"});
  EXPECT_EQ(checked.exit_status, 2) << "another seed makes another graph";
  const auto valid = hios_schedule({"--random", random[1], "--check", file("s.json"), "--json",
                                    file("v.json"), "--csv", file("v.csv")});
  ASSERT_EQ(valid.exit_status, 0) << valid.err;
  const Json result = read(file("v.json"));
  expect_meets_schema(result);
  EXPECT_EQ(result["format"], "hios-check");
  EXPECT_EQ(result["graph"]["operators"], 12);
  EXPECT_EQ(rows_of("v.csv").at(0).at("operators"), "12");
  EXPECT_EQ(rows_of("v.csv").at(0).at("devices"), "2");
}

TEST_F(Results, TheTableFitsEightyColumns) {
  const auto done = hios_schedule({"--random", "n=12,edges=16,layers=4", "--compare", "--algorithm",
                                   "hios-lp", "--time-limit", "1"});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(lines_with(done.out, "algorithm  ").size(), 2u) << "folded once\n" << done.out;
  EXPECT_EQ(lines_with(done.out, "hios-lp  ").size(), 2u) << done.out;
  for (const std::string& line : cli::split(done.out, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(Results, TheTableFitsTheTerminal) {
  for (const std::size_t columns : {200u, 60u}) {
    SCOPED_TRACE(columns);
    const auto done = run_process({"python3", "-c", kOnTerminal, std::to_string(columns),
                                   HIOS_BIN_DIR "/hios-schedule", "--random",
                                   "n=12,edges=16,layers=4", "--algorithm", "hios-lp"});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    EXPECT_EQ(lines_with(done.out, "algorithm  ").size() == 1, columns == 200u) << done.out;
    for (const std::string& line : cli::split(done.out, '\n')) EXPECT_LE(line.size(), columns);
  }
}

TEST_F(Results, TheTablePrintsForPagesAndPapers) {
  const Words problem = {
      "--random", "n=12,edges=16,layers=4", "--streams", "1", "--compare", "--algorithm",
      "hios-lp",  "--time-limit",           "1"};
  const auto markdown = hios_schedule(problem + Words{"--markdown"});
  ASSERT_EQ(markdown.exit_status, 0) << markdown.err;
  EXPECT_EQ(markdown.out.find("| algorithm | latency ms |"), 0u) << markdown.out;
  EXPECT_EQ(lines_with(markdown.out, "| hios-lp | ").size(), 1u) << markdown.out;
  EXPECT_EQ(lines_with(markdown.out, "one stream").size(), 0u) << "the table alone";
  EXPECT_EQ(lines_with(markdown.err, "devices have one stream").size(), 1u) << markdown.err;
  const auto latex = hios_schedule(problem + Words{"--latex"});
  ASSERT_EQ(latex.exit_status, 0) << latex.err;
  EXPECT_EQ(latex.out.find("\\begin{tabular}{lrrr"), 0u) << latex.out;
  EXPECT_NE(latex.out.find(" \\%"), std::string::npos) << latex.out;
  EXPECT_EQ(lines_with(latex.out, "hios-lp & ").size(), 1u) << latex.out;
  const auto both = hios_schedule(problem + Words{"--latex", "--markdown"});
  EXPECT_EQ(both.exit_status, 2);
  EXPECT_EQ(lines_with(both.err, "--markdown and --latex exclude each other").size(), 1u);
  const auto list = hios_schedule({"--list-models", "--latex"});
  EXPECT_EQ(list.exit_status, 2) << list.out;
  const auto exported =
      hios_schedule({"--random", "n=9", "--export-graph", file("g.json"), "--markdown"});
  EXPECT_EQ(lines_with(exported.err, "--markdown needs --algorithm").size(), 1u) << exported.err;
}

TEST_F(Results, APlotIsDrawnByTheOtherCommand) {
  const auto done = hios_schedule({"--random", "n=9", "--compare", "--plot", "it's here.pdf"});
  EXPECT_EQ(done.exit_status, 2);
  EXPECT_EQ(lines_with(done.err,
                       "error: --plot draws by Matplotlib, which the command hios does: "
                       "hios schedule --random n=9 --compare --plot 'it'\\''s here.pdf'")
                .size(),
            1u)
      << done.err;
}

}  // namespace
}  // namespace hios::test
