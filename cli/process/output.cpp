#include "cli/process/output.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/process/stop_request.h"
#include "hios/base/log.h"

namespace hios::cli {

void show(const std::string& text) {
  if (log::level() != log::Level::kQuiet) std::fputs(printable_lines(text).c_str(), stdout);
}

void finish_output() {
  if (StopRequest::signal() == SIGHUP) return;  // the terminal is gone
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw RunError(std::string("standard output: ") + std::strerror(errno) +
                 "; files that were asked for are written");
}

}  // namespace hios::cli
