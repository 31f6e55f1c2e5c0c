// Standard input and output as files.
#include "hios/base/files/streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "hios/base/error.h"
#include "hios/base/files/descriptor.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

/// A pipe into which the text is written by a thread.
class WrittenPipe {
 public:
  explicit WrittenPipe(std::string text) : WrittenPipe(std::move(text), ends()) {}
  ~WrittenPipe() { writer_.join(); }
  int read_end() const { return read_.get(); }

 private:
  static std::array<int, 2> ends() {
    std::array<int, 2> made{};
    EXPECT_EQ(pipe2(made.data(), O_CLOEXEC), 0);
    EXPECT_EQ(fcntl(made[0], F_SETFL, O_NONBLOCK), 0) << "as another program may leave it";
    return made;
  }
  WrittenPipe(std::string text, std::array<int, 2> ends)
      : read_(ends[0]), writer_([text = std::move(text), end = Descriptor(ends[1])]() mutable {
          for (std::size_t at = 0; at < text.size();) {
            const ssize_t count = ::write(end.get(), text.data() + at, text.size() - at);
            if (count <= 0) return;
            at += static_cast<std::size_t>(count);
          }
        }) {}

  Descriptor read_;
  std::thread writer_;
};

TEST(Streams, AreReadToTheirEnd) {
  const std::string text(300'000, 'x');  // more than a pipe holds
  const WrittenPipe pipe(text);
  EXPECT_EQ(read_to_end(pipe.read_end(), "pipe", {}), text);
}

TEST(Streams, AreReadNoFurtherThanTheLimit) {
  const WrittenPipe pipe(std::string(40'000, 'x'));
  try {
    read_to_end(pipe.read_end(), "pipe", {.max_bytes = 1000});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("pipe: "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("more than the 1000 that are read"), std::string::npos)
        << error.what();
  }
}

TEST(Streams, TheTextOfStandardInputIsKept) {
  set_standard_input("from rank 0");
  EXPECT_EQ(standard_input({}), "from rank 0");
  EXPECT_EQ(read_text(kStandardInput, {}), "from rank 0") << "as often as it is asked for";
  EXPECT_THROW(read_text(kStandardInput, {.max_bytes = 4}), InputError);
  set_standard_input("");
  EXPECT_THROW(standard_input({}), InputError) << "nothing came through the pipe";
  EXPECT_THROW(read_text("./standard input", {}), InputError) << "no such file";
}

TEST(Streams, StandardOutputCanAlwaysBeWritten) {
  check_writable(kStandardOutput, Existing::kRefuse);
  testing::internal::CaptureStdout();
  write_text(kStandardOutput, "{\n}\n", Existing::kRefuse);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "{\n}\n");
}

}  // namespace
}  // namespace hios
