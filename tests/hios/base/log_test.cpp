#include "hios/base/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace hios::log {
namespace {

/// Returns the text that `body` writes to standard error while that is a terminal.
std::string on_a_terminal(const std::function<void()>& body) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    ADD_FAILURE() << "no pseudo-terminal";
    return {};
  }
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  body();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  // All that was written is in the terminal's buffer; the end of it is marked here.
  EXPECT_EQ(::write(terminal, "#", 1), 1);
  std::string text;
  for (char c = 0; ::read(master, &c, 1) == 1 && c != '#';) text += c;
  ::close(terminal);
  ::close(master);
  return text;
}

std::string in_a_file(const std::function<void()>& body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

class Log : public testing::Test {
 protected:
  ~Log() override { set_level(Level::kNormal); }
};

void say_everything() {
  info("an info");
  verbose("a detail");
  warning("a warning");
  error("an error");
}

TEST_F(Log, PrintsLinesUpToItsLevel) {
  EXPECT_EQ(in_a_file(say_everything), "an info\nwarning: a warning\nerror: an error\n");
  set_level(Level::kQuiet);
  EXPECT_EQ(in_a_file(say_everything), "error: an error\n");
  set_level(Level::kVerbose);
  EXPECT_EQ(in_a_file(say_everything), "an info\na detail\nwarning: a warning\nerror: an error\n");
}

TEST_F(Log, EscapesInvisibleCharactersOfEveryLine) {
  set_level(Level::kVerbose);
  EXPECT_EQ(in_a_file([] {
              info("one\u202e\ntwo");
              verbose("\u2066");
              warning("\ufeff");
              error("\U000e0001");
            }),
            "one\\u202e\ntwo\n\\u2066\nwarning: \\ufeff\nerror: \\U000e0001\n");
}

TEST_F(Log, ProgressLineShowsTheRemainingTime) {
  EXPECT_EQ(progress_line("measuring", 42, 119, -1), "measuring  42/119");
  EXPECT_EQ(progress_line("measuring", 42, 119, 2.1), "measuring  42/119  3 s left");
  EXPECT_EQ(progress_line("m", 1, 2, 61), "m  1/2  1 min 1 s left");
  EXPECT_EQ(progress_line("m", 1, 2, 7260), "m  1/2  2 h 1 min left");
  EXPECT_EQ(progress_line("m", 1, 2, 1e300), "m  1/2");
  EXPECT_EQ(progress_line(std::string(200, 'x'), 1, 2, 3).size(), 79U);
}

TEST_F(Log, ProgressOverwritesAndWipesItself) {
  EXPECT_EQ(on_a_terminal([] {
              Progress progress("work");
              progress.update(1, 2, 5);
              progress.update(1, 2, 4.5);  // the same text is not written again
              progress.update(2, 2, 0);
            }),
            "\r\033[Kwork  1/2  5 s left\r\033[Kwork  2/2  0 s left\r\033[K");
}

TEST_F(Log, ALineWipesTheProgressFirst) {
  EXPECT_EQ(on_a_terminal([] {
              Progress progress("work");
              progress.update(1, 2, -1);
              info("line");
            }),
            "\r\033[Kwork  1/2\r\033[Kline\r\n");
}

TEST_F(Log, ProgressIsSilentElsewhere) {
  const auto work = [] {
    Progress progress("work");
    progress.update(1, 2, -1);
  };
  EXPECT_EQ(in_a_file(work), "");
  set_level(Level::kQuiet);
  EXPECT_EQ(on_a_terminal(work), "");
}

TEST_F(Log, ProgressLinesOfWordsFitATerminalToo) {
  EXPECT_EQ(progress_line("best: 174.2 ms, gap 8.8 %"), "best: 174.2 ms, gap 8.8 %");
  EXPECT_EQ(progress_line(std::string(200, 'x')).size(), 79u);
  const auto work = [] {
    Progress progress("a search");
    progress.show("best: 174.2 ms, gap 8.8 %");
  };
  EXPECT_NE(on_a_terminal(work).find("best: 174.2 ms, gap 8.8 %"), std::string::npos);
}

}  // namespace
}  // namespace hios::log
