#include "cli/process/output.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/process/stop_request.h"
#include "cli/process/terminal.h"
#include "hios/base/log.h"

namespace hios::cli {
namespace {

bool on_standard_error = false;

FILE* shown_to() { return on_standard_error ? stderr : stdout; }

}  // namespace

void show(const std::string& text) {
  if (log::level() != log::Level::kQuiet) std::fputs(printable_lines(text).c_str(), shown_to());
}

void show_on_standard_error(bool on) { on_standard_error = on; }

std::size_t line_width() { return columns_of_stream(fileno(shown_to())); }

void finish_output() {
  if (StopRequest::signal() == SIGHUP) return;  // the terminal is gone
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw RunError(std::string("standard output: ") + std::strerror(errno) +
                 "; files that were asked for are written");
}

}  // namespace hios::cli
