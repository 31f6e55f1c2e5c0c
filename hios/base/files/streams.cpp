#include "hios/base/files/streams.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "hios/base/error.h"
#include "hios/base/files/output_file.h"
#include "hios/base/need.h"

// The text of standard input is kept for the process, as the stream itself is the process's: a
// program that reads its graph for several numbers of devices reads one stream. Tests:
// tests/hios/base/files/streams_test.cpp; tests/cli/programs/plans/pipes_test.cpp.
namespace hios {
namespace {

namespace fs = std::filesystem;

std::optional<std::string>& text_of_standard_input() {
  static std::optional<std::string> text;
  return text;
}

/// Waits for a stream that another process has made non-blocking.
void await_bytes(int descriptor) {
  pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
  ::poll(&waited, 1, -1);
}

}  // namespace

bool is_standard_input(const fs::path& file) { return file.native() == kStandardInput; }
bool is_standard_output(const fs::path& file) { return file.native() == kStandardOutput; }

void refuse_too_large(const fs::path& file, Bytes size, const ReadLimits& limits) {
  if (size <= limits.max_bytes) return;
  throw InputError(shown(file) + ": " + std::to_string(size) + " bytes, more than the " +
                       std::to_string(limits.max_bytes) + " that are read",
                   need::LargerInput{});
}

std::string read_to_end(int descriptor, const fs::path& file, const ReadLimits& limits,
                        Bytes expected) {
  std::string text;
  text.reserve(expected);
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      await_bytes(descriptor);
      continue;
    }
    if (count < 0) throw InputError(shown(file) + ": cannot be read: " + system_error());
    if (count == 0) return text;
    text.append(block, static_cast<std::size_t>(count));
    refuse_too_large(file, text.size(), limits);
  }
}

const std::string& standard_input(const ReadLimits& limits) {
  std::optional<std::string>& text = text_of_standard_input();
  if (!text) text = read_to_end(STDIN_FILENO, kStandardInput, limits);
  refuse_too_large(kStandardInput, text->size(), limits);
  if (text->empty()) {
    throw InputError(std::string(kStandardInput) +
                     ": is empty; the program before it in the pipe wrote nothing");
  }
  return *text;
}

void set_standard_input(std::string text) { text_of_standard_input() = std::move(text); }

void write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  throw RunError(std::string(kStandardOutput) + ": cannot be written: " + system_error());
}

}  // namespace hios
